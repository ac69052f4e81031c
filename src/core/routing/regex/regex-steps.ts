/** Runs a regex program as a bit-parallel NFA: one bit for each position, so that one step advances all states at once. */
import { empty, flagsBetween, kindOf, kinds, type RegexProgram } from './regex-program.ts';

/** The positions that consumed the last character. */
export type Positions = Int32Array;

/** The transitions at one kind of boundary between two characters (line start, word boundary …). */
interface Boundary {
  /** For each chunk of `chunkBits` positions and each subset of the chunk: the union of the positions that follow the subset. */
  readonly follow: Int32Array;
  /** Positions after which a match is complete. */
  readonly accept: Int32Array;
  readonly start: Int32Array;
  readonly startMatches: boolean;
}

const kindCount = Object.keys(kinds).length;

export class RegexSteps {
  readonly classes: number;
  /** The kind of the characters of each class; kinds that the program does not distinguish are merged. */
  readonly kindOfClass: readonly number[];
  readonly words: number;
  /** The parts of the program that are needed later. The other parts are large and may be freed. */
  readonly #program: Pick<RegexProgram, 'positions' | 'bounds' | 'reach' | 'asserts'>;
  readonly #chunkBits: 4 | 8;
  /** Class of each run of code points between two bounds. */
  readonly #classOfRun: readonly number[];
  readonly #latin1: Uint16Array;
  /** For each class, the positions that consume it. */
  readonly #consumers: Int32Array;
  /** Cache by the kinds of the characters before and after; equal flags share one object. */
  readonly #boundaries: (Boundary | undefined)[] = [];
  readonly #boundariesByFlags = new Map<number, Boundary>();

  constructor(program: RegexProgram) {
    const { positions, bounds, reach, asserts } = program;
    this.#program = { positions, bounds, reach, asserts };
    this.words = Math.max(1, Math.ceil(program.positions / 32));
    // Chunks of 8 bits take half the steps of chunks of 4 and eight times the memory: too much for thousands of small patterns.
    this.#chunkBits = program.positions > 64 ? 8 : 4;
    const { classOfRun, consumers, kindOfClass } = mergeRuns(program, this.words);
    this.#classOfRun = classOfRun;
    this.kindOfClass = kindOfClass;
    this.classes = kindOfClass.length;
    this.#consumers = Int32Array.from(consumers.flatMap((set) => [...set]));
    this.#latin1 = Uint16Array.from({ length: 256 }, (_, codePoint) => this.#findClass(codePoint));
  }

  classOf(codePoint: number): number {
    return codePoint < 256 ? (this.#latin1[codePoint] as number) : this.#findClass(codePoint);
  }

  #findClass(codePoint: number): number {
    const { bounds } = this.#program;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((bounds[middle] as number) <= codePoint) low = middle + 1;
      else high = middle;
    }
    return this.#classOfRun[low] as number;
  }

  /** Whether a match is complete after `consumed`, at the boundary between the kinds `before` and `after`. */
  isMatch(consumed: Positions, before: number, after: number): boolean {
    const { accept, startMatches } = this.#boundary(before, after);
    if (startMatches) return true;
    for (let word = 0; word < this.words; word++) {
      if (((consumed[word] as number) & (accept[word] as number)) !== 0) return true;
    }
    return false;
  }

  /** Consumes a character of `charClass` after `consumed`. Writes the new positions to `into`, which must be another array. */
  step(consumed: Positions, before: number, charClass: number, into: Positions): void {
    const { follow, start } = this.#boundary(before, this.kindOfClass[charClass] as number);
    const words = this.words;
    const bits = this.#chunkBits;
    const mask = (1 << bits) - 1;
    into.set(start);
    for (let word = 0; word < words; word++) {
      let left = consumed[word] as number;
      for (let chunk = (word << 5) >> (bits === 4 ? 2 : 3); left !== 0; chunk++, left >>>= bits) {
        const chosen = left & mask;
        if (chosen === 0) continue;
        const from = ((chunk << bits) | chosen) * words;
        for (let i = 0; i < words; i++) into[i] = (into[i] as number) | (follow[from + i] as number);
      }
    }
    const offset = charClass * words;
    for (let i = 0; i < words; i++) into[i] = (into[i] as number) & (this.#consumers[offset + i] as number);
  }

  #boundary(before: number, after: number): Boundary {
    const index = before * kindCount + after;
    const known = this.#boundaries[index];
    if (known) return known;
    const flags = flagsBetween(before, after) & this.#program.asserts;
    const boundary = this.#boundariesByFlags.get(flags) ?? this.#createBoundary(flags);
    this.#boundariesByFlags.set(flags, boundary);
    this.#boundaries[index] = boundary;
    return boundary;
  }

  #createBoundary(flags: number): Boundary {
    const { words } = this;
    const { positions } = this.#program;
    const accept = new Int32Array(words);
    const reached: Int32Array[] = [];
    for (let position = 0; position < positions; position++) {
      const reach = this.#program.reach(position, flags);
      if (reach.matched) setBit(accept, 0, position);
      reached.push(bitsOf(reach.positions, words));
    }
    const first = this.#program.reach(undefined, flags);
    const follow = unions(reached, this.#chunkBits, words);
    return { follow, accept, start: bitsOf(first.positions, words), startMatches: first.matched };
  }
}

