/** Reads the program of a regular expression that re2js parsed and compiled. */
import { RE2JS } from 're2js';

/** Kinds of characters that assertions between two characters distinguish. */
export const kinds = { edge: 0, newline: 1, word: 2, other: 3 } as const;

/** A program as numbered positions, from 0: the places that consume one character. */
export interface RegexProgram {
  readonly positions: number;
  /** Bounds of the character classes: class i is from `bounds[i - 1]` to below `bounds[i]`. */
  readonly bounds: Int32Array;
  /** Whether a position consumes a code point. */
  consumes(position: number, codePoint: number): boolean;
  /** The positions reachable after `position` consumed a character (undefined: from the start), at a place with these flags. */
  reach(position: number | undefined, flags: number): Reach;
  /** The flags that `reach` depends on. */
  readonly asserts: number;
  /** Whether a match can begin after the first character. */
  readonly floating: boolean;
  /** The literal text that every match begins with; the whole match when `isLiteral`. */
  readonly prefix: string;
  readonly isLiteral: boolean;
}

export interface Reach {
  readonly positions: readonly number[];
  readonly matched: boolean;
}

interface Instruction {
  readonly op: number;
  readonly out: number;
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  matchRune(codePoint: number): boolean;
}

// The operations of re2js 2.10.0 and Go's regexp/syntax.
const op = {
  alt: 1,
  altMatch: 2,
  capture: 3,
  emptyWidth: 4,
  match: 6,
  nop: 7,
  firstRune: 8,
  lastRune: 11,
} as const;
/** Assertions about a place between two characters. */
export const empty = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;
const foldCaseFlag = 1;

/** @throws the error of re2js for an invalid pattern. */
export function readProgram(pattern: string): RegexProgram {
  const { prog, dfa } = RE2JS.compile(pattern).re2();
  const instructions: readonly Instruction[] = prog.inst;
  const flow = new Flow(instructions, prog.start);
  const afterStart = flow.reach(undefined, ~empty.beginText);
  return {
    positions: flow.positions,
    bounds: Int32Array.from(dfa.classBounds),
    consumes: (position, codePoint) =>
      (instructions[flow.instructionAt(position)] as Instruction).matchRune(codePoint),
    reach: reachIn(flow),
    asserts: instructions.reduce(
      (flags, { op: operation, arg }) => (operation === op.emptyWidth ? flags | arg : flags),
      0,
    ),
    floating: afterStart.matched || afterStart.positions.length > 0,
    ...literalStart(instructions, prog.start),
  };
}

/** A function of its own, so that its closure does not keep re2js's objects, which are fifty times as large. */
function reachIn(flow: Flow): RegexProgram['reach'] {
  return (position, flags) => flow.reach(position, flags);
}

const isRune = (operation: number) => op.firstRune <= operation && operation <= op.lastRune;
const isBranch = (operation: number) => operation === op.alt || operation === op.altMatch;
const isPassed = (operation: number) =>
  operation === op.nop || operation === op.capture || operation === op.emptyWidth;

/** The control flow of a program. */
class Flow {
  readonly positions: number;
  readonly #start: number;
  readonly #operations: Uint8Array;
  readonly #outs: Int32Array;
  readonly #args: Int32Array;
  /** The instructions that consume a character, in program order, and the inverse mapping, -1 for others. */
  readonly #instructions: Int32Array;
  readonly #positionAt: Int32Array;

  constructor(instructions: readonly Instruction[], start: number) {
    this.#start = start;
    this.#operations = Uint8Array.from(instructions, (instruction) => instruction.op);
    this.#outs = Int32Array.from(instructions, ({ out }) => out);
    this.#args = Int32Array.from(instructions, ({ arg }) => arg);
    const reachable = this.#walk(
      [start],
      () => true,
      (pc) => [this.#outs[pc] as number],
    );
    this.#instructions = Int32Array.from(
      reachable.filter((pc) => isRune(this.#operations[pc] as number)),
    ).sort();
    this.positions = this.#instructions.length;
    this.#positionAt = new Int32Array(instructions.length).fill(-1);
    for (const [position, pc] of this.#instructions.entries()) this.#positionAt[pc] = position;
  }

  instructionAt(position: number): number {
    return this.#instructions[position] as number;
  }

  reach(position: number | undefined, flags: number): Reach {
    const from = position === undefined ? this.#start : (this.#outs[this.instructionAt(position)] as number);
    const met = this.#walk(
      [from],
      (pc) => ((this.#args[pc] as number) & ~flags) === 0,
      () => [],
    );
    return {
      positions: met.map((pc) => this.#positionAt[pc] as number).filter((at) => at >= 0),
      matched: met.some((pc) => this.#operations[pc] === op.match),
    };
  }

  /** Visits every reachable instruction. */
  #walk(
    waiting: number[],
    holds: (assertion: number) => boolean,
    afterRune: (pc: number) => number[],
  ): number[] {
    const met = new Set<number>();
    for (let pc = waiting.pop(); pc !== undefined; pc = waiting.pop()) {
      if (met.has(pc)) continue;
      met.add(pc);
      const operation = this.#operations[pc] as number;
      if (isBranch(operation)) waiting.push(this.#outs[pc] as number, this.#args[pc] as number);
      else if (isRune(operation)) waiting.push(...afterRune(pc));
      else if (isPassed(operation) && (operation !== op.emptyWidth || holds(pc)))
        waiting.push(this.#outs[pc] as number);
    }
    return [...met];
  }
}

/** The flags that hold between characters of these kinds. */
export function flagsBetween(before: number, after: number): number {
  let flags = (before === kinds.word) === (after === kinds.word) ? empty.noWordBoundary : empty.wordBoundary;
  if (before === kinds.edge) flags |= empty.beginText | empty.beginLine;
  if (before === kinds.newline) flags |= empty.beginLine;
  if (after === kinds.edge) flags |= empty.endText | empty.endLine;
  if (after === kinds.newline) flags |= empty.endLine;
  return flags;
}

/** Kind of a code point, `undefined` at either end of the text. */
export function kindOf(codePoint: number | undefined): number {
  if (codePoint === undefined) return kinds.edge;
  if (codePoint === 0x0a) return kinds.newline;
  const isWord =
    (codePoint >= 0x30 && codePoint <= 0x39) ||
    (codePoint >= 0x41 && codePoint <= 0x5a) ||
    codePoint === 0x5f ||
    (codePoint >= 0x61 && codePoint <= 0x7a);
  return isWord ? kinds.word : kinds.other;
}

/** Follows the program as long as there is only one path and it consumes a fixed character. */
function literalStart(
  instructions: readonly Instruction[],
  start: number,
): { prefix: string; isLiteral: boolean } {
  let prefix = '';
  let asserts = false;
  let instruction = instructions[start] as Instruction;
  for (;;) {
    if (instruction.op === op.emptyWidth) asserts = true;
    else if (isRune(instruction.op)) {
      const [rune = 0] = Array.from(instruction.runes);
      const isOne = instruction.runes.length === 1 && (instruction.arg & foldCaseFlag) === 0;
      if (!isOne || (rune >= 0xd800 && rune <= 0xdfff)) return { prefix, isLiteral: false };
      prefix += String.fromCodePoint(rune);
    } else if (!isPassed(instruction.op)) {
      return { prefix, isLiteral: instruction.op === op.match && !asserts };
    }
    instruction = instructions[instruction.out] as Instruction;
  }
}
