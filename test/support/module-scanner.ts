/** Finds what a TypeScript module imports, without a parser: TypeScript 7 offers none to JavaScript. */

export interface ImportFound {
  /** As written; undefined when it is computed. */
  readonly specifier: string | undefined;
  /** The names taken from it; `*` for the whole module or an unnamed one. */
  readonly names: readonly string[];
  readonly line: number;
}

export interface ModuleScan {
  readonly imports: readonly ImportFound[];
  /** The source with comments, and the contents of strings and regular expressions, blanked out. */
  readonly code: string;
}

// In masked code a string literal is its number in double quotes.
const forms: readonly RegExp[] = [
  /\b(?:import|export)\b(?<clause>[\w\s{},*$]*?)\bfrom\s*"(?<string>\d+)"/g,
  /\bexport\s*(?<clause>\*)\s*from\s*"(?<string>\d+)"/g,
  /\b(?:import|export)\s*(?<clause>\{[\w\s,$]*\})\s*from\s*"(?<string>\d+)"/g,
  /\bimport\s*"(?<string>\d+)"/g,
  /(?<![.\w])(?:import|require|import\.meta\.resolve|process\.getBuiltinModule)\s*\(\s*(?:"(?<string>\d+)"\s*[,)]|(?<computed>))/g,
  /\bnew\s+URL\s*\(\s*"(?<string>\d+)"\s*,\s*import\.meta\.url\b/g,
];

/** Static and dynamic imports, `export … from`, `require`, and files named by `new URL(…, import.meta.url)`. */
export function scanModule(source: string): ModuleScan {
  const { code, strings } = maskText(source);
  const found = new Map<number, ImportFound>();
  for (const form of forms) {
    for (const match of code.matchAll(form)) {
      const { clause = '', string } = match.groups ?? {};
      const specifier = string === undefined ? undefined : strings[Number(string)];
      const line = code.slice(0, match.index).split('\n').length;
      if (!found.has(match.index)) found.set(match.index, { specifier, names: namesOf(clause), line });
    }
  }
  return { imports: [...found.values()].sort((a, b) => a.line - b.line), code };
}

function namesOf(clause: string): readonly string[] {
  const named = /\{([^}]*)\}/.exec(clause);
  if (!named || /[\w$]/.test(clause.slice(0, named.index).replace(/\btype\b/, ''))) return ['*'];
  return (named[1] ?? '')
    .split(',')
    .map(
      (part) =>
        part
          .trim()
          .replace(/^type\s+/, '')
          .split(/\s+/)[0] ?? '',
    )
    .filter((name) => name !== '');
}

const skipped = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y;
const quoted = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y;
const templateText = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;
const regexLiteral = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
/** After a value a slash divides; after anything else it begins a regular expression. */
const endsValue = /(?:[\w$)\]}"`]|\+\+|--)\s*$/;
const endsKeyword = /\b(?:return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield)\s*$/;

/** Replaces strings by their numbers, and blanks comments, regular expressions and template text. */
function maskText(source: string): { code: string; strings: string[] } {
  const strings: string[] = [];
  let code = '';
  let at = 0;
  /** For each open `${`, how many braces are open inside it. */
  const templates: number[] = [];

  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const text = pattern.exec(source)?.[0];
    if (text !== undefined) at += text.length;
    return text;
  };
  const blank = (text: string) => text.replace(/[^\n]/g, ' ');
  const template = () => {
    code += blank(take(templateText) ?? '');
    if (source.startsWith('${', at)) {
      templates.push(0);
      code += ' (';
      at += 2;
    } else {
      code += '`';
      at += 1;
    }
  };

  while (at < source.length) {
    const comment = take(skipped);
    if (comment !== undefined) {
      code += blank(comment);
      continue;
    }
    const string = take(quoted);
    if (string !== undefined) {
      code += `"${strings.push(string.slice(1, -1)) - 1}"`;
      continue;
    }
    const char = source[at] ?? '';
    if (char === '/' && (!endsValue.test(code.slice(-80)) || endsKeyword.test(code.slice(-80)))) {
      const regex = take(regexLiteral);
      if (regex !== undefined) {
        code += `"${strings.push('') - 1}"`;
        continue;
      }
    }
    at += 1;
    const depth = templates.at(-1);
    if (char === '`') {
      code += '`';
      template();
    } else if (char === '}' && depth === 0) {
      templates.pop();
      code += ')';
      template();
    } else {
      if (depth !== undefined && char === '{') templates[templates.length - 1] = depth + 1;
      if (depth !== undefined && char === '}') templates[templates.length - 1] = depth - 1;
      code += char;
    }
  }
  return { code, strings };
}
