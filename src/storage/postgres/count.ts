/** Counts the matches of a query by time and level, newest first. */
import type { TenantId } from '#core/ports.ts';
import type { Query } from '#core/search/search-query.ts';
import type { Counted, CountOptions, CountTimes, LevelCount } from '#core/statistics.ts';
import { countBudgetMs, levelsAlone, Tally, withoutLive, withTimes } from '../counting.ts';
import type { Connections } from './connections.ts';
import { type RecordRow, recordColumns, recordJoinsIn } from './rows.ts';
import {
  finite,
  foundIn,
  isFewLive,
  type Part,
  type PreparedQuery,
  prepareQuery,
  readBounds,
  type SearchLanes,
  testedRows,
  timeAt,
  walk,
  walkLive,
} from './walk.ts';

export const minuteMs = 60_000;

/** As `Statistics.count` promises; each `yield` ends a step. */
export async function* countInSteps(
  lanes: SearchLanes,
  { tenant, query, times }: { tenant: TenantId; query: Query; times: CountTimes },
  { now, timeoutMs = Number.POSITIVE_INFINITY }: CountOptions,
): AsyncGenerator<void, Counted> {
  const endsAt = performance.now() + timeoutMs;
  const prepared = prepareQuery(tenant, withTimes(query, times), now);
  const counter = new Counter(prepared, {
    ...times,
    after: finite(prepared.compiled.after),
    before: finite(prepared.compiled.before),
  });
  const levels = levelsAlone(query);
  if (levels && times.bucketMs % minuteMs === 0 && times.origin % minuteMs === 0) {
    await counter.countMinutes(lanes.reads, levels);
    return { counts: counter.tally.rows(), searchedTo: null };
  }
  if ((await isFewLive(lanes, prepared)) && (await counter.countLive(lanes.reads, withoutLive(query))))
    return { counts: counter.tally.rows(), searchedTo: null };
  const bounds = await readBounds(lanes.reads, tenant);
  if (!bounds) return { counts: [], searchedTo: null };
  const { first, head } = bounds;
  let leftMs = countBudgetMs;
  let startedAt = performance.now();
  for await (const last of counter.walk(lanes, { first, last: head })) {
    const steppedAt = performance.now();
    leftMs -= steppedAt - startedAt;
    if (last < first) break;
    if (last < head && (leftMs <= 0 || steppedAt >= endsAt)) {
      const searchedTo = (await timeAt(lanes.reads, tenant, last + 1)) ?? now;
      return { counts: counter.tally.rows(), searchedTo };
    }
    yield;
    startedAt = performance.now();
  }
  return { counts: counter.tally.rows(), searchedTo: null };
}

class Counter {
  readonly tally = new Tally();
  readonly #query: PreparedQuery;
  readonly #times: CountTimes;

  constructor(query: PreparedQuery, times: CountTimes) {
    this.#query = query;
    this.#times = times;
  }

  /** Yields the position from which on, downwards, is still to be counted. */
  async *walk(lanes: SearchLanes, range: { readonly first: number; readonly last: number }) {
    if (await isFewLive(lanes, this.#query))
      yield* walkLive(lanes, this.#query, range, (rows) => this.#addRows(rows));
    else yield* walk(lanes, this.#query, range, (part) => this.#count(part));
  }

  /** Whole minutes are counted already; the rows of minutes that are cut are counted one by one. */
  async countMinutes(reads: Connections, levels: readonly string[] | 'all'): Promise<void> {
    const { tenant } = this.#query;
    const { after, before, origin, bucketMs } = this.#times;
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
    this.#addCounts(minutes);
    const edges = [
      { after, before: Math.min(from * minuteMs, before) },
      { after: Math.max(upTo * minuteMs, after, from * minuteMs), before },
    ];
    for (const edge of edges) {
      if (edge.after >= edge.before) continue;
      const rows = await reads.query<LevelCount>(
        tenant,
        'count-edge',
        `SELECT (n.at - $5) / $6 AS bucket, n.level, count(*) AS count FROM log n JOIN logs k ON k.tenant = n.tenant AND n.row >= k.first_row
         WHERE n.tenant = $1 AND n.cleared IS NULL AND n.at >= $2 AND n.at < $3 AND ($4::text[] IS NULL OR n.level = ANY ($4))
         GROUP BY 1, 2`,
        [tenant, edge.after, edge.before, wanted, origin, bucketMs],
      );
      this.#addCounts(rows);
    }
  }

  /** Counts what is on panels, where the index decides all else that is asked; answers whether it does. */
  async countLive(reads: Connections, rest: Query): Promise<boolean> {
    const { tenant, now } = this.#query;
    const { compiled, values } = prepareQuery(tenant, withTimes(rest, this.#times), now);
    if (!compiled.exact) return false;
    const { origin, bucketMs } = this.#times;
    const counts = await reads.query<LevelCount>(
      tenant,
      'count-live',
      `SELECT (n.at - $6) / $7 AS bucket, n.level, count(*) AS count FROM live l JOIN log n ON n.row = l.row
       WHERE l.tenant = $1 AND (l.expires_at IS NULL OR l.expires_at > $5) AND n.terms @@ $2::tsquery
         AND n.at >= $3 AND n.at < $4 GROUP BY 1, 2`,
      [...values, now, origin, bucketMs],
    );
    this.#addCounts(counts);
    return true;
  }

  async #count({ connections, partition, first, last }: Part): Promise<number> {
    const { tenant, values, compiled, matches } = this.#query;
    const { origin, bucketMs } = this.#times;
    if (compiled.exact) {
      const counts = await connections.query<LevelCount>(
        tenant,
        '',
        `SELECT (n.at - $7) / $8 AS bucket, n.level, count(*) AS count FROM ${foundIn(partition)} GROUP BY 1, 2`,
        [...values, first, last, origin, bucketMs],
      );
      this.#addCounts(counts);
      return first;
    }
    const rows = await connections.query<RecordRow>(
      tenant,
      '',
      `SELECT ${recordColumns} FROM (
         SELECT n.* FROM ${foundIn(partition)} ORDER BY n.position DESC LIMIT ${testedRows}
       ) n ${recordJoinsIn(partition)} ORDER BY n.position DESC`,
      [...values, first, last],
    );
    this.#addRows(rows.filter(matches));
    return rows.length < testedRows ? first : (rows.at(-1) as RecordRow).position;
  }

  #addRows(rows: readonly RecordRow[]): void {
    const { origin, bucketMs } = this.#times;
    for (const { at, level } of rows) this.tally.add(Math.floor((at - origin) / bucketMs), level, 1);
  }

  #addCounts(counts: readonly LevelCount[]): void {
    for (const { bucket, level, count } of counts) this.tally.add(bucket, level, count);
  }
}
