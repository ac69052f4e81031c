/** Reads a configuration file: YAML, checked against its schema, with the place of each mistake. */
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import { Configuration, sections } from '#contract/configuration.ts';
import { Failure } from '../failure.ts';
import { visibleText } from '../terminal-text.ts';
import { type Path, type Problem, problemsOf } from './check.ts';

/** 20,000 usual rules take less. */
const maxBytes = 8 * 1024 * 1024;
const maxProblems = 20;
/** Anchors and aliases of a file, and what one anchor may stand for in all: more is an attack on time and memory. */
const maxAliases = 10_000;

export interface ConfigurationFile {
  readonly configuration: Configuration;
  /** An error at a place of the file, with its line and column. */
  problem(path: Path, message: string): Failure;
}

/** The whole text of the file, or of stdin for `-`. @throws Failure when it cannot be read, or is too large. */
export async function readFileText(path: string, stdin: Readable): Promise<string> {
  const source: Readable = path === '-' ? stdin : createReadStream(path);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      const bytes = Buffer.from(chunk as Buffer | string);
      size += bytes.length;
      if (size > maxBytes)
        throw new Failure(`${path} is too large: at most ${maxBytes / 1024 / 1024} MiB`, 2);
      chunks.push(bytes);
    }
  } catch (error) {
    if (error instanceof Failure || !(error instanceof Error)) throw error;
    throw new Failure(`cannot read ${path} (${(error as NodeJS.ErrnoException).code ?? error.message})`, 2);
  }
  return decoded(Buffer.concat(chunks), path);
}

function decoded(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Failure(`${path} is not UTF-8 text`, 2);
  }
}

/** @throws Failure with one line for each mistake: file, line, column, field, and what would be right. */
export async function parseConfiguration(text: string, name: string): Promise<ConfigurationFile> {
  const lines = new LineCounter();
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const { document, data } = parsed(text, lines, at, name);
  const place = (path: Path, of?: 'field') => at(offsetOf(document, path, of));
  const problems = problemsOf(Configuration, data, maxProblems);
  if (problems.length === 0) problems.push(...repeatedNames(data as Configuration, place));
  if (problems.length > 0) {
    const found = await Promise.all(
      problems.map(
        async (problem) => `${place(problem.path, problem.known && 'field')}: ${await sentenceOf(problem)}`,
      ),
    );
    throw new Failure(found.map(visibleText).join('\n'), 2);
  }
  return {
    configuration: data as Configuration,
    problem: (path, message) => new Failure(visibleText(`${place(path)}: ${nameOf(path)}${message}`), 2),
  };
}

function parsed(text: string, lineCounter: LineCounter, at: (offset: number) => string, name: string) {
  try {
    const options = { lineCounter, prettyErrors: false, stringKeys: true, merge: true } as const;
    const document = parseDocument(text, options);
    const wrong = document.errors.map(({ pos, message }) => `${at(pos[0])}: ${visibleText(message)}`);
    if (wrong.length > 0) throw new Failure(wrong.slice(0, maxProblems).join('\n'), 2);
    refuseManyAliases(document, name);
    return { document, data: document.toJS({ maxAliasCount: maxAliases }) as unknown };
  } catch (error) {
    if (error instanceof ReferenceError) throw new Failure(`${name}: ${error.message}`, 2);
    if (error instanceof RangeError) throw new Failure(`${name}: is nested too deeply`, 2);
    throw error;
  }
}

function refuseManyAliases(document: Document.Parsed, name: string): void {
  let count = 0;
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node) || (node as { anchor?: string }).anchor !== undefined) count += 1;
      return count > maxAliases ? visit.BREAK : undefined;
    },
  });
  if (count > maxAliases) throw new Failure(`${name} has more than ${maxAliases} anchors and aliases`, 2);
}

/** Entries are matched by name, so a name must not occur twice. */
function repeatedNames(configuration: Configuration, place: (path: Path) => string): Problem[] {
  return sections.flatMap((section) => {
    const first = new Map<string, number>();
    return (configuration[section] ?? []).flatMap((entry, i) => {
      const name = entry.name.trim();
      const known = first.get(name);
      if (known === undefined) first.set(name, i);
      return known === undefined
        ? []
        : [
            {
              path: [section, i, 'name'],
              message: `"${name}" is the name of another one at ${place([section, known, 'name'])}`,
            },
          ];
    });
  });
}

async function sentenceOf({ path, message, known }: Problem): Promise<string> {
  const where = nameOf(known ? path.slice(0, -1) : path);
  if (!known) return `${where}${message}`;
  // Imported only after a mistake, because it loads the server.
  const { offerNearest } = await import('#app.ts');
  return `${where}${message}${offerNearest(String(path.at(-1)), known).clause}`;
}

/** `rules[3].when.host: `, counted as lists in JSON are. */
function nameOf(path: Path): string {
  const text = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return text === '' ? '' : `${text.replace(/^\./, '')}: `;
}

/** Where the value at `path` begins (or the name of its field), or the nearest thing around it that the file has. */
function offsetOf(document: Document.Parsed, path: Path, of?: 'field'): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [i, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => (isScalar(key) ? key.value === step : key === step));
      const isField = of === 'field' && i === path.length - 1;
      offset = startOf(isField ? pair?.key : (pair?.value ?? pair?.key)) ?? offset;
      node = pair?.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = startOf(node) ?? offset;
    } else break;
  }
  return offset;
}

const startOf = (node: unknown): number | undefined => (node as Node | null | undefined)?.range?.[0];

/** The place that the server names in its error, as a path of the file: /rules/3/when/ip/0. */
export function pathOfPointer(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step.replaceAll('~1', '/').replaceAll('~0', '~')));
}
