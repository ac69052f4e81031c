import type { LevelCount } from '../../../core/figures.ts';

/** Counts as they come together. */
export class Tally {
  readonly #byBucket = new Map<number, Map<string, number>>();

  add({ bucket, level, count }: LevelCount): void {
    if (count === 0) return;
    let levels = this.#byBucket.get(bucket);
    if (!levels) {
      levels = new Map();
      this.#byBucket.set(bucket, levels);
    }
    levels.set(level, (levels.get(level) ?? 0) + count);
  }

  rows(): LevelCount[] {
    return [...this.#byBucket].flatMap(([bucket, levels]) =>
      Array.from(levels, ([level, count]) => ({ bucket, level, count })),
    );
  }
}
