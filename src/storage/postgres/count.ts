/** Counts the matches of a query by time and level, newest first. */
import type { TenantId } from '#core/ports.ts';
import type { Query } from '#core/search/search-query.ts';
import type { Counted, CountOptions, CountTimes, LevelCount } from '#core/statistics.ts';
import { levelsAlone, minuteMs, Tally, withoutLive, withTimes } from '../counting.ts';
import { countInSteps, timer } from '../log-search.ts';
import type { Connections } from './connections.ts';
import { againIfDropped, readLog } from './partitions.ts';
import type { Looked } from './rows.ts';
import { finite, type PostgresPart, PostgresSearch, type SearchLanes } from './search.ts';

/** As `Statistics.count` promises; each `yield` ends a step. */
export async function* countLog(
  lanes: SearchLanes,
  { tenant, query, times }: { tenant: TenantId; query: Query; times: CountTimes },
  { now, timeoutMs }: CountOptions,
): AsyncGenerator<void, Counted> {
  const isOver = timer(timeoutMs);
  const log = await readLog(lanes.reads, tenant);
  if (!log) return { counts: [], searchedTo: null };
  const scope = { now, head: log.head, range: { low: log.first, high: log.head } };
  const searchIn = (within: Pick<CountTimes, 'after' | 'before'>, of = query) =>
    new PostgresSearch(lanes, tenant, withTimes(of, { ...times, ...within }), scope);
  const search = searchIn(times);
  const [after, before] = [finite(search.compiled.after), finite(search.compiled.before)];
  const tally = new Tally({ ...times, after, before });
  const countRows = async function* (found: PostgresSearch) {
    const { searchedTo } = yield* countInSteps(found, tally, (part) => addRows(found, part, tally), isOver);
    return { counts: tally.rows(), searchedTo };
  };

  const levels = levelsAlone(query);
  if (levels && tally.isOfMinutes) {
    const from = Math.max(Math.ceil(after / minuteMs), log.dropped_minute + 1) * minuteMs;
    const upTo = Math.max(Math.floor(before / minuteMs) * minuteMs, from);
    // The minutes that are cut are counted row by row, the newer one first.
    const newer = upTo < before ? yield* countRows(searchIn({ after: upTo, before })) : undefined;
    if (newer && newer.searchedTo !== null) return newer;
    await addMinutes(lanes.reads, tenant, tally, { levels, from, upTo });
    return yield* countRows(searchIn({ after, before: Math.min(from, before) }));
  }
  const rest = searchIn(times, withoutLive(query));
  if (!search.compiled.termsUnlessLive && rest.compiled.exact && (await search.areFewLive())) {
    await addLive(lanes.reads, tenant, tally, [...rest.values, now]);
    return { counts: tally.rows(), searchedTo: null };
  }
  return yield* countRows(search);
}

/** Counts a part that the index decides. */
function addRows(search: PostgresSearch, part: PostgresPart, tally: Tally): Promise<number> {
  const { origin, bucketMs } = tally.times;
  return search.within(part, async (connections, { low, high }, nextRow) => {
    const counts = await connections.query<LevelCount & Looked>(
      search.tenant,
      'SELECT * FROM count_rows($1, $2, $7, $3, $4, $5, $6, $8, $9, $10)',
      [...search.values, low, high, search.termsAlone, nextRow, origin, bucketMs],
    );
    const looked = counts.pop() as Looked;
    tally.addAll(counts);
    return looked;
  });
}

/** Counts what is on panels, where the index decides the rest of the query; `values` are its, and the time. */
async function addLive(reads: Connections, tenant: TenantId, tally: Tally, values: readonly unknown[]) {
  const { origin, bucketMs } = tally.times;
  const counts = await againIfDropped(() =>
    reads.query<LevelCount>(
      tenant,
      `SELECT (n.at - $6) / $7 AS bucket, n.level, count(*) AS count FROM entries_of($1, (
         SELECT array_agg(row) FROM live WHERE tenant = $1 AND (expires_at IS NULL OR expires_at > $5))) n
       WHERE n.terms @@ $2::tsquery AND n.at >= $3 AND n.at < $4 GROUP BY 1, 2`,
      [...values, origin, bucketMs],
    ),
  );
  tally.addAll(counts);
}

/** Adds what is counted already of the minutes between two times. */
async function addMinutes(
  reads: Connections,
  tenant: TenantId,
  tally: Tally,
  wanted: { readonly levels: readonly string[] | 'all'; readonly from: number; readonly upTo: number },
) {
  const { origin, bucketMs } = tally.times;
  const levels = wanted.levels === 'all' ? null : wanted.levels;
  const minutes = await reads.query<LevelCount>(
    tenant,
    `SELECT (minute * ${minuteMs} - $5) / $6 AS bucket, level, sum(count)::bigint AS count FROM minutes
     WHERE tenant = $1 AND minute >= $2 AND minute < $3 AND ($4::text[] IS NULL OR level = ANY ($4)) GROUP BY 1, 2`,
    [tenant, wanted.from / minuteMs, wanted.upTo / minuteMs, levels, origin, bucketMs],
  );
  tally.addAll(minutes);
}
