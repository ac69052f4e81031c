interface Bounds {
  readonly least: number;
  readonly most: number;
}

/**
 * How many rows of some work are done in a given time, by how the last ones went: the machine decides, and what they hold.
 * Work that commits have to wait for is cut by it. What became slow is believed at once, what became fast by and by.
 */
export class RowPace {
  readonly #bounds: Bounds;
  #usualMs: number;
  #lastMs: number;

  /** `msARow`: as it may be before anything has been measured. */
  constructor(bounds: Bounds, msARow: number) {
    this.#bounds = bounds;
    this.#usualMs = msARow;
    this.#lastMs = msARow;
  }

  rowsIn(ms: number): number {
    const { least, most } = this.#bounds;
    return Math.min(most, Math.max(least, Math.round(ms / Math.max(this.#usualMs, this.#lastMs))));
  }

  took(rows: number, ms: number): void {
    // Of fewer than any piece is meant to have, the cost is mostly what a piece takes by itself.
    if (rows < this.#bounds.least) return;
    this.#lastMs = ms / rows;
    this.#usualMs += (this.#lastMs - this.#usualMs) / 8;
  }
}
