/** What overview, histogram and completion count. */
import { addressesFrom } from '#core/address-prefix.ts';
import { addressKey, compareAddresses } from '#core/addresses.ts';
import type { TenantId } from '#core/ports.ts';
import { addressDigits, addressHex, addressTerm, valueTerm } from '#core/search/index-terms.ts';
import { families, type TermExpression } from '#core/search/search-compile.ts';
import type { Query } from '#core/search/search-query.ts';
import type {
  BusyHost,
  Counted,
  CountOptions,
  CountTimes,
  LevelCount,
  MinuteCount,
  Statistics,
  WantedValues,
} from '#core/statistics.ts';
import type { FairQueue } from '../sqlite/fair-queue.ts';
import type { Connections } from './connections.ts';
import { readPartitions } from './partitions.ts';
import { type RecordRow, recordColumns, recordJoins } from './rows.ts';
import { finite, prepareQuery, tsqueryOf } from './search.ts';

const minuteMs = 60_000;
/** A count takes no more time than this. */
const countMs = 500;
/** How long values are looked for, the newest partitions first. */
const valuesMs = 150;
/** Notifications looked at for the busiest hosts. */
const newestRows = 10_000;
/** Rows that are tested one by one, read at once. */
const testedRows = 1_000;

export class PostgresStatistics implements Statistics {
  readonly #reads: Connections;
  readonly #searches: Connections;
  readonly #turns: FairQueue;

  constructor(reads: Connections, searches: Connections, turns: FairQueue) {
    this.#reads = reads;
    this.#searches = searches;
    this.#turns = turns;
  }

  count(tenant: TenantId, query: Query, times: CountTimes, options: CountOptions): Promise<Counted> {
    return this.#turns.run(tenant, () => this.#count(tenant, query, times, options), options.signal);
  }

