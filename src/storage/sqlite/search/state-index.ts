/** The index of a partition, with the terms of states that notifications enter later: those stand in tables of their own. */
import type { TenantId } from '#core/ports.ts';
import { flagTerm } from '#core/search/index-terms.ts';
import type { LogRange } from '../../log-search.ts';
import { RowSet } from '../../row-set.ts';
import type { SingleTerm } from '../../term-index.ts';
import { type Partition, type Statements, tablesOf } from '../log/partitions.ts';
import { FtsIndex, type PatternBudget } from './fts-index.ts';

/** With more reports of panels in a partition than this, rows are tested for it: to list them all would take longer. */
const mostShown = 500_000;

/** By the term of a state, how its rows of a partition are read, maybe repeated or with those of other tenants. undefined: there are too many. */
export type StateRows = ReadonlyMap<string, (partition: Partition) => readonly number[] | undefined>;

/** As of `now`, and only rows of the range that is searched. */
export function stateRows(
  sql: Statements,
  { tenant, now, range }: { readonly tenant: TenantId; readonly now: number; readonly range: LogRange },
): StateRows {
  const read = (from: string, ...values: number[]) => {
    const found = sql
      .of<number[], { rows: string }>(`SELECT json_group_array(row) AS rows FROM ${from}`)
      .get(...values);
    return JSON.parse(found?.rows ?? '[]') as number[];
  };
  const within = ({ firstRow, indexed }: Partition) =>
    [Math.max(firstRow, range.low), Math.min(indexed, range.high)] as const;
  return new Map([
    [
      flagTerm(tenant, 'live'),
      (partition) => {
        const live =
          'live WHERE row BETWEEN ? AND ? AND tenant = ? AND (expires_at IS NULL OR expires_at > ?)';
        return read(live, ...within(partition), tenant, now);
      },
    ],
    [
      flagTerm(tenant, 'cleared'),
      (partition) =>
        read(
          `${tablesOf(partition).state} WHERE row BETWEEN ? AND ? AND cleared_at IS NOT NULL`,
          ...within(partition),
        ),
    ],
    [
      flagTerm(tenant, 'acknowledged'),
      (partition) =>
        read('acknowledgements WHERE tenant = ? AND row BETWEEN ? AND ?', tenant, ...within(partition)),
    ],
    [
      flagTerm(tenant, 'shown'),
      (partition) => {
        const reported = `SELECT row FROM ${tablesOf(partition).receipts} WHERE row BETWEEN ? AND ? AND shown_at IS NOT NULL`;
        const rows = read(`(${reported} LIMIT ${mostShown + 1})`, ...within(partition));
        return rows.length > mostShown ? undefined : rows;
      },
    ],
  ]);
}

/** What a search asks each partition with. */
export interface SearchedStates {
  readonly tenant: TenantId;
  readonly states: StateRows;
  readonly budget: PatternBudget;
  /** Gets the terms of states with too many rows. */
  readonly unread: Set<string>;
}

export class StateIndex extends FtsIndex {
  readonly #partition: Partition;
  readonly #states: StateRows;
  readonly #unread: Set<string>;

  constructor(sql: Statements, partition: Partition, { tenant, states, budget, unread }: SearchedStates) {
    super(sql, partition, tenant, budget);
    this.#partition = partition;
    this.#states = states;
    this.#unread = unread;
  }

  protected override rowsOf(term: SingleTerm): RowSet | undefined {
    const read = this.#states.get(term.term);
    if (!read) return super.rowsOf(term);
    const rows = read(this.#partition);
    if (!rows) {
      this.#unread.add(term.term);
      return undefined;
    }
    const found = new RowSet(this.#partition);
    for (const row of rows) found.add(row);
    return found;
  }
}
