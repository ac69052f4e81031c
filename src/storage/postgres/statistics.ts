/** What overview, histogram and completion count. */
import { addressesFrom } from '#core/address-prefix.ts';
import type { TenantId } from '#core/ports.ts';
import { families } from '#core/search/address-blocks.ts';
import { addressDigits, addressHex, addressTerm, valueTerm } from '#core/search/index-terms.ts';
import type { TermExpression } from '#core/search/search-compile.ts';
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
import { readPartitions } from './partitions.ts';
import { finite, foundIn, readBounds, type SearchLanes, tsqueryOf } from './search.ts';

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
      'minutes',
      'SELECT minute, level, count FROM minutes WHERE tenant = $1 AND minute >= $2 ORDER BY minute, level',
      [tenant, first],
    );
    return rows.map(({ minute, level, count }) => ({ at: minute * minuteMs, level, count }));
  }

  /** The minute of the oldest notification that is kept; infinity when none is. */
  async #firstMinute(tenant: TenantId): Promise<number> {
    const [found] = await this.#lanes.reads.query<{ first: number; head: number; at: number | null }>(
      tenant,
      'first-minute',
      `SELECT k.first, k.head, n.at FROM logs k
       LEFT JOIN log n ON n.tenant = k.tenant AND n.position = k.first WHERE k.tenant = $1`,
      [tenant],
    );
    if (!found || found.first > found.head) return Number.POSITIVE_INFINITY;
    return found.first === 1 ? 0 : Math.floor((found.at ?? 0) / minuteMs);
  }

  busiestHosts(tenant: TenantId, from: number, limit: number): Promise<readonly BusyHost[]> {
    const step = () =>
      this.#lanes.reads.query<BusyHost>(
        tenant,
        'busiest-hosts',
        `SELECT (array_agg(host ORDER BY rank DESC, position DESC))[1] AS host, count(*) AS count,
           (array_agg(level ORDER BY rank DESC, position DESC))[1] AS level
         FROM (
           SELECT n.host, n.level, n.rank, n.position, n.at FROM log n JOIN logs k ON k.tenant = n.tenant AND n.row >= k.first_row
           WHERE n.tenant = $1 AND n.cleared IS NULL ORDER BY n.position DESC LIMIT ${newestRows}
         ) newest WHERE host IS NOT NULL AND at >= $2
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
    const bounds = await readBounds(reads, tenant);
    if (!bounds) return [];
    const values = new Set<string>();
    for (const partition of await readPartitions(reads, tenant)) {
      try {
        const rows = await steps.query<{ value: string }>(
          tenant,
          '',
          `SELECT DISTINCT ${column} AS value FROM ${foundIn(partition)} AND starts_with(${column}, $7) ORDER BY 1 LIMIT $8`,
          [tenant, terms, finite(-Infinity), finite(Infinity), bounds.first, bounds.head, prefix, limit],
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

/** A tsquery of what may have values of the field that begin so; undefined when nothing can. */
function termsOf(tenant: TenantId, field: WantedValues['field'], prefix: string): string | undefined {
  if (field === 'host' || field === 'key')
    return tsqueryOf({ kind: 'term', term: valueTerm(tenant, field, prefix), prefix: true });
  const spans = addressesFrom(prefix).flatMap((span) => [...families(span)]);
  const of = spans.map(([low, high]): TermExpression => {
    const { family, digits } = addressHex(low);
    const last = addressHex(high).digits;
    let length = 0;
    while (length < digits.length && digits[length] === last[length]) length += 1;
    const size = addressDigits[family].at(-1) as number;
    const term = addressTerm(tenant, field, { family, size, digits: digits.slice(0, length) });
    return { kind: 'term', term, prefix: length < size };
  });
  return of.length === 0 ? undefined : tsqueryOf({ kind: 'or', of });
}
