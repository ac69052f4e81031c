/** The rows of states that notifications enter later. They are in tables of their own, and found as if the index had a term for each state. */
import type { TenantId } from '#core/log/route.ts';
import { flagTerm, type LaterState } from '#core/search/index-terms.ts';
import type { LogRange } from '../../search/log-search.ts';
import type { RowSet } from '../../search/row-set.ts';
import { type Partition, type Statements, tablesOf } from '../log/partitions.ts';

/** With more rows of a state in a partition than this, as of reports of panels, rows are tested for it: to list them all would take longer. */
const mostRows = 500_000;

/** By the term of a state, how its rows of a partition are added, maybe with those of other tenants. False: there are too many. */
export type StateRows = ReadonlyMap<string, (partition: Partition, found: RowSet) => boolean>;

/** As of `now`, and only rows of the range that is searched. */
export function stateRows(
  sql: Statements,
  { tenant, now, range }: { readonly tenant: TenantId; readonly now: number; readonly range: LogRange },
): StateRows {
  const state = (
    flag: LaterState,
    tableOf: (partition: Partition) => string,
    where: string,
    ...values: number[]
  ): [string, (partition: Partition, found: RowSet) => boolean] => [
    flagTerm(tenant, flag),
    (partition, found) => {
      // One JSON text is read in half the time of single rows.
      const text = sql
        .of<number[], string>(
          `SELECT json_group_array(row) FROM
             (SELECT row FROM ${tableOf(partition)} WHERE row BETWEEN ? AND ? AND ${where} LIMIT ${mostRows + 1})`,
        )
        .pluck()
        .get(Math.max(partition.firstRow, range.low), Math.min(partition.indexed, range.high), ...values);
      const rows: readonly number[] = JSON.parse(text ?? '[]');
      if (rows.length > mostRows) return false;
      for (const row of rows) found.add(row);
      return true;
    },
  ];
  const standing = 'tenant = ? AND (expires_at IS NULL OR expires_at > ?)';
  return new Map([
    state('live', () => 'live', `${standing} AND shelved IS NULL`, tenant, now),
    state('shelved', () => 'live', `${standing} AND shelved IS NOT NULL AND suppressed IS NULL`, tenant, now),
    state('suppressed', () => 'live', `${standing} AND suppressed IS NOT NULL`, tenant, now),
    state('cleared', (partition) => tablesOf(partition).state, 'cleared_at IS NOT NULL'),
    state('acknowledged', () => 'acknowledgements', 'tenant = ?', tenant),
    state('shown', (partition) => tablesOf(partition).receipts, 'shown_at IS NOT NULL'),
  ]);
}
