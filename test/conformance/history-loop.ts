import fc from 'fast-check';
import { expect, test } from 'vitest';
import { noTexts } from '#contract/history/fields.ts';
import type { TenantId } from '#core/log/route.ts';
import type { Counted, CountTimes } from '#core/log/statistics.ts';
import type { Query } from '#core/search/search-query.ts';
import { draftOf, instant, panelOf, query, type Step, start, step } from '../support/arbitrary-history.ts';
import { eventually } from '../support/eventually.ts';
import { type Known, matches } from '../support/history-model.ts';
import { printQuery } from '../support/print-query.ts';
import { type HistoryDatabase, type HistoryLab, stored } from './history-lab.ts';
import { prune } from './history-pruning.ts';

const hourMs = 3_600_000;
const times: fc.Arbitrary<CountTimes> = fc
  .record({
    from: instant,
    lasts: fc.constantFrom(1, 90_000, hourMs, 26 * hourMs, 1000 * hourMs),
    bucketMs: fc.constantFrom(1000, 60_000, hourMs, 5000 * hourMs),
  })
  .map(({ from, lasts, bucketMs }) => ({
    after: from,
    before: from + lasts,
    origin: from - (from % bucketMs),
    bucketMs,
  }));

/** Writes the steps through the port, and keeps what was written as a list. */
async function play(
  { history, receipts }: HistoryDatabase,
  [own, foreign]: readonly [TenantId, TenantId],
  steps: readonly Step[],
): Promise<Known[]> {
  const known: Known[] = [];
  const of = (id: string) => known.find((each) => each.id === id);
  for (const [i, each] of steps.entries()) {
    const { act, aim } = each;
    const made = draftOf(each, i, known.at(0)?.id);
    const tenant = act === 'foreign' ? foreign : own;
    const entries = stored(await history.append(tenant, made, null));
    if (tenant === foreign) continue;
    for (const entry of entries) {
      const cleared = of(entry.id);
      if (entry.kind === 'clear' && cleared) cleared.cleared = true;
      if (entry.kind === 'notification')
        known.push({
          ...made,
          position: entry.position,
          ...{ cleared: false, shown: false, acknowledged: false, off: null },
        });
    }
    const aimed = known[aim % known.length] as Known;
    if (act === 'clear') {
      const { kind } = await history.clear(own, aimed.id, 'test', made.receivedAt);
      if (kind === 'cleared') aimed.cleared = true;
    }
    if (act === 'show') {
      const shown = [{ id: aimed.id, state: 'shown', at: 1 }] as const;
      if ((await receipts.record(own, panelOf(each), shown)).length > 0) aimed.shown = true;
    }
  }
  return known;
}

async function searchAll(
  { history }: HistoryDatabase,
  tenant: TenantId,
  wanted: Query,
  options: { readonly now: number; readonly limit: number; readonly timeoutMs?: number },
): Promise<string[]> {
  const ids: string[] = [];
  let before: number | undefined;
  do {
    const page = await history.search(tenant, wanted, {
      ...options,
      ...(before !== undefined && { before }),
    });
    ids.push(...page.records.map(({ id }) => id));
    if (before !== undefined && page.next !== null) expect(page.next).toBeLessThan(before);
    before = page.next ?? undefined;
  } while (before !== undefined);
  return ids;
}

/** Searches and counts at random, held against a loop over a list. */
export function loopConformance(lab: () => HistoryLab): void {
  test('a search finds and a count counts what a loop over the list does, in however many steps', async () => {
    const { database, newTenant } = lab();
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 40 }),
        fc.array(fc.tuple(query, times), { minLength: 12, maxLength: 12 }),
        instant,
        fc.constantFrom({ limit: 3 }, { limit: 50 }, { limit: 5, timeoutMs: 0 }),
        fc.option(fc.nat({ max: 30 })),
        async (steps, queries, now, page, keep) => {
          const tenant = await newTenant();
          let known = await play(database, [tenant, await newTenant()], steps);
          if (keep !== null) {
            await prune(database.history, tenant, { keep }, start);
            const { first } = await database.history.bounds(tenant);
            known = known.filter(({ position }) => position >= first);
          }
          for (const [wanted, within] of queries) {
            const found = known.filter((each) => matches(wanted, each, now));
            expect(await searchAll(database, tenant, wanted, { now, ...page }), printQuery(wanted)).toEqual(
              found.map(({ id }) => id).reverse(),
            );
            const counts = await countAll(database, tenant, { wanted, within, now });
            const expected: Record<string, number> = {};
            for (const { receivedAt, level } of found) {
              if (receivedAt < within.after || receivedAt >= within.before) continue;
              const cell = `${Math.floor((receivedAt - within.origin) / within.bucketMs)} ${level}`;
              expected[cell] = (expected[cell] ?? 0) + 1;
            }
            expect(
              Object.fromEntries(counts.map(({ bucket, level, count }) => [`${bucket} ${level}`, count])),
              `${printQuery(wanted)} ${JSON.stringify(within)}`,
            ).toEqual(expected);
          }
        },
      ),
      { numRuns: Number(process.env.RUNS ?? 12), endOnFailure: true },
    );
  });

  test('once everything is dropped, nothing is counted any more', async () => {
    const { database, newTenant } = lab();
    const tenant = await newTenant();
    const at = start + 30_000;
    for (let i = 0; i < 3; i++)
      stored(await database.history.append(tenant, draftOf(plainStep, i, undefined), null));
    const count = async () => {
      const everything = { after: 0, before: Number.MAX_SAFE_INTEGER, origin: 0, bucketMs: 60_000 };
      const counts = await countAll(database, tenant, {
        wanted: { kind: 'all' },
        within: everything,
        now: at,
      });
      return counts.reduce((sum, each) => sum + each.count, 0);
    };
    expect(await count()).toBe(3);
    await prune(database.history, tenant, { olderThan: at + hourMs * 24 }, at + hourMs * 24);
    expect(await count()).toBe(0);
  });
}

/** A count has half a second. A busy machine may need to count again until everything is counted. */
function countAll(
  { statistics }: HistoryDatabase,
  tenant: TenantId,
  { wanted, within, now }: { readonly wanted: Query; readonly within: CountTimes; readonly now: number },
): Promise<Counted['counts']> {
  return eventually(
    async () => {
      const { counts, searchedTo } = await statistics.count(tenant, wanted, within, { now });
      expect(searchedTo).toBeNull();
      return counts;
    },
    { timeout: 300_000 },
  );
}

const plainStep: Step = {
  draft: {
    ...{ title: 't', message: 'm', level: 'info', ...noTexts, sourceIp: '10.0.0.1', key: null },
    ...{ tokenId: 'tok1', lasts: null },
  },
  ...{ route: 0, throttled: false, act: 'nothing', aim: 1 },
};
