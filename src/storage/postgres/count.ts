/** Counts the matches of a query by time and level, newest first. */
import type { TenantId } from '#core/ports.ts';
import type { Query } from '#core/search/search-query.ts';
import type { Counted, CountOptions, CountTimes, LevelCount } from '#core/statistics.ts';
import { levelsAlone, minuteMs, Tally, withoutLive, withTimes } from '../counting.ts';
import { countInSteps, timer } from '../log-search.ts';
import { logOf, type Partition, readPartitions } from './partitions.ts';
import {
  finite,
  foundIn,
  type PostgresPart,
  PostgresSearch,
  readBounds,
  type SearchLanes,
} from './search.ts';

/** As `Statistics.count` promises; each `yield` ends a step. */
export async function* countLog(
  lanes: SearchLanes,
  { tenant, query, times }: { tenant: TenantId; query: Query; times: CountTimes },
  { now, timeoutMs }: CountOptions,
): AsyncGenerator<void, Counted> {
  const isOver = timer(timeoutMs);
  const bounds = await readBounds(lanes.reads, tenant);
  if (!bounds) return { counts: [], searchedTo: null };
  const { first, head } = bounds;
  const scope = { now, head, range: { low: first, high: head } };
  const search = new PostgresSearch(lanes, tenant, withTimes(query, times), scope);
  const { after, before } = search.compiled;
  const tally = new Tally({ ...times, after: finite(after), before: finite(before) });
  const counter = new Counter(lanes, tenant, search, tally);
  const levels = levelsAlone(query);
  if (levels && tally.isOfMinutes) {
    await counter.countMinutes(levels);
    return { counts: tally.rows(), searchedTo: null };
  }
  const rest = new PostgresSearch(lanes, tenant, withTimes(withoutLive(query), times), scope);
  const live = rest.compiled.exact ? await search.fewLive() : undefined;
  if (live) {
    for (const partition of live) await counter.countLive(rest, partition, now);
    return { counts: tally.rows(), searchedTo: null };
  }
  const { searchedTo } = yield* countInSteps(search, tally, (part) => counter.count(part), isOver);
  return { counts: tally.rows(), searchedTo };
}

class Counter {
  readonly #lanes: SearchLanes;
  readonly #tenant: TenantId;
  readonly #search: PostgresSearch;
  readonly #tally: Tally;

  constructor(lanes: SearchLanes, tenant: TenantId, search: PostgresSearch, tally: Tally) {
    this.#lanes = lanes;
    this.#tenant = tenant;
    this.#search = search;
    this.#tally = tally;
  }

  /** Counts a part that the index decides. */
  count(part: PostgresPart): Promise<number> {
    const { origin, bucketMs } = this.#tally.times;
    return this.#search.within(part, async (connections, { low, high }) => {
      const counts = await connections.query<LevelCount>(
        this.#tenant,
        '',
        `SELECT (n.at - $7) / $8 AS bucket, n.level, count(*) AS count FROM ${foundIn(part.partition)} GROUP BY 1, 2`,
        [...this.#search.values, low, high, origin, bucketMs],
      );
      this.#tally.addAll(counts);
      return low;
    });
  }

  /** Counts what is on panels of one partition, where the index decides the rest of the query. */
  async countLive(rest: PostgresSearch, partition: Partition, now: number): Promise<void> {
    const { origin, bucketMs } = this.#tally.times;
    const counts = await this.#lanes.reads.query<LevelCount>(
      this.#tenant,
      '',
      `SELECT (n.at - $6) / $7 AS bucket, n.level, count(*) AS count FROM live l JOIN ${logOf(partition)} n ON n.row = l.row
       WHERE l.tenant = $1 AND l.row >= ${partition.low} AND l.row < ${partition.high} AND (l.expires_at IS NULL OR l.expires_at > $5)
         AND n.terms @@ $2::tsquery AND n.at >= $3 AND n.at < $4 GROUP BY 1, 2`,
      [...rest.values, now, origin, bucketMs],
    );
    this.#tally.addAll(counts);
  }

  /** Whole minutes are counted already; the rows of minutes that are cut are counted one by one. */
  async countMinutes(levels: readonly string[] | 'all'): Promise<void> {
    const [tenant, { reads }] = [this.#tenant, this.#lanes];
    const { after, before, origin, bucketMs } = this.#tally.times;
    const wanted = levels === 'all' ? null : levels;
    const [log] = await reads.query<{ dropped: number }>(
      tenant,
      'dropped-minute',
      'SELECT dropped_minute AS dropped FROM logs WHERE tenant = $1',
      [tenant],
    );
    if (!log) return;
    const upTo = Math.floor(before / minuteMs);
    const from = Math.max(Math.ceil(after / minuteMs), log.dropped + 1);
    const minutes = await reads.query<LevelCount>(
      tenant,
      'count-minutes',
      `SELECT (minute * ${minuteMs} - $5) / $6 AS bucket, level, sum(count)::bigint AS count FROM minutes
       WHERE tenant = $1 AND minute >= $2 AND minute < $3 AND ($4::text[] IS NULL OR level = ANY ($4)) GROUP BY 1, 2`,
      [tenant, from, upTo, wanted, origin, bucketMs],
    );
    this.#tally.addAll(minutes);
    const edges = [
      { after, before: Math.min(from * minuteMs, before) },
      { after: Math.max(upTo * minuteMs, after, from * minuteMs), before },
    ];
    for (const edge of edges) {
      if (edge.after >= edge.before) continue;
      for (const partition of await readPartitions(reads, tenant, edge)) {
        const rows = await reads.query<LevelCount>(
          tenant,
          '',
          `SELECT (n.at - $5) / $6 AS bucket, n.level, count(*) AS count FROM ${logOf(partition)} n JOIN logs k ON k.tenant = n.tenant AND n.row >= k.first_row
           WHERE n.tenant = $1 AND n.cleared IS NULL AND n.at >= $2 AND n.at < $3 AND ($4::text[] IS NULL OR n.level = ANY ($4))
           GROUP BY 1, 2`,
          [tenant, edge.after, edge.before, wanted, origin, bucketMs],
        );
        this.#tally.addAll(rows);
      }
    }
  }
}
