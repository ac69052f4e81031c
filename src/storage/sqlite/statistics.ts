import type { Statistics } from '#core/statistics.ts';
import { countBudgetMs, Tally } from '../counting.ts';
import type { SqliteThreads } from './history.ts';
import type { CountRequest } from './search/count.ts';

/** What a count may take of the search thread at once: a search that comes meanwhile waits no longer. */
const stepMs = 30;

/** Statistics on SQLite. What may take long is counted by the search thread, so that it delays no stream. */
export function createSqliteStatistics({ searcher, searches }: Omit<SqliteThreads, 'queue'>): Statistics {
  return {
    busiestHosts: (tenant, from, limit) =>
      searches.run(tenant, () => searcher.busiestHosts(tenant, from, limit)),

    // A few milliseconds: it needs no time limit.
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
