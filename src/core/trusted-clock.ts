/** What is remembered of the clock from one start to the next; times in Unix ms. */
export interface ClockState {
  /** The time by which history is dropped. */
  readonly settled: number;
  /** What the clock said last. */
  readonly seen: number;
  /** What it said when it leapt, if it has not been believed since. */
  readonly jumpedAt: number | null;
}

export interface ClockMemory {
  read(): Promise<ClockState | undefined>;
  write(state: ClockState): Promise<void>;
}

interface TrustedClockOptions {
  readonly now: () => number;
  /** Milliseconds that only ever go forward, from any beginning. */
  readonly monotonicNow: () => number;
  readonly remembered: ClockState | undefined;
  /** Hears once of each leap, of its end, and of a leap that is believed. */
  readonly onTurn: (what: 'leapt' | 'back' | 'believed', clock: { wall: number; settled: number }) => void;
}

/** As far as a clock may be corrected, or a machine asleep, without a question. */
const toleranceMs = 3_600_000;
/** So long a clock has to hold after a leap before anything is dropped by it; and so long a stop may be within it. */
export const acceptAfterMs = 86_400_000;

/**
 * The time for what cannot be undone. A wrong clock (an empty battery, a machine restored from a snapshot, a slip of an
 * operator) that is a year ahead would have retention drop everything at once. So after a leap of more than an hour,
 * in either direction, while running or across a restart, time goes on as before for a day; whoever watches has that
 * long to set the clock right, and history is kept that much longer.
 */
export class TrustedClock {
  readonly #options: TrustedClockOptions;
  #state: ClockState;
  /** undefined: nothing has been observed in this process. */
  #observedAt: number | undefined;

  constructor(options: TrustedClockOptions) {
    this.#options = options;
    const wall = options.now();
    this.#state = options.remembered ?? { settled: wall, seen: wall, jumpedAt: null };
    this.observe();
  }

  /** What to remember. */
  get state(): ClockState {
    return this.#state;
  }

  now(): number {
    const { wall, expected } = this.#look();
    return isNear(wall, expected) ? wall : Math.min(wall, expected);
  }

  /** To be called every minute or so; answers what to remember. */
  observe(): ClockState {
    const { monotonicNow, onTurn } = this.#options;
    const { wall, expected } = this.#look();
    const before = this.#state.jumpedAt;
    const jumpedAt = isNear(wall, expected) ? null : this.#doubt(wall);
    const believed = jumpedAt !== null && wall - jumpedAt >= acceptAfterMs;
    const settled = jumpedAt === null || believed ? wall : expected;
    this.#state = { settled, seen: wall, jumpedAt: believed ? null : jumpedAt };
    this.#observedAt = monotonicNow();
    if (believed) onTurn('believed', { wall, settled });
    else if (before === null && jumpedAt !== null) onTurn('leapt', { wall, settled });
    else if (before !== null && jumpedAt === null) onTurn('back', { wall, settled });
    return this.#state;
  }

  /** Since when the clock is as it is now: a second leap begins its trial anew. */
  #doubt(wall: number): number {
    const { seen, jumpedAt } = this.#state;
    const goesOn =
      this.#observedAt === undefined
        ? wall >= seen && wall - seen <= acceptAfterMs
        : isNear(wall, seen + this.#elapsed());
    return jumpedAt !== null && goesOn ? jumpedAt : wall;
  }

  #look(): { readonly wall: number; readonly expected: number } {
    return { wall: this.#options.now(), expected: this.#state.settled + this.#elapsed() };
  }

  #elapsed(): number {
    return this.#observedAt === undefined ? 0 : this.#options.monotonicNow() - this.#observedAt;
  }
}

const isNear = (a: number, b: number) => Math.abs(a - b) <= toleranceMs;
