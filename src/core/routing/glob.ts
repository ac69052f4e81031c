import { badField } from '../errors.ts';

/**
 * Case folding for rules: two texts are equal without regard to case if their folded forms are equal. Folding a part of a text
 * gives a part of its folded form, so a folded literal can be searched in folded text.
 */
export function foldCase(text: string): string {
  const lower = text.toLowerCase();
  if (isAscii(lower)) return lower;
  // One letter has a lower case of two characters, the other depends on its place in the word.
  return text.replaceAll('İ', 'i').toLowerCase().replaceAll('ς', 'σ');
}

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0x7f) return false;
  return true;
}

/** Testing a pattern with "?" takes time in proportion to its length, too: at most 4 ms for the longest message. */
const maxWithOneChar = 127;
/** How many comparisons of characters take as long as one instruction of a regular expression on one character. */
const comparisonsPerWork = 16;

export interface Glob {
  /** Whether it matches the whole of a text; the text must be folded (`foldCase`). */
  testFolded(folded: string): boolean;
  /** The work of a test, as `EvaluationContext.spend` counts it. 0 without `?`: that is as fast as `contains`. */
  work(folded: string): number;
  /** Its part in `maxRegexWeight`. */
  readonly weight: number;
  /** Folded. Every matching text starts with `prefix`, ends with `suffix` and contains `literal`. */
  readonly prefix: string;
  readonly suffix: string;
  readonly literal: string;
  /** It has no wildcards: it matches only `prefix`. */
  readonly isExact: boolean;
}

/**
 * Compiles a glob: `*` is any run of characters, `?` is one character, everything else is itself, without regard to
 * case. Testing takes time in proportion to the text, with `?` to the text times the pattern.
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
  const weight = folded.includes('?') ? Math.ceil(folded.length / comparisonsPerWork) : 0;
  return {
    work: (text) => text.length * weight,
    weight,
    prefix,
    suffix,
    literal,
    isExact,
    testFolded: isExact ? (text) => text === prefix : tester(folded, path),
  };
}

function tester(folded: string, path: string): (text: string) => boolean {
  if (!folded.includes('?')) return inOrder(folded.split('*'));
  if (folded.length > maxWithOneChar) {
    throw badField(
      path,
      `"${folded}" is too long: a pattern with "?" has at most ${maxWithOneChar} characters`,
    );
  }
  return charByChar(Array.from(folded, (char) => char.codePointAt(0) as number));
}

const anyRun = 0x2a;
const oneChar = 0x3f;

/** Compares from left to right; where that fails, the last `*` takes one more character. */
function charByChar(glob: readonly number[]): (text: string) => boolean {
  return (text) => {
    let place = 0;
    let afterRun = -1;
    let runEnd = 0;
    for (let at = 0; at < text.length || place < glob.length; ) {
      const wanted = glob[place];
      const char = text.codePointAt(at);
      if (wanted === anyRun) {
        place += 1;
        afterRun = place;
        runEnd = at;
      } else if (char !== undefined && wanted !== undefined && (wanted === char || wanted === oneChar)) {
        place += 1;
        at += widthOf(char);
      } else {
        const taken = text.codePointAt(runEnd);
        if (afterRun < 0 || taken === undefined) return false;
        runEnd += widthOf(taken);
        at = runEnd;
        place = afterRun;
      }
    }
    return true;
  };
}

const widthOf = (codePoint: number) => (codePoint > 0xffff ? 2 : 1);

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
