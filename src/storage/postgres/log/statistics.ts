/** What overview, histogram and completion count. */

import { mapPatternFields, patternFields } from '#contract/history/fields.ts';
import { type FairQueue, stepsOf } from '#core/limits/concurrency.ts';
import type { TenantId } from '#core/log/route.ts';
import type {
  BusyHost,
  Counted,
  CountOptions,
  CountTimes,
  LevelCount,
  Statistics,
  WantedValues,
} from '#core/log/statistics.ts';
import type { Query } from '#core/search/search-query.ts';
import {
  countInSteps,
  levelsAlone,
  minuteMs,
  sortedValues,
  Tally,
  timer,
  typedPrefix,
  valueRanges,
  valuesMs,
  wantedValues,
  wantsLabelNames,
  withTimes,
} from '../../search/log-search.ts';
import type { Connections } from '../connections.ts';
import { partitionsAtOnce, readLog, readPartitions } from './partitions.ts';
import { openSearch, type PostgresPart, type PostgresSearch } from './search.ts';

/** Notifications looked at for the busiest hosts, and for values that are in no list of terms yet. */
const newestRows = 10_000;

export interface StatisticsLanes {
  readonly reads: Connections;
  /** For what may take long: it waits in `turns`. */
  readonly steps: Connections;
  readonly turns: FairQueue;
}

export const createPostgresStatistics = ({ reads, steps, turns }: StatisticsLanes): Statistics => ({
  count: (tenant, query, times, options) =>
    turns.run(tenant, stepsOf(countLog(steps, { tenant, query, times }, options)), options.signal),

  busiestHosts: (tenant, from, limit) =>
    turns.run(tenant, () =>
      reads.query<BusyHost>(
        tenant,
        `SELECT (array_agg(host ORDER BY rank DESC, at_position DESC))[1] AS host, count(*) AS count,
           (array_agg(level ORDER BY rank DESC, at_position DESC))[1] AS level
         FROM newest_of($1, $2, ${newestRows}) WHERE host IS NOT NULL AND at >= $2
         GROUP BY lower(host) ORDER BY count(*) DESC, lower(host) LIMIT $3`,
        [tenant, from, limit],
      ),
    ),

  values: (tenant, { signal, ...wanted }) =>
    turns.run(tenant, stepsOf(readValues(steps, tenant, wanted)), signal),
});

/** As `Statistics.count` promises; each `yield` ends a step. */
async function* countLog(
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

async function* readValues(
  connections: Connections,
  tenant: TenantId,
  wanted: WantedValues,
): AsyncGenerator<void, readonly string[]> {
  const until = performance.now() + valuesMs;
  const { field, limit } = wanted;
  const ranges = valueRanges(tenant, wanted);
  const log = await readLog(connections, tenant);
  if (!log || ranges.length === 0) return [];
  const partitions = await readPartitions(connections, tenant, log);
  const values = new Set<string>();
  while (partitions.length > 0) {
    const some = partitions.splice(0, partitionsAtOnce);
    const terms = await connections.query<{ term: string }>(
      tenant,
      'SELECT listed_terms($1, $2, $3, $4, $5) AS term',
      [
        tenant,
        some.map(({ low }) => low),
        ranges.map(({ from }) => from),
        ranges.map(({ upTo }) => upTo),
        ranges[0]?.limit,
      ],
    );
    const listed = wantedValues(
      terms.map(({ term }) => term),
      wanted,
    );
    const withOthers = some.filter((partition) => partition.listed < partition.high);
    const unlisted = await connections.query<{ value: string }>(
      tenant,
      `SELECT DISTINCT value FROM unlisted_of($1, $2, ${newestRows}) n, LATERAL (${wantsLabelNames(wanted) ? labelNames : valuesOf[field]}) AS found (value)
       WHERE starts_with(value, $3) ORDER BY 1 LIMIT $4`,
      [tenant, withOthers.map(({ low }) => low), typedPrefix(wanted), limit],
    );
    for (const value of [...listed, ...unlisted.map((row) => row.value)]) values.add(value);
    if (performance.now() > until) break;
    yield;
  }
  return sortedValues(values, field).slice(0, limit);
}

const labelNames = "SELECT lower(name) || '=' FROM json_object_keys(n.labels::json) AS name";

/** The values that a row `n` has of a field, in the form of searches. */
const valuesOf: Readonly<Record<WantedValues['field'], string>> = {
  ...mapPatternFields(
    (field) => `SELECT ${patternFields[field].ignoresCase ? `lower(n.${field})` : `n.${field}`}`,
  ),
  label: "SELECT lower(one.key || '=' || one.value) FROM json_each_text(n.labels::json) one",
  ...{ ip: 'SELECT n.ip', source: 'SELECT n.source_ip' },
};
