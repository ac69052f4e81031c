import { badField } from '../errors.ts';
import { foldCase } from '../fold-case.ts';
import { compileRegex, maxRegexPositions } from './regex/regex.ts';

export interface Glob {
  /** Whether it matches the whole of a text; the text must be folded (`foldCase`). */
  testFolded(folded: string): boolean;
  /** Folded. Every matching text starts with `prefix`, ends with `suffix` and contains `literal`. */
  readonly prefix: string;
  readonly suffix: string;
  readonly literal: string;
  /** It has no wildcards: it matches only `prefix`. */
  readonly isExact: boolean;
}

/**
 * Compiles a glob: `*` is any run of characters, `?` is one character, everything else is itself, without regard to
 * case. Testing takes time in proportion to the text.
 *
 * @param path The pattern's path in the rule, as in when.host[0]; error messages begin with it.
 * @throws AppError `bad-request` when a pattern with `?` is too long.
 */
export function compileGlob(pattern: string, path: string): Glob {
  const folded = foldCase(pattern).replace(/\*+/g, '*');
  const literals = folded.split(/[*?]/);
  const prefix = literals[0] as string;
  const suffix = literals.at(-1) as string;
  const literal = literals.reduce((longest, text) => (text.length > longest.length ? text : longest), '');
  const isExact = literals.length === 1;
  return {
    prefix,
    suffix,
    literal,
    isExact,
    testFolded: isExact ? (text) => text === prefix : tester(folded, path),
  };
}

function tester(folded: string, path: string): (text: string) => boolean {
  if (!folded.includes('?')) return inOrder(folded.split('*'));
  if (folded.length >= maxRegexPositions) {
    throw badField(
      path,
      `"${folded}" is too long: a pattern with "?" has at most ${maxRegexPositions - 1} characters`,
    );
  }
  const parts = Array.from(folded, (char) => ({ '*': '.*', '?': '.' })[char] ?? quote(char));
  const regex = compileRegex(`(?s)\\A${parts.join('')}\\z`, path);
  return (text) => regex.test(text);
}

const quote = (char: string) => (/[\\^$.|+()[\]{}]/.test(char) ? `\\${char}` : char);

/** The first part starts the text, the last ends it, and the others are between them in order. */
function inOrder(parts: readonly string[]): (text: string) => boolean {
  const first = parts[0] as string;
  const last = parts.at(-1) as string;
  const middle = parts.slice(1, -1);
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
      return false;
    const end = text.length - last.length;
    let at = first.length;
    for (const part of middle) {
      at = text.indexOf(part, at);
      if (at < 0 || at + part.length > end) return false;
      at += part.length;
    }
    return true;
  };
}
