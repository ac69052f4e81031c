import fc from 'fast-check';
import { expect, test } from 'vitest';
import { instant, play, query, start, step, tuning } from '../../../../test/support/arbitrary-history.ts';
import { type CountTimes, HistoryModel } from '../../../../test/support/history-model.ts';
import { printQuery } from '../../../core/search/search-print.ts';
import type { Query } from '../../../core/search/search-query.ts';
import { indexSlice } from '../indexer.ts';
import type { Tuning } from '../search/tuning.ts';
import { countStep } from './count.ts';

interface Asked {
  readonly query: Query;
  readonly now: number;
  readonly stepMs: number;
  readonly tuned: Tuning;
}

/** All steps of a count, one after the other. */
function countAll(model: HistoryModel, { query, now, stepMs, tuned }: Asked, times: CountTimes) {
  const counts: Record<string, number> = {};
  let below: number | undefined;
  do {
    const request = { ...times, now, stepMs, leftMs: stepMs, ...(below !== undefined && { below }) };
    const part = countStep(model.db, model.tenant, query, request, tuned);
    for (const { bucket, level, count } of part.counts) {
      const cell = `${bucket} ${level}`;
      counts[cell] = (counts[cell] ?? 0) + count;
    }
    if (below !== undefined && part.below !== null) expect(part.below).toBeLessThan(below);
    below = part.below ?? undefined;
  } while (below !== undefined);
  return counts;
}

const hourMs = 3_600_000;
const times: fc.Arbitrary<CountTimes> = fc
  .record({
    from: instant,
    lasts: fc.constantFrom(1, 90_000, hourMs, 26 * hourMs, 1000 * hourMs),
    bucketMs: fc.constantFrom(1000, 60_000, 600_000, hourMs, 6 * hourMs, 5000 * hourMs),
  })
  .map(({ from, lasts, bucketMs }) => ({
    after: from,
    before: from + lasts,
    origin: from - (from % bucketMs),
    bucketMs,
  }));

test('however it is indexed, and in however many steps, a count is what a loop over the list counts', () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 60 }),
      fc.array(fc.tuple(query, times), { minLength: 20, maxLength: 20 }),
      fc.constantFrom('some', 'all'),
      instant,
      fc.constantFrom(0, 60_000),
      tuning,
      // Where blocks of positions meet, and where numbers outgrow 31 bits and an entry outgrows 53.
      fc.constantFrom(0, 2 ** 15 - 20, 2 ** 31 - 20, 2 ** 40 - 200),
      fc.nat({ max: 60 }),
      (steps, queries, indexing, now, stepMs, tuned, from, pruned) => {
        const model = new HistoryModel(from);
        play(model, steps);
        if (indexing === 'all') while (indexSlice(model.db, 20).behind);
        if (pruned > 40) model.prune(from + pruned - 40, start);
        for (const [asked, within] of queries) {
          expect(
            countAll(model, { query: asked, now, stepMs, tuned }, within),
            `${printQuery(asked)} ${JSON.stringify(within)}`,
          ).toEqual(model.count(asked, now, within));
        }
        model.db.close();
      },
    ),
    { numRuns: 150 },
  );
}, 120_000);