  async #count(
    tenant: TenantId,
    query: Query,
    times: CountTimes,
    { now, timeoutMs = countMs, signal }: CountOptions,
  ): Promise<Counted> {
    const endsAt = performance.now() + Math.min(timeoutMs, countMs);
    const timed: Query = {
      kind: 'and',
      terms: [...conjuncts(query), { kind: 'after', at: times.after }, { kind: 'before', at: times.before }],
    };
    const { compiled, tsquery, matches } = prepareQuery(tenant, timed, now);
    const tally = new Tally(times);
    const parts = [tenant, tsquery, finite(compiled.after), finite(compiled.before)];
    const levels = levelsAlone(query);
    if (levels && times.bucketMs % minuteMs === 0 && times.origin % minuteMs === 0) {
      await this.#countMinutes(tally, tenant, levels, {
        ...times,
        after: parts[2] as number,
        before: parts[3] as number,
      });
      return { counts: tally.counts(), searchedTo: null };
    }
    for (const { low, high } of await readPartitions(this.#searches)) {
      signal?.throwIfAborted();
      if (performance.now() > endsAt)
        return { counts: tally.counts(), searchedTo: await this.#timeAt(tenant, high) };
      if (compiled.exact) {
        const counts = await this.#searches.query<LevelCount>(
          'count',
          `SELECT floor((n.at - $7)::numeric / $8)::bigint AS bucket, n.level, count(*) AS count
           FROM log n JOIN logs k ON k.tenant = n.tenant AND n.row >= k.first_row
           WHERE n.row >= $5 AND n.row < $6 AND n.tenant = $1 AND n.cleared IS NULL AND n.terms @@ $2::tsquery
             AND n.at >= $3 AND n.at < $4 GROUP BY 1, 2`,
          [...parts, low, high, times.origin, times.bucketMs],
        );
        for (const { bucket, level, count } of counts) tally.addTo(bucket, level, count);
        continue;
      }
      for (let below = high; ; ) {
        const rows = await this.#searches.query<RecordRow>(
          'count-tested',
          `SELECT ${recordColumns} FROM (
             SELECT n.* FROM log n JOIN logs k ON k.tenant = n.tenant AND n.row >= k.first_row
             WHERE n.row >= $5 AND n.row < $6 AND n.tenant = $1 AND n.cleared IS NULL AND n.terms @@ $2::tsquery
               AND n.at >= $3 AND n.at < $4 ORDER BY n.row DESC LIMIT ${testedRows}
           ) n ${recordJoins} ORDER BY n.row DESC`,
          [...parts, low, below],
        );
        for (const row of rows) if (matches(row)) tally.add(row.at, row.level, 1);
        if (rows.length < testedRows) break;
        below = (rows.at(-1) as RecordRow).row;
        if (performance.now() > endsAt)
          return { counts: tally.counts(), searchedTo: await this.#timeAt(tenant, below) };
      }
    }
    return { counts: tally.counts(), searchedTo: null };
  }

  /** Whole minutes are counted already; the rows of minutes that are cut are counted one by one. */
  async #countMinutes(
    tally: Tally,
    tenant: TenantId,
    levels: readonly string[] | null,
    times: CountTimes,
  ): Promise<void> {
    const whole = { from: Math.ceil(times.after / minuteMs), upTo: Math.floor(times.before / minuteMs) };
    const kept = (await this.#firstMinute(tenant)) + 1;
    const from = Math.max(whole.from, kept);
    const counts = await this.#searches.query<MinuteCount & { minute: number }>(
      'count-minutes',
      `SELECT minute, level, count FROM minutes
       WHERE tenant = $1 AND minute >= $2 AND minute < $3 AND ($4::text[] IS NULL OR level = ANY ($4))`,
      [tenant, from, whole.upTo, levels],
    );
    for (const { minute, level, count } of counts) tally.add(minute * minuteMs, level, count);
    const edges = [
      { after: times.after, before: Math.min(from * minuteMs, times.before) },
      { after: Math.max(whole.upTo * minuteMs, times.after, from * minuteMs), before: times.before },
    ];
    for (const { after, before } of edges) {
      if (after >= before) continue;
      const rows = await this.#searches.query<{ at: number; level: string }>(
        'count-edge',
        `SELECT n.at, n.level FROM log n JOIN logs k ON k.tenant = n.tenant AND n.row >= k.first_row
         WHERE n.tenant = $1 AND n.cleared IS NULL AND n.at >= $2 AND n.at < $3 AND ($4::text[] IS NULL OR n.level = ANY ($4))`,
        [tenant, Math.ceil(after), Math.ceil(before), levels],
      );
      for (const { at, level } of rows) tally.add(at, level, 1);
    }
  }

  async #timeAt(tenant: TenantId, row: number): Promise<number> {
    const [found] = await this.#searches.query<{ at: number }>(
      'time-at',
      'SELECT at FROM log WHERE tenant = $1 AND row >= $2 ORDER BY position LIMIT 1',
      [tenant, row],
    );
    return found?.at ?? Date.now();
  }

  /** The minute of the oldest notification that is kept; of that minute some may be gone. */
  async #firstMinute(tenant: TenantId): Promise<number> {
    const [found] = await this.#reads.query<{ minute: number | null }>(
      'first-minute',
      `SELECT CASE WHEN k.first = 1 THEN -1 ELSE n.at / ${minuteMs} END AS minute FROM logs k
       LEFT JOIN log n ON n.tenant = k.tenant AND n.position = k.first WHERE k.tenant = $1`,
      [tenant],
    );
    return found?.minute ?? -1;
  }

  async minutes(tenant: TenantId, from: number): Promise<readonly MinuteCount[]> {
    const first = Math.max(Math.ceil(from / minuteMs), await this.#firstMinute(tenant));
    const rows = await this.#reads.query<{ minute: number; level: string; count: number }>(
      'minutes',
      'SELECT minute, level, count FROM minutes WHERE tenant = $1 AND minute >= $2 ORDER BY minute, level',
      [tenant, first],
    );
    return rows.map(({ minute, level, count }) => ({ at: minute * minuteMs, level, count }));
  }

  async received(tenant: TenantId, from: number): Promise<number> {
    return (await this.minutes(tenant, from)).reduce((sum, { count }) => sum + count, 0);
  }

  busiestHosts(tenant: TenantId, from: number, limit: number): Promise<readonly BusyHost[]> {
    const step = () =>
      this.#searches.query<BusyHost>(
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
    return this.#turns.run(tenant, () => this.#values(tenant, wanted), signal);
  }

  async #values(tenant: TenantId, { field, prefix: given, limit }: WantedValues): Promise<readonly string[]> {
    const until = performance.now() + valuesMs;
    const prefix = field === 'key' ? given : given.toLowerCase();
    const columns = { host: 'lower(n.host)', ip: 'n.ip', source: 'n.source_ip', key: 'n.key' } as const;
    const column = columns[field];
    const terms = termsOf(tenant, field, prefix);
    if (!terms) return [];
    const values = new Set<string>();
    for (const { low, high } of await readPartitions(this.#searches)) {
      const rows = await this.#searches.query<{ value: string }>(
        `values-${field}`,
        `SELECT DISTINCT ${column} AS value FROM log n JOIN logs k ON k.tenant = n.tenant AND n.row >= k.first_row
         WHERE n.row >= $4 AND n.row < $5 AND n.tenant = $1 AND n.cleared IS NULL AND n.terms @@ $2::tsquery
           AND starts_with(${column}, $3) ORDER BY 1 LIMIT $6`,
        [tenant, terms, prefix, low, high, limit],
      );
      for (const { value } of rows) values.add(value);
      if (performance.now() > until) break;
    }
    return sorted([...values], field).slice(0, limit);
  }
}

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

function sorted(values: string[], field: WantedValues['field']): string[] {
  if (field === 'host' || field === 'key') return values.sort((a, b) => (a < b ? -1 : 1));
  return values
    .map((text) => ({ text, key: addressKey(text) }))
    .sort((a, b) => compareAddresses(a.key, b.key))
    .map(({ text }) => text);
}

const conjuncts = (query: Query) =>
  query.kind === 'and' ? query.terms : query.kind === 'all' ? [] : [query];

/** The levels that a query asks for when it asks for nothing else (null: all of them); undefined when it asks for more. */
function levelsAlone(query: Query): readonly string[] | null | undefined {
  const [first, second] = conjuncts(query).filter(({ kind }) => kind !== 'after' && kind !== 'before');
  if (first === undefined) return null;
  return first.kind === 'level' && second === undefined ? first.names : undefined;
}

/** Counts by bucket and level. */
class Tally {
  readonly #times: CountTimes;
  readonly #counts = new Map<string, LevelCount>();

  constructor(times: CountTimes) {
    this.#times = times;
  }

  add(at: number, level: string, count: number): void {
    this.addTo(Math.floor((at - this.#times.origin) / this.#times.bucketMs), level, count);
  }

  addTo(bucket: number, level: string, count: number): void {
    const key = `${bucket} ${level}`;
    const known = this.#counts.get(key);
    this.#counts.set(key, { bucket, level, count: (known?.count ?? 0) + count });
  }

  counts(): readonly LevelCount[] {
    return [...this.#counts.values()];
  }
}
