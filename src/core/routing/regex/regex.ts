/**
 * Regular expressions for text that anyone may send, by patterns that anyone may write.
 *
 * The engine keeps every state the program can be in as one bit of a few words, so each character costs the same small
 * number of operations whatever the pattern and the text are: no backtracking, no cache of states that grows or has to
 * be thrown away. re2js, which parses and compiles the patterns, guarantees linear time too, but its slowest patterns
 * take a quarter of a second for the longest message; bench/routing.ts measures them.
 */
import { LRUCache } from 'lru-cache';
import { badField } from '../../errors.ts';
import { kinds, type RegexProgram, readProgram } from './regex-program.ts';
import { type Positions, RegexSteps } from './regex-steps.ts';

/** With 128 the slowest pattern takes 2 to 4 ms for 16,384 characters (bench/routing.ts); what people write has a few dozen. */
export const maxRegexPositions = 128;
const maxPatternLength = 1000;

export interface Regex {
  /** Whether it matches anywhere in the text. */
  test(text: string): boolean;
  /** A text that everything it matches contains, '' when there is none. */
  readonly literal: string;
  /** The highest cost of a character of text, in program words; see `regexWorkPerNotification`. */
  readonly workPerChar: number;
  /** The cost of compiling and keeping it; see `maxRegexWeight`. */
  readonly weight: number;
}

/** The weight of a pattern in addition to its positions. */
const weightOfAny = 8;
/** The cost of searching a plain text, relative to a step of a program. */
const literalWork = 1 / 16;

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

/**
 * The most weight of all regular expressions of a tenant's rules: about 2,700 usual patterns. The slowest take 60 µs and a
 * kilobyte for each position, so the worst case is six seconds, in slices, and 100 MB.
 */
export const maxRegexWeight = 100_000;

/** A cache of compiled patterns, as many as one tenant may have: when rules change, most patterns stay the same. */
const compiled = new LRUCache<string, Regex>({
  maxSize: maxRegexWeight,
  sizeCalculation: ({ weight }) => weight,
});

function makeRegex(pattern: string, path: string): Regex {
  if (pattern.length > maxPatternLength)
    throw badField(path, `a regular expression has at most ${maxPatternLength} characters`);
  const program = parse(pattern, path);
  const { prefix } = program;
  if (!program.isLiteral && program.positions > maxRegexPositions) {
    throw badField(
      path,
      `"${pattern}" is too large: it comes to ${program.positions} characters with its repetitions written out, the most is ${maxRegexPositions}; write a list of shorter ones`,
    );
  }
  const weight = program.positions + weightOfAny;
  if (program.isLiteral)
    return { literal: prefix, test: (text) => text.includes(prefix), workPerChar: literalWork, weight };
  const runner = new Runner(program);
  return {
    literal: prefix,
    test: (text) => runner.test(text),
    workPerChar: Math.ceil(program.positions / 32),
    weight,
  };
}

function parse(pattern: string, path: string): RegexProgram {
  try {
    return readProgram(pattern);
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

const unknown = 0;
const matched = -1;
const failed = -2;
/** The limits of the table: at most about 60 KiB for each pattern, and a millisecond to fill it. */
const maxTransitions = 8192;
const maxStates = 512;
const firstStates = 8;

/**
 * Runs a program over a text, as a lazy DFA. Sets of positions are cached as states with their transitions, so usual text costs
 * one look-up for each character. Once the table is full, unknown transitions are computed step by step.
 */
class Runner {
  readonly #steps: RegexSteps;
  readonly #floating: boolean;
  /** The cached sets in a row, and for each the kind of the character before it. */
  #sets: Int32Array;
  readonly #befores: number[] = [];
  readonly #ids = new Map<string, number>();
  /** By state and class: a state (they start at 1), or one of the three above. */
  #transitions: Int16Array;
  readonly #scratch: readonly [Positions, Positions];

  constructor(program: RegexProgram) {
    this.#steps = new RegexSteps(program);
    this.#floating = program.floating;
    const { words, classes } = this.#steps;
    this.#sets = new Int32Array(firstStates * words);
    this.#transitions = new Int16Array(firstStates * classes);
    this.#scratch = [new Int32Array(words), new Int32Array(words)];
    this.#keep(this.#scratch[0], kinds.edge);
  }

  test(text: string): boolean {
    const steps = this.#steps;
    let state = 1;
    for (let i = 0; i < text.length; ) {
      const codePoint = text.codePointAt(i) as number;
      const charClass = steps.classOf(codePoint);
      const at = (state - 1) * steps.classes + charClass;
      let to = this.#transitions[at] as number;
      if (to === unknown) {
        to = this.#learn(state, charClass);
        if (to === unknown) return this.#testUncached(text, i, state);
        this.#transitions[at] = to;
      }
      if (to < 0) return to === matched;
      state = to;
      i += codePoint > 0xffff ? 2 : 1;
    }
    return steps.isMatch(this.#setOf(state), this.#befores[state - 1] as number, kinds.edge);
  }

  #setOf(state: number): Positions {
    const { words } = this.#steps;
    return this.#sets.subarray((state - 1) * words, state * words);
  }

  #learn(state: number, charClass: number): number {
    const steps = this.#steps;
    const consumed = this.#setOf(state);
    const before = this.#befores[state - 1] as number;
    const kind = steps.kindOfClass[charClass] as number;
    if (steps.isMatch(consumed, before, kind)) return matched;
    const [next] = this.#scratch;
    steps.step(consumed, before, charClass, next);
    if (!this.#floating && isNone(next)) return failed;
    return this.#keep(next, kind);
  }

  /** The state of a set, cached if there is room; otherwise `unknown`. */
  #keep(consumed: Positions, before: number): number {
    const name = `${before} ${consumed.join()}`;
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const { classes, words } = this.#steps;
    const kept = this.#befores.length;
    if (kept === maxStates || (kept > 0 && (kept + 1) * classes > maxTransitions)) return unknown;
    if ((kept + 1) * words > this.#sets.length) {
      this.#sets = doubled(this.#sets, new Int32Array(2 * this.#sets.length));
      this.#transitions = doubled(this.#transitions, new Int16Array(2 * this.#transitions.length));
    }
    this.#sets.set(consumed, kept * words);
    this.#befores.push(before);
    this.#ids.set(name, kept + 1);
    return kept + 1;
  }

  /** Tests the rest of the text without caching new states. */
  #testUncached(text: string, from: number, state: number): boolean {
    const steps = this.#steps;
    let [consumed, next] = this.#scratch;
    let before = this.#befores[state - 1] as number;
    consumed.set(this.#setOf(state));
    for (let i = from; i < text.length; ) {
      const codePoint = text.codePointAt(i) as number;
      const charClass = steps.classOf(codePoint);
      const kind = steps.kindOfClass[charClass] as number;
      if (steps.isMatch(consumed, before, kind)) return true;
      steps.step(consumed, before, charClass, next);
      [consumed, next] = [next, consumed];
      if (!this.#floating && isNone(consumed)) return false;
      before = kind;
      i += codePoint > 0xffff ? 2 : 1;
    }
    return steps.isMatch(consumed, before, kinds.edge);
  }
}

function doubled<T extends Int16Array | Int32Array>(from: T, into: T): T {
  into.set(from);
  return into;
}

function isNone(positions: Positions): boolean {
  for (let i = 0; i < positions.length; i++) if (positions[i] !== 0) return false;
  return true;
}
