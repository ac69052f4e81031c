interface Bounds {
  readonly least: number;
  readonly most: number;
}

/**
 * How many rows of some work are done in a given time, by how the last ones went: the machine decides, and what they hold.
 * Work that commits have to wait for is cut by it.
 */
export class RowPace {
  readonly #bounds: Bounds;
  #rowsAMs: number;

  /** `rowsAMs`: as it may be before anything has been measured. */
  constructor(bounds: Bounds, rowsAMs: number) {
    this.#bounds = bounds;
    this.#rowsAMs = rowsAMs;
  }

  rowsIn(ms: number): number {
    const { least, most } = this.#bounds;
    return Math.min(most, Math.max(least, Math.round(this.#rowsAMs * ms)));
  }

  took(rows: number, ms: number): void {
    // Of fewer, what they cost is mostly what any piece of such work does.
    if (rows >= this.#bounds.least) this.#rowsAMs += (rows / Math.max(0.1, ms) - this.#rowsAMs) / 8;
  }
}
