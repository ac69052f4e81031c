import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Query } from '#core/search/search-query.ts';
import { instant, play, query, sizes, start, step } from '#test/support/arbitrary-history.ts';
import { draft, HistoryModel } from '#test/support/history-model.ts';
import { printQuery } from '#test/support/print-query.ts';
import { searchPage } from './search.ts';

/** Every page of a search, one after the other. `steps`: how often a page may ask whether its time is over. */
async function searchAll(
  model: HistoryModel,
  asked: Query,
  options: { now: number; limit: number; steps: number },
) {
  const ids: string[] = [];
  let before: number | undefined;
  for (let pages = 0; pages < 10_000; pages++) {
    let left = options.steps;
    const page = await searchPage(
      model,
      {
        tenant: model.tenant,
        query: asked,
        options: { ...options, ...(before !== undefined && { before }) },
      },
      () => --left < 0,
    );
    ids.push(...page.records.map(({ id }) => id));
    if (page.searchedTo !== null) expect(page.next).not.toBeNull();
    if (page.next === null) return ids;
    if (before !== undefined) expect(page.next).toBeLessThan(before);
    before = page.next;
  }
  throw new Error('a search has no end');
}

test('however it is partitioned, indexed, sealed and dropped, a search finds what a loop over the list finds', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 1, maxLength: 60 }),
      fc.array(query, { minLength: 20, maxLength: 20 }),
      sizes,
      instant,
      fc.record({ limit: fc.integer({ min: 1, max: 7 }), steps: fc.constantFrom(0, 2, 1_000_000) }),
      fc.constantFrom(0, 2 ** 31 - 20, 2 ** 40 - 200),
      fc.nat({ max: 60 }),
      async (steps, queries, sized, now, page, from, pruned) => {
        const model = new HistoryModel({ start: from, sizes: sized });
        play(model, steps);
        if (pruned > 30) model.prune(from + pruned - 30, start);
        if (pruned % 3 === 0) model.maintain();
        for (const asked of queries) {
          expect(await searchAll(model, asked, { now, ...page }), printQuery(asked)).toEqual(
            model.search(asked, now),
          );
        }
        model.db.close();
      },
    ),
    { numRuns: Number(process.env.RUNS ?? 150), endOnFailure: true },
  );
}, 120_000);

test('a page of none says whether there is more', async () => {
  const model = new HistoryModel();
  for (let i = 0; i < 3; i++) model.transaction(() => model.append(draft()));
  const next = async (before: number) => {
    const options = { limit: 0, now: 1, before };
    return (await searchPage(model, { tenant: model.tenant, query: { kind: 'all' }, options })).next;
  };
  expect([await next(4), await next(2), await next(1)]).toEqual([4, 2, null]);
  model.db.close();
});
