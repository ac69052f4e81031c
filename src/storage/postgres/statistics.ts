/** What overview, histogram and completion count. */
import type { TenantId } from '#core/ports.ts';
import type { BusyHost, Statistics, WantedValues } from '#core/statistics.ts';
import { sortedValues } from '../counting.ts';
import { type FairQueue, stepsOf } from '../fair-queue.ts';
import { typedPrefix, valueRanges, valuesMs, wantedValues } from '../field-values.ts';
import type { Connections } from './connections.ts';
import { countLog } from './count.ts';
import { partitionsAtOnce, readLog, readPartitions } from './partitions.ts';

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
      `SELECT DISTINCT ${columns[field]} AS value FROM unlisted_of($1, $2, ${newestRows}) n
       WHERE starts_with(${columns[field]}, $3) ORDER BY 1 LIMIT $4`,
      [tenant, withOthers.map(({ low }) => low), typedPrefix(wanted), limit],
    );
    for (const value of [...listed, ...unlisted.map((row) => row.value)]) values.add(value);
    if (performance.now() > until) break;
    yield;
  }
  return sortedValues(values, field).slice(0, limit);
}

const columns = { host: 'lower(n.host)', ip: 'n.ip', source: 'n.source_ip', key: 'n.key' } as const;
