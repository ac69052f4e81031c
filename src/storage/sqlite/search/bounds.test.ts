import fc from 'fast-check';
import { expect, test } from 'vitest';
import { draft, HistoryModel } from '../../../../test/support/history-model.ts';
import { indexSlice } from '../indexer.ts';
import { withinTimes } from './bounds.ts';

const minuteMs = 60_000;

test('bounds on time leave out no position they should not, with clocks that jump, and little more than they must', () => {
  // A few hours, in steps that meet the edges of minutes and hours.
  const instant = fc
    .tuple(fc.nat({ max: 200 }), fc.constantFrom(0, 1, minuteMs - 1))
    .map(([minute, ms]) => 100 * 3_600_000 + minute * minuteMs + ms);
  fc.assert(
    fc.property(
      fc.array(instant, { minLength: 1, maxLength: 20 }),
      fc.array(instant, { minLength: 10, maxLength: 10 }),
      (times, asked) => {
        const model = new HistoryModel();
        model.transaction(() => {
          for (const receivedAt of times) model.append(draft({ receivedAt }));
        });
        indexSlice(model.db, 100);
        const bounds = (kind: 'after' | 'before', at: number) =>
          withinTimes(model.db, model.tenant, [{ kind, at }], { low: 1, high: times.length });
        const minute = (at: number) => Math.floor(at / minuteMs);
        for (const at of asked) {
          const positions = (test: (time: number) => boolean) =>
            times.flatMap((time, i) => (test(time) ? [i + 1] : []));
          const { low } = bounds('after', at);
          expect(low).toBeLessThanOrEqual(Math.min(...positions((time) => time >= at)));
          expect(low).toBeGreaterThanOrEqual(
            Math.min(Number.MAX_SAFE_INTEGER, ...positions((time) => minute(time) >= minute(at))),
          );
          const { high } = bounds('before', at);
          expect(high).toBeGreaterThanOrEqual(Math.max(...positions((time) => time < at)));
          expect(high).toBeLessThanOrEqual(
            Math.max(0, ...positions((time) => minute(time) <= minute(at - 1))),
          );
        }
        model.db.close();
      },
    ),
    { numRuns: 200 },
  );
});
