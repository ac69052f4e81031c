/** What is remembered of the clock from one start to the next; times in Unix ms. */
export interface ClockState {
  /** The time by which history is dropped. */
  readonly settled: number;
  /** What the clock said last. */
  readonly seen: number;
  /** What it said when it leapt, if it has not been believed since. */
  readonly doubtedSince: number | null;
}

export interface ClockMemory {
  read(): Promise<ClockState | undefined>;
  write(state: ClockState): Promise<void>;
}

interface SettledClockOptions {
  readonly now: () => number;
  /** Milliseconds that only ever go forward, from any beginning. */
  readonly ticks: () => number;
  readonly remembered: ClockState | undefined;
  /** Hears once of each leap, of its end, and of a leap that is believed. */
  readonly onTurn: (what: 'leapt' | 'back' | 'believed', clock: { wall: number; settled: number }) => void;
}

/** As far as a clock may be corrected, or a machine asleep, without a question. */
const toleranceMs = 3_600_000;
/** So long a clock has to hold after a leap before anything is dropped by it; and so long a stop may be within it. */
export const trialMs = 86_400_000;

/**
 * The time for what cannot be undone. A wrong clock (an empty battery, a machine restored from a snapshot, a slip of an
 * operator) that is a year ahead would have retention drop everything at once. So after a leap of more than an hour,
 * in either direction, while running or across a restart, time goes on as before for a day; whoever watches has that
 * long to set the clock right, and history is kept that much longer.
 */
export class SettledClock {
  readonly #options: SettledClockOptions;
  #state: ClockState;
  /** undefined: nothing has been observed in this process. */
  #observedAt: number | undefined;

  constructor(options: SettledClockOptions) {
    this.#options = options;
    const wall = options.now();
    this.#state = options.remembered ?? { settled: wall, seen: wall, doubtedSince: null };
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
    const { ticks, onTurn } = this.#options;
    const { wall, expected } = this.#look();
    const before = this.#state.doubtedSince;
    const doubtedSince = isNear(wall, expected) ? null : this.#doubt(wall);
    const believed = doubtedSince !== null && wall - doubtedSince >= trialMs;
    const settled = doubtedSince === null || believed ? wall : expected;
    this.#state = { settled, seen: wall, doubtedSince: believed ? null : doubtedSince };
    this.#observedAt = ticks();
    if (believed) onTurn('believed', { wall, settled });
    else if (before === null && doubtedSince !== null) onTurn('leapt', { wall, settled });
    else if (before !== null && doubtedSince === null) onTurn('back', { wall, settled });
    return this.#state;
  }

  /** Since when the clock is as it is now: a second leap begins its trial anew. */
  #doubt(wall: number): number {
    const { seen, doubtedSince } = this.#state;
    const goesOn =
      this.#observedAt === undefined
        ? wall >= seen && wall - seen <= trialMs
        : isNear(wall, seen + this.#elapsed());
    return doubtedSince !== null && goesOn ? doubtedSince : wall;
  }

  #look(): { readonly wall: number; readonly expected: number } {
    return { wall: this.#options.now(), expected: this.#state.settled + this.#elapsed() };
  }

  #elapsed(): number {
    return this.#observedAt === undefined ? 0 : this.#options.ticks() - this.#observedAt;
  }
}

const isNear = (a: number, b: number) => Math.abs(a - b) <= toleranceMs;
