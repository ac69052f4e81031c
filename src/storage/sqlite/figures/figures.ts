import type {
  BusyHost,
  Counted,
  CountTimes,
  Figures,
  MinuteCount,
  ValueField,
} from '../../../core/figures.ts';
import type { TenantId } from '../../../core/ports.ts';
import type { Query } from '../../../core/search/search-query.ts';
import type { Thread } from '../thread.ts';
import type { CountRequest, CountStep } from './count.ts';
import { Tally } from './tally.ts';

/** What a count may take of the search thread in all … */
const budgetMs = 250;
/** … and at once: a search that comes meanwhile waits no longer. */
const stepMs = 30;

/** Figures on SQLite. What may take long is counted by the search thread, so that it delays no stream. */
export class SqliteFigures implements Figures {
  readonly #reader: () => Thread;
  readonly #searcher: () => Thread;

  constructor(reader: () => Thread, searcher: () => Thread) {
    this.#reader = reader;
    this.#searcher = searcher;
  }

  async count(tenant: TenantId, query: Query, times: CountTimes, now: number): Promise<Counted> {
    const tally = new Tally();
    let leftMs = budgetMs;
    let below: number | undefined;
    do {
      const request: CountRequest = { ...times, now, stepMs, leftMs, ...(below !== undefined && { below }) };
      const step = await this.#searcher().call<CountStep>('count', { tenant, query, request });
      for (const count of step.counts) tally.add(count);
      leftMs -= step.tookMs;
      if (step.below === null) return { counts: tally.rows(), complete: true };
      below = step.below;
    } while (leftMs > 0);
    return { counts: tally.rows(), complete: false };
  }

  minutes(tenant: TenantId, from: number): Promise<readonly MinuteCount[]> {
    return this.#reader().call('minutes', { tenant, from });
  }

  received(tenant: TenantId, from: number): Promise<number> {
    return this.#reader().call('received', { tenant, from });
  }

  busiestHosts(tenant: TenantId, from: number, limit: number): Promise<readonly BusyHost[]> {
    return this.#searcher().call('busiestHosts', { tenant, from, limit });
  }

  values(tenant: TenantId, field: ValueField, prefix: string, limit: number): Promise<readonly string[]> {
    return this.#searcher().call('values', { tenant, wanted: { field, prefix, limit } });
  }
}
