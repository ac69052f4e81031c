/**
 * Regular expressions for text that anyone may send, by patterns that anyone may write.
 *
 * re2js takes time in proportion to the size of the pattern and to the length of the text, but a match cannot be
 * interrupted. So its work is bounded before it begins: a pattern has a size, and the larger it is, the fewer characters
 * of a text it reads.
 */
import { LRUCache } from 'lru-cache';
import { RE2JS, RE2Set } from 're2js';
import { badField } from '../../errors.ts';

/** The most instructions of a pattern: about as many as its characters, with repetitions written out. A title is always read whole. */
export const maxRegexSize = 256;
const maxPatternLength = 1000;
/** The most work of one match, in characters times instructions. The slowest take 60 ns each, so 4 ms (bench/routing.ts). */
const workPerMatch = 65_536;
/** The memory for the states that re2js keeps of a pattern; beyond it, re2js goes on without them. */
const cachedStateBytes = 16 * 1024;

export interface Regex {
  /** How many characters of a text it reads, from the beginning. */
  readonly maxChars: number;
  /** Whether it matches anywhere in what it reads of the text. */
  test(text: string): boolean;
  /** The work of a test, in characters times instructions; see `regexWorkPerNotification`. */
  work(text: string): number;
  /** The cost of compiling and keeping it; see `maxRegexWeight`. */
  readonly weight: number;
}

/** The weight of a pattern in addition to its instructions. */
const weightOfAny = 4;

/**
 * Compiles a pattern in RE2's syntax; it is case-sensitive without (?i).
 *
 * @param path its place in the rule, as in when.ip[0]; error messages begin with it.
 * @throws AppError `bad-request` for syntax RE2 does not have (back-references, look-around) and for patterns that are too large.
 */
export function compileRegex(pattern: string, path: string): Regex {
  const known = compiled.get(pattern);
  if (known) return known;
  const regex = makeRegex(pattern, path);
  compiled.set(pattern, regex);
  return regex;
}

/** The most weight of all regular expressions of a tenant's rules: about 2,500 usual patterns. */
export const maxRegexWeight = 100_000;

/** A cache of compiled patterns, as many as one tenant may have: when rules change, most patterns stay the same. */
const compiled = new LRUCache<string, Regex>({
  maxSize: maxRegexWeight,
  sizeCalculation: ({ weight }) => weight,
});

function makeRegex(pattern: string, path: string): Regex {
  if (pattern.length > maxPatternLength)
    throw badField(path, `a regular expression has at most ${maxPatternLength} characters`);
  const size = sizeOf(pattern, path);
  if (size > maxRegexSize) {
    throw badField(
      path,
      `"${pattern}" is too large: it comes to ${size} instructions with its repetitions written out, the most is ${maxRegexSize}; write a list of shorter ones`,
    );
  }
  const maxChars = Math.floor(workPerMatch / size);
  // A set of one, because a set has a limit for its memory.
  const set = new RE2Set(RE2Set.UNANCHORED, 0, cachedStateBytes);
  set.add(pattern);
  set.compile();
  return {
    maxChars,
    test: (text) => set.match(text.slice(0, maxChars)).length > 0,
    work: (text) => Math.min(text.length, maxChars) * size,
    weight: size + weightOfAny,
  };
}

function sizeOf(pattern: string, path: string): number {
  try {
    return RE2JS.compile(pattern).programSize();
  } catch (error) {
    const reason =
      error instanceof Error ? error.message.replace(/^error parsing regexp: /, '') : String(error);
    throw badField(path, `"${pattern}" is no regular expression of RE2: ${reason}${hint(pattern)}`);
  }
}

function hint(pattern: string): string {
  if (/\(\?<?[=!]/.test(pattern)) return '; there is no look-around, use "not" for what must be absent';
  return /\\[1-9k]/.test(pattern) ? '; there are no back-references' : '';
}