/**
 * For each chunk of `sets` and each subset of the chunk: the union of the subset. It is the union of the subset without its
 * lowest bit, which is computed already, and the set of that bit.
 */
function unions(sets: readonly Int32Array[], chunkBits: number, words: number): Int32Array {
  const chunks = Math.ceil(sets.length / chunkBits);
  const all = new Int32Array((chunks << chunkBits) * words);
  for (let chunk = 0; chunk < chunks; chunk++) {
    for (let chosen = 1; chosen < 1 << chunkBits; chosen++) {
      const lowest = sets[chunk * chunkBits + 31 - Math.clz32(chosen & -chosen)];
      const rest = ((chunk << chunkBits) | (chosen & (chosen - 1))) * words;
      const to = ((chunk << chunkBits) | chosen) * words;
      for (let i = 0; i < words; i++) all[to + i] = (all[rest + i] as number) | (lowest?.[i] ?? 0);
    }
  }
  return all;
}

/** Merges runs of code points that the same positions consume into one class. */
function mergeRuns({ bounds, positions, consumes, asserts }: RegexProgram, words: number) {
  const classes = new Map<string, number>();
  const consumers: Int32Array[] = [];
  const kindOfClass: number[] = [];
  const everyPosition = Array.from({ length: positions }, (_, position) => position);
  const classOfRun = [0, ...bounds].map((first) => {
    const set = bitsOf(
      everyPosition.filter((position) => consumes(position, first)),
      words,
    );
    const kind = kindFor(asserts, kindOf(first));
    const key = `${kind} ${set.join()}`;
    const known = classes.get(key);
    if (known !== undefined) return known;
    classes.set(key, consumers.length);
    kindOfClass.push(kind);
    return consumers.push(set) - 1;
  });
  return { classOfRun, consumers, kindOfClass };
}

/** The kind of a character; `other` if no assertion of the program depends on the kind. */
function kindFor(asserts: number, kind: number): number {
  if (kind === kinds.newline && (asserts & (empty.beginLine | empty.endLine)) === 0) return kinds.other;
  if (kind === kinds.word && (asserts & (empty.wordBoundary | empty.noWordBoundary)) === 0)
    return kinds.other;
  return kind;
}

function bitsOf(positions: readonly number[], words: number): Int32Array {
  const set = new Int32Array(words);
  for (const position of positions) setBit(set, 0, position);
  return set;
}

function setBit(words: Int32Array, offset: number, bit: number): void {
  const word = offset + (bit >> 5);
  words[word] = (words[word] as number) | (1 << (bit & 31));
}
