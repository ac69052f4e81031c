/** What a regular expression compiles to: re2js parses and compiles it, and this reads the program it made. */
import { RE2JS } from 're2js';

/** Characters the program tells apart at a place between two of them. */
export const kinds = { edge: 0, newline: 1, word: 2, other: 3 } as const;

/** A program over positions: the places in it that consume one character, numbered from 0. */
export interface RegexProgram {
  readonly positions: number;
  /** Characters are told apart by class: members of class i lie between `bounds[i - 1]` and below `bounds[i]`. */
  readonly bounds: readonly number[];
  /** Whether a position consumes a code point. */
  consumes(position: number, codePoint: number): boolean;
  /**
   * Where the program can stand, having consumed at `position` (undefined: before the start), at a place between
   * characters of the kinds `before` and `after`.
   */
  reach(position: number | undefined, before: number, after: number): Reach;
  /** Whether kinds make no difference to `reach`. */
  readonly contextFree: boolean;
  /** Whether a match can begin after the first character. */
  readonly floating: boolean;
  /** Characters that every match begins with, in a row; the whole match when `isLiteral`. */
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
const empty = {
  beginLine: 1,
  endLine: 2,
  beginText: 4,
  endText: 8,
  wordBoundary: 16,
  noWordBoundary: 32,
} as const;
const foldCaseFlag = 1;

/** @throws what re2js throws for a pattern it does not know. */
export function readProgram(pattern: string): RegexProgram {
  const { prog, dfa } = RE2JS.compile(pattern).re2();
  const instructions: readonly Instruction[] = prog.inst;
  const consuming = reachableRunes(instructions, prog.start);
  const positionOf = new Map(consuming.map((pc, position) => [pc, position]));
  const instructionAt = (position: number) => instructions[consuming[position] as number] as Instruction;
  const reachFrom = (pc: number, flags: number) => close(instructions, positionOf, pc, flags);
  const afterStart = reachFrom(prog.start, ~empty.beginText);
  return {
    positions: consuming.length,
    bounds: Array.from(dfa.classBounds),
    consumes: (position, codePoint) => instructionAt(position).matchRune(codePoint),
    reach: (position, before, after) =>
      reachFrom(
        position === undefined ? prog.start : instructionAt(position).out,
        flagsBetween(before, after),
      ),
    contextFree: !instructions.some((instruction) => instruction.op === op.emptyWidth),
    floating: afterStart.matched || afterStart.positions.length > 0,
    ...literalStart(instructions, prog.start),
  };
}

const isRune = (instruction: Instruction) => op.firstRune <= instruction.op && instruction.op <= op.lastRune;

/** Every instruction that consumes a character and can be come to, in the order of the program. */
function reachableRunes(instructions: readonly Instruction[], start: number): readonly number[] {
  const seen = new Set<number>();
  const waiting = [start];
  for (let pc = waiting.pop(); pc !== undefined; pc = waiting.pop()) {
    if (seen.has(pc)) continue;
    seen.add(pc);
    const instruction = instructions[pc] as Instruction;
    if (instruction.op === op.alt || instruction.op === op.altMatch)
      waiting.push(instruction.out, instruction.arg);
    else if (isRune(instruction) || isPassed(instruction)) waiting.push(instruction.out);
  }
  return [...seen].filter((pc) => isRune(instructions[pc] as Instruction)).sort((a, b) => a - b);
}

function isPassed(instruction: Instruction): boolean {
  return instruction.op === op.nop || instruction.op === op.capture || instruction.op === op.emptyWidth;
}

function close(
  instructions: readonly Instruction[],
  positionOf: ReadonlyMap<number, number>,
  start: number,
  flags: number,
): Reach {
  const seen = new Set<number>();
  const positions: number[] = [];
  let matched = false;
  const waiting = [start];
  for (let pc = waiting.pop(); pc !== undefined; pc = waiting.pop()) {
    if (seen.has(pc)) continue;
    seen.add(pc);
    const instruction = instructions[pc] as Instruction;
    const position = positionOf.get(pc);
    if (position !== undefined) positions.push(position);
    else if (instruction.op === op.match) matched = true;
    else if (instruction.op === op.alt || instruction.op === op.altMatch)
      waiting.push(instruction.out, instruction.arg);
    else if (isPassed(instruction) && (instruction.op !== op.emptyWidth || (instruction.arg & ~flags) === 0))
      waiting.push(instruction.out);
  }
  return { positions, matched };
}

function flagsBetween(before: number, after: number): number {
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

/** Follows the program as long as there is one way and it consumes one certain character. */
function literalStart(
  instructions: readonly Instruction[],
  start: number,
): { prefix: string; isLiteral: boolean } {
  let prefix = '';
  let asserts = false;
  let instruction = instructions[start] as Instruction;
  for (;;) {
    if (instruction.op === op.emptyWidth) asserts = true;
    else if (isRune(instruction)) {
      const [rune = 0] = Array.from(instruction.runes);
      const isOne = instruction.runes.length === 1 && (instruction.arg & foldCaseFlag) === 0;
      if (!isOne || (rune >= 0xd800 && rune <= 0xdfff)) return { prefix, isLiteral: false };
      prefix += String.fromCodePoint(rune);
    } else if (!isPassed(instruction)) {
      return { prefix, isLiteral: instruction.op === op.match && !asserts };
    }
    instruction = instructions[instruction.out] as Instruction;
  }
}
