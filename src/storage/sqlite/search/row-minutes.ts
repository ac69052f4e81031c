/** The minutes in which the rows of a partition were received. */
import { minuteMs } from '../../log/counting.ts';
import { finite } from '../../log/history-rows.ts';
import type { LogRange } from '../../log/log-search.ts';
import type { Partition, Statements } from '../log/partitions.ts';

/** Narrows indexed rows to those that may be from these times. Rows of other times may be among them, because clocks may go back. */
export function rowsInTimes(
  sql: Statements,
  { firstRow, firstMinute, lastMinute }: Partition,
  { after, before }: { readonly after: number; readonly before: number },
  { low, high }: LogRange,
): LogRange {
  const nothing = { low: 1, high: 0 };
  const [first, last] = [after, before - 1].map((at) => Math.floor(finite(at) / minuteMs)) as [
    number,
    number,
  ];
  if (firstMinute === null || lastMinute === null || lastMinute < first || firstMinute > last) return nothing;
  if (first <= firstMinute && lastMinute <= last) return { low, high };
  const { from, upTo, end } = sql
    .of<[{ firstRow: number; high: number; first: number; last: number }], Record<string, number | null>>(
      `WITH runs AS MATERIALIZED (
         SELECT (SELECT min(row) FROM row_minutes WHERE row BETWEEN @firstRow AND @high AND minute >= @first) AS "from",
           (SELECT max(row) FROM row_minutes WHERE row BETWEEN @firstRow AND @high AND minute <= @last) AS "upTo"
       ) SELECT *, (SELECT min(row) FROM row_minutes WHERE row > runs."upTo") AS "end" FROM runs`,
    )
    .get({ firstRow, high, first, last }) as Record<string, number | null>;
  if (from == null || upTo == null) return nothing;
  return { low: Math.max(low, from), high: Math.min(high, (end ?? high + 1) - 1) };
}
