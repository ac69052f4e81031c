/** A change of less is no step of the clock, but its correction. */
const toleranceMs = 1_000;

/** Notices that the system clock was set. */
export class ClockSteps {
  /** How much the system clock is ahead of the monotonic one. */
  #aheadMs: number | undefined;

  /** Runs `work` if the clock was set since it last ran; the first time, too. An error leaves it for the next call. */
  async after(now: number, work: () => Promise<void>): Promise<void> {
    const aheadMs = now - performance.now();
    if (this.#aheadMs === undefined || Math.abs(aheadMs - this.#aheadMs) > toleranceMs) await work();
    this.#aheadMs = aheadMs;
  }
}
