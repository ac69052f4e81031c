import type { Statistics } from '#core/history/statistics.ts';
import { countBudgetMs, Tally } from '../log/counting.ts';
import type { SqliteThreads } from './history.ts';
import type { CountRequest } from './search/count.ts';

/** The longest step of a count on the search thread. A search waits at most this long for it. */
const stepMs = 30;

/** Statistics on SQLite. The search thread does counts that may take long, so that they delay no stream. */
export function createSqliteStatistics({ searcher, searches }: Omit<SqliteThreads, 'queue'>): Statistics {
  return {
    busiestHosts: (tenant, from, limit) =>
      searches.run(tenant, () => searcher.busiestHosts(tenant, from, limit)),

    // It takes a few milliseconds and needs no time limit.
    values: (tenant, { signal, ...wanted }) =>
      searches.run(tenant, () => searcher.values(tenant, wanted), signal),

    count(tenant, query, times, { now, timeoutMs = Number.POSITIVE_INFINITY, signal }) {
      const tally = new Tally(times);
      const endsAt = performance.now() + timeoutMs;
      let leftMs = countBudgetMs;
      let next: number | undefined;
      let store: CountRequest['store'];
      const step = async () => {
        const request = {
          ...{ ...times, now, timeoutMs: stepMs },
          ...(next !== undefined && { next }),
          ...(store && { store }),
        };
        const part = await searcher.count({ tenant, query, request });
        tally.addAll(part.counts);
        leftMs -= part.tookMs;
        store = part.store;
        next = part.next ?? undefined;
        const isOver = next === undefined || leftMs <= 0 || performance.now() >= endsAt;
        return isOver ? { counts: tally.rows(), searchedTo: part.searchedTo } : undefined;
      };
      return searches.run(tenant, step, signal);
    },
  };
}
