import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Query } from '#core/search/search-query.ts';
import { instant, play, query, sizes, start, step } from '#test/support/arbitrary-history.ts';
import { type CountTimes, draft, HistoryModel } from '#test/support/history-model.ts';
import { printQuery } from '#test/support/print-query.ts';
import { searchPage } from './search.ts';
import { type CountRequest, countStep } from './statistics.ts';

/** All steps of a count, one after the other. `steps`: how often one may ask whether its time is over. */
async function countAll(model: HistoryModel, asked: Query, now: number, steps: number, times: CountTimes) {
  const counts: Record<string, number> = {};
  let next: number | undefined;
  let store: CountRequest['store'];
  let made = 0;
  do {
    let left = steps;
    const request = { ...times, now, ...(next !== undefined && { next }), ...(store && { store }) };
    const part = await countStep(model, { tenant: model.tenant, query: asked, request }, () => --left < 0);
    for (const { bucket, level, count } of part.counts) {
      const cell = `${bucket} ${level}`;
      counts[cell] = (counts[cell] ?? 0) + count;
    }
    if (next !== undefined && part.next !== null) expect(part.next).toBeLessThan(next);
    next = part.next ?? undefined;
    store = part.store;
    made += 1;
  } while (next !== undefined);
  return { counts, steps: made };
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

test('however it is partitioned, and in however many steps, a count is what a loop over the list counts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 60 }),
      fc.array(fc.tuple(query, times), { minLength: 20, maxLength: 20 }),
      sizes,
      instant,
      fc.constantFrom(0, 2, 1_000_000),
      fc.constantFrom(0, 2 ** 31 - 20, 2 ** 40 - 200),
      fc.nat({ max: 60 }),
      async (steps, queries, sized, now, asks, from, pruned) => {
        const model = new HistoryModel({ start: from, sizes: sized });
        play(model, steps);
        if (pruned > 40) model.prune(from + pruned - 40, start);
        if (pruned % 3 === 0) model.maintain();
        for (const [asked, within] of queries) {
          const { counts } = await countAll(model, asked, now, asks, within);
          expect(counts, `${printQuery(asked)} ${JSON.stringify(within)}`).toEqual(
            model.count(asked, now, within),
          );
        }
        model.db.close();
      },
    ),
    { numRuns: Number(process.env.RUNS ?? 150), endOnFailure: true },
  );
}, 120_000);

test('a step ends, however many rows or values of one partition it would have to read', async () => {
  const model = new HistoryModel();
  const rows = 12_000;
  model.transaction(() => {
    for (let i = 0; i < rows; i++)
      model.append(draft({ key: `${i}${'a'.repeat(60)}`, receivedAt: start + i * 10, expiresAt: start }));
  });
  model.index();
  const keys: Query = { kind: 'key', patterns: [`*${'a'.repeat(30)}b`, `*1${'a'.repeat(60)}`] };
  const unseen: Query = { kind: 'is', states: ['unseen'] };
  const minutes = { after: start, before: start + rows * 10, origin: 0, bucketMs: 60_000 };
  const now = start + 1;
  const expectSteps = async (asked: Query, least: number, times = minutes) => {
    const { counts, steps } = await countAll(model, asked, now, 0, times);
    expect(counts).toEqual(model.count(asked, now, times));
    expect(steps, printQuery(asked)).toBeGreaterThan(least);
  };
  await expectSteps({ kind: 'all' }, 1, { ...minutes, bucketMs: 1000 });
  await expectSteps(keys, rows / 300);
  model.addReports(500_001);
  await expectSteps(unseen, rows / 300);
  const page = {
    tenant: model.tenant,
    query: { kind: 'key', patterns: ['*b'] } as const,
    options: { now, limit: 10 },
  };
  expect((await searchPage(model, page, () => true)).searchedTo).not.toBeNull();
  model.db.close();
});

const everyMinute: CountTimes = { after: 0, before: start * 2, origin: 0, bucketMs: 60_000 };
const countEachMinute = async (model: HistoryModel) =>
  (await countAll(model, { kind: 'all' }, start, 1_000_000, everyMinute)).counts;

test('counts what retention keeps, also beside another tenant, and after its partition was written anew', async () => {
  const model = new HistoryModel({ sizes: { partitionRows: 40, indexBatchRows: 7 } });
  model.transaction(() => {
    for (let i = 0; i < 50; i++) {
      model.append(draft({ receivedAt: start + i * 60_000 }));
      model.append(draft({ receivedAt: start + i * 60_000 }), 8);
    }
  });
  model.index();
  model.prune(26, start);
  const expected = model.count({ kind: 'all' }, start, everyMinute);
  expect(Object.keys(expected)).toHaveLength(24);
  expect(await countEachMinute(model)).toEqual(expected);
  // Of the other tenant nothing is kept of the first partition: the row behind the last dropped one is in no table any more.
  model.db.exec('UPDATE logs SET first = 40 WHERE tenant = 8');
  model.maintain(undefined, 0);
  model.restart();
  expect(await countEachMinute(model)).toEqual(expected);
  model.db.close();
});

test('counts a level that is named by digits under its name, also where its text stands in the row itself', async () => {
  const model = new HistoryModel();
  model.transaction(() => {
    model.append(draft({ host: 'first', key: 'second', ip: '10.0.0.1' }));
    model.append(draft({ level: 'error' }));
  });
  const level = String(model.db.prepare('SELECT id FROM dictionary_1_0').pluck().get());
  model.db.prepare('UPDATE log_1_0 SET level = ? WHERE position = 2').run(level);
  const counts = await countEachMinute(model);
  expect(
    Object.keys(counts)
      .map((cell) => cell.split(' ')[1])
      .sort(),
  ).toEqual([level, 'info'].sort());
  model.db.close();
});
