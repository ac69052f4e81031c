import type { TenantId } from '#core/ports.ts';
import type { Query } from '#core/search/search-query.ts';
import type {
  BusyHost,
  Counted,
  CountOptions,
  CountTimes,
  MinuteCount,
  Statistics,
  WantedValues,
} from '#core/statistics.ts';
import { countBudgetMs, Tally } from '../counting.ts';
import type { FairQueue } from '../fair-queue.ts';
import type { CountRequest, CountStep } from './count.ts';
import type { WorkerClient } from './thread.ts';

/** What a count may take of the search thread at once: a search that comes meanwhile waits no longer. */
const stepMs = 30;

/** Statistics on SQLite. What may take long is counted by the search thread, so that it delays no stream. */
export class SqliteStatistics implements Statistics {
  readonly #reader: () => WorkerClient;
  readonly #searcher: () => WorkerClient;
  readonly #searches: FairQueue;

  constructor(reader: () => WorkerClient, searcher: () => WorkerClient, searches: FairQueue) {
    this.#reader = reader;
    this.#searcher = searcher;
    this.#searches = searches;
  }

  count(
    tenant: TenantId,
    query: Query,
    times: CountTimes,
    { now, timeoutMs = Number.POSITIVE_INFINITY, signal }: CountOptions,
  ): Promise<Counted> {
    const tally = new Tally();
    const endsAt = performance.now() + timeoutMs;
    let leftMs = countBudgetMs;
    let below: number | undefined;
    const step = async () => {
      const request: CountRequest = { ...times, now, ...(below !== undefined && { below }) };
      const part = await this.#searcher().call<CountStep>('count', { tenant, query, request, stepMs });
      for (const { bucket, level, count } of part.counts) tally.add(bucket, level, count);
      leftMs -= part.tookMs;
      below = part.below ?? undefined;
      const isOver = below === undefined || leftMs <= 0 || performance.now() >= endsAt;
      return isOver ? { counts: tally.rows(), searchedTo: part.searchedTo } : undefined;
    };
    return this.#searches.run(tenant, step, signal);
  }

  minutes(tenant: TenantId, from: number): Promise<readonly MinuteCount[]> {
    return this.#reader().call('minutes', { tenant, from });
  }

  received(tenant: TenantId, from: number): Promise<number> {
    return this.#reader().call('received', { tenant, from });
  }

  busiestHosts(tenant: TenantId, from: number, limit: number): Promise<readonly BusyHost[]> {
    const step = () => this.#searcher().call<BusyHost[]>('busiestHosts', { tenant, from, limit });
    return this.#searches.run(tenant, step);
  }

  values(tenant: TenantId, { field, prefix, limit, signal }: WantedValues): Promise<readonly string[]> {
    // A few milliseconds: it needs no time limit.
    const wanted = { field, prefix, limit };
    const step = () => this.#searcher().call<string[]>('values', { tenant, wanted });
    return this.#searches.run(tenant, step, signal);
  }
}
