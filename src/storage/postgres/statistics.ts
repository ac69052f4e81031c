/** What overview, histogram and completion count. */
import { addressesFrom } from '#core/address-prefix.ts';
import type { TenantId } from '#core/ports.ts';
import { valueTerm } from '#core/search/index-terms.ts';
import { compileQuery, type TermExpression } from '#core/search/search-compile.ts';
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
import { minuteMs, sortedValues } from '../counting.ts';
import { type FairQueue, stepsOf } from '../fair-queue.ts';
import { countLog } from './count.ts';
import { isMissingTable, isTimeout } from './errors.ts';
import { logOf, type Partition, readLog } from './partitions.ts';
import type { SearchLanes } from './search.ts';
import { tsqueryOf } from './terms.ts';

/** How long values are looked for, the newest partitions first. */
const valuesMs = 150;
/** Notifications looked at for the busiest hosts. */
const newestRows = 10_000;

export class PostgresStatistics implements Statistics {
  readonly #lanes: SearchLanes;
  readonly #turns: FairQueue;

  constructor(lanes: SearchLanes, turns: FairQueue) {
    this.#lanes = lanes;
    this.#turns = turns;
  }

  count(tenant: TenantId, query: Query, times: CountTimes, options: CountOptions): Promise<Counted> {
    const work = countLog(this.#lanes, { tenant, query, times }, options);
    return this.#turns.run(tenant, stepsOf(work), options.signal);
  }

  async minutes(tenant: TenantId, from: number): Promise<readonly MinuteCount[]> {
    const { reads } = this.#lanes;
    const first = Math.max(Math.ceil(from / minuteMs), await this.#firstMinute(tenant));
    if (first === Number.POSITIVE_INFINITY) return [];
    const rows = await reads.query<{ minute: number; level: string; count: number }>(
      tenant,
      'SELECT minute, level, count FROM minutes WHERE tenant = $1 AND minute >= $2 ORDER BY minute, level',
      [tenant, first],
    );
    return rows.map(({ minute, level, count }) => ({ at: minute * minuteMs, level, count }));
  }

  /** The minute of the oldest notification that is kept; infinity when none is. */
  async #firstMinute(tenant: TenantId): Promise<number> {
    const [found] = await this.#lanes.reads.query<{ first: number; head: number; at: number | null }>(
      tenant,
      'SELECT k.first, k.head, n.at FROM logs k LEFT JOIN LATERAL read_after($1, k.first - 1, 1) n ON true WHERE k.tenant = $1',
      [tenant],
    );
    if (!found || found.first > found.head) return Number.POSITIVE_INFINITY;
    return found.first === 1 ? 0 : Math.floor((found.at ?? 0) / minuteMs);
  }

  busiestHosts(tenant: TenantId, from: number, limit: number): Promise<readonly BusyHost[]> {
    const step = () =>
      this.#lanes.reads.query<BusyHost>(
        tenant,
        `SELECT (array_agg(host ORDER BY rank DESC, at_position DESC))[1] AS host, count(*) AS count,
           (array_agg(level ORDER BY rank DESC, at_position DESC))[1] AS level
         FROM newest_of($1, $2, ${newestRows}) WHERE host IS NOT NULL AND at >= $2
         GROUP BY lower(host) ORDER BY count(*) DESC, lower(host) LIMIT $3`,
        [tenant, from, limit],
      );
    return this.#turns.run(tenant, step);
  }

  values(tenant: TenantId, { signal, ...wanted }: WantedValues): Promise<readonly string[]> {
    return this.#turns.run(tenant, stepsOf(this.#values(tenant, wanted)), signal);
  }

  async *#values(
    tenant: TenantId,
    { field, prefix: given, limit }: WantedValues,
  ): AsyncGenerator<void, readonly string[]> {
    const until = performance.now() + valuesMs;
    const prefix = field === 'key' ? given : given.toLowerCase();
    const column = columns[field];
    const terms = termsOf(tenant, field, prefix);
    if (!terms) return [];
    const { reads, steps } = this.#lanes;
    const log = await readLog(reads, tenant);
    if (!log) return [];
    const values = new Set<string>();
    const partitions = await reads.query<Partition>(
      tenant,
      'SELECT low, high FROM next_partitions($1, NULL, NULL, NULL, NULL)',
      [tenant],
    );
    for (const partition of partitions) {
      try {
        const rows = await steps.queryOnce<{ value: string }>(
          tenant,
          `SELECT DISTINCT ${column} AS value FROM ${logOf(partition)} n WHERE n.tenant = $1 AND n.tenant = policy_tenant()
             AND n.cleared IS NULL AND n.terms @@ $2::tsquery AND n.position >= $3 AND starts_with(${column}, $4) ORDER BY 1 LIMIT $5`,
          [tenant, tsqueryOf(terms), log.first, prefix, limit],
        );
        for (const { value } of rows) values.add(value);
      } catch (error) {
        if (!isTimeout(error) && !isMissingTable(error)) throw error;
      }
      if (performance.now() > until) break;
      yield;
    }
    return sortedValues(values, field).slice(0, limit);
  }
}

const columns = { host: 'lower(n.host)', ip: 'n.ip', source: 'n.source_ip', key: 'n.key' } as const;

/** Terms of what may have values of the field that begin so; undefined when nothing can. */
function termsOf(tenant: TenantId, field: WantedValues['field'], prefix: string): TermExpression | undefined {
  if (field === 'host' || field === 'key')
    return { kind: 'term', term: valueTerm(tenant, field, prefix), prefix: true };
  const ranges = addressesFrom(prefix).map((range) => ({ ...range, text: prefix }));
  return compileQuery({ kind: field, ranges }, tenant).terms;
}
