/** Counts the matches of a query by time and level, newest first. */
import type { TenantId } from '#core/ports.ts';
import type { Query } from '#core/search/search-query.ts';
import type { Counted, CountOptions, CountTimes, LevelCount } from '#core/statistics.ts';
import { levelsAlone, minuteMs, Tally, withTimes } from '../counting.ts';
import { countInSteps, timer } from '../log-search.ts';
import type { Connections } from './connections.ts';
import { openSearch, type PostgresPart, type PostgresSearch } from './search.ts';

/** As `Statistics.count` promises; each `yield` ends a step. */
export async function* countLog(
  connections: Connections,
  { tenant, query, times }: { tenant: TenantId; query: Query; times: CountTimes },
  { now, timeoutMs }: CountOptions,
): AsyncGenerator<void, Counted> {
  const isOver = timer(timeoutMs);
  const open = (within: Pick<CountTimes, 'after' | 'before'>) =>
    openSearch(connections, tenant, withTimes(query, { ...times, ...within }), { now });
  const search = await open(times);
  if (!search) return { counts: [], searchedTo: null };
  const { after, before } = search.times;
  const tally = new Tally({ ...times, after, before });
  const countRows = async function* (found: PostgresSearch | undefined) {
    if (!found) return { counts: tally.rows(), searchedTo: null };
    const count = (part: PostgresPart) => found.count(part, tally.times, (counts) => tally.addAll(counts));
    const { searchedTo } = yield* countInSteps(found, tally, count, isOver);
    return { counts: tally.rows(), searchedTo };
  };

  const levels = levelsAlone(query);
  if (levels && tally.isOfMinutes) {
    const from = Math.max(Math.ceil(after / minuteMs), search.droppedMinute + 1) * minuteMs;
    const upTo = Math.max(Math.floor(before / minuteMs) * minuteMs, from);
    // The minutes that are cut are counted row by row, the newer one first.
    const newer = upTo < before ? yield* countRows(await open({ after: upTo, before })) : undefined;
    if (newer && newer.searchedTo !== null) return newer;
    await addMinutes(connections, tenant, tally, { levels, from, upTo });
    return yield* countRows(await open({ after, before: Math.min(from, before) }));
  }
  return yield* countRows(search);
}

/** Adds what is counted already of the minutes between two times. */
async function addMinutes(
  connections: Connections,
  tenant: TenantId,
  tally: Tally,
  wanted: { readonly levels: readonly string[] | 'all'; readonly from: number; readonly upTo: number },
) {
  const { origin, bucketMs } = tally.times;
  const levels = wanted.levels === 'all' ? null : wanted.levels;
  const minutes = await connections.query<LevelCount>(
    tenant,
    `SELECT (minute * ${minuteMs} - $5) / $6 AS bucket, level, sum(count)::bigint AS count FROM minutes
     WHERE tenant = $1 AND minute >= $2 AND minute < $3 AND ($4::text[] IS NULL OR level = ANY ($4)) GROUP BY 1, 2`,
    [tenant, wanted.from / minuteMs, wanted.upTo / minuteMs, levels, origin, bucketMs],
  );
  tally.addAll(minutes);
}
