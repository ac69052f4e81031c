/**
 * The trusted clock: the time by which retention deletes. It is the system clock, and for a day after a jump of more than an
 * hour, the time without the jump. So a wrong clock deletes nothing at once. After a day in which the clock has held, the jump
 * is accepted; if the clock goes back before, nothing has happened. The state is stored, so a jump between two runs is found
 * too. `time.ts` has the forms of times in the API and time zones.
 */
/** What the clock keeps from one start to the next; times in Unix ms. */
export interface ClockState {
  /** The time by which retention drops history and deliveries are given up. */
  readonly trusted: number;
  /** The last reading of the system clock. */
  readonly wall: number;
  /** The reading after a jump that is not accepted yet; null without one. */
  readonly jumpedAt: number | null;
}

export interface ClockMemory {
  read(): Promise<ClockState | undefined>;
  write(state: ClockState): Promise<void>;
}

interface TrustedClockOptions {
  readonly now: () => number;
  /** Milliseconds that only ever go forward. */
  readonly monotonicNow: () => number;
  readonly remembered: ClockState | undefined;
  /** Called once for each jump, for its end, and when a jump is accepted. */
  readonly onChange: (change: 'jumped' | 'restored' | 'accepted', state: ClockState) => void;
}

/** A clock may be corrected, or a machine may sleep, by this much without a check. */
const toleranceMs = 3_600_000;
/** A jump is accepted after the clock has held for this long; a stop of the machine may be part of that time. */
export const acceptAfterMs = 86_400_000;

/**
 * The time for what cannot be undone: deletions, and deliveries that are given up. If the system clock is wrong by a year (empty battery, restored snapshot),
 * retention would drop all history at once. So after a jump of more than an hour in either direction, while running or across a
 * restart, the trusted time goes on without the jump for a day, which leaves time to set the clock right.
 */
export class TrustedClock {
  readonly #options: TrustedClockOptions;
  #state: ClockState;
  /** undefined: no reading in this process yet. */
  #observedAt: number | undefined;

  constructor(options: TrustedClockOptions) {
    this.#options = options;
    const wall = options.now();
    this.#state = options.remembered ?? { trusted: wall, wall, jumpedAt: null };
    this.observe();
  }

  get state(): ClockState {
    return this.#state;
  }

  now(): number {
    const wall = this.#options.now();
    const expected = this.#state.trusted + this.#elapsedMs();
    return isNear(wall, expected) ? wall : Math.min(wall, expected);
  }

  /** Call it about every minute. Returns the state to keep. */
  observe(): ClockState {
    const { now, monotonicNow, onChange } = this.#options;
    const before = this.#state.jumpedAt;
    const wall = now();
    const expected = this.#state.trusted + this.#elapsedMs();
    const jumpedAt = isNear(wall, expected) ? null : this.#jumpedAt(wall);
    const isAccepted = jumpedAt !== null && wall - jumpedAt >= acceptAfterMs;
    this.#state =
      jumpedAt === null || isAccepted
        ? { trusted: wall, wall, jumpedAt: null }
        : { trusted: expected, wall, jumpedAt };
    this.#observedAt = monotonicNow();
    if (isAccepted) onChange('accepted', this.#state);
    else if (before === null && jumpedAt !== null) onChange('jumped', this.#state);
    else if (before !== null && jumpedAt === null) onChange('restored', this.#state);
    return this.#state;
  }

  /** When the jump was first observed; a second jump restarts the day. */
  #jumpedAt(wall: number): number {
    const { wall: last, jumpedAt } = this.#state;
    const isSteady =
      this.#observedAt === undefined
        ? wall >= last && wall - last <= acceptAfterMs
        : isNear(wall, last + this.#elapsedMs());
    return jumpedAt !== null && isSteady ? jumpedAt : wall;
  }

  #elapsedMs(): number {
    return this.#observedAt === undefined ? 0 : this.#options.monotonicNow() - this.#observedAt;
  }
}

const isNear = (a: number, b: number) => Math.abs(a - b) <= toleranceMs;
