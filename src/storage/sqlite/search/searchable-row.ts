/** A stored notification for the test of a query. It reads a field from its row only if the query uses the field. */
import type { HistoryRecord } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import type { SearchableNotification } from '#core/search/search-evaluate.ts';
import { acknowledgedColumns, type MemoryRow, offOf, type StateRow } from '../../log/history-rows.ts';
import { type Partition, type Statements, tablesOf } from '../log/partitions.ts';
import { type LogConnection, type NotificationRow, uuidToText } from '../log/rows.ts';

export class SearchableRow implements SearchableNotification {
  readonly #connection: LogConnection;
  readonly #row: NotificationRow;
  readonly #partition: Partition;
  readonly #stateOf: (row: number, partition: Partition) => RowState;

  constructor(
    connection: LogConnection,
    row: NotificationRow,
    partition: Partition,
    stateOf: (row: number, partition: Partition) => RowState,
  ) {
    this.#connection = connection;
    this.#row = row;
    this.#partition = partition;
    this.#stateOf = stateOf;
  }

  get receivedAt() {
    return this.#row.at;
  }
  get title() {
    return this.#row.title;
  }
  get message() {
    return this.#row.message;
  }
  get level() {
    return this.#connection.reader.text(this.#row.level, this.#partition);
  }
  get ip() {
    return this.#connection.reader.text(this.#row.ip, this.#partition);
  }
  get host() {
    return this.#connection.reader.text(this.#row.host, this.#partition);
  }
  get key() {
    return this.#connection.reader.text(this.#row.key, this.#partition);
  }
  get labels() {
    return this.#connection.reader.text(this.#row.labels, this.#partition);
  }
  get sourceIp() {
    return this.#connection.reader.text(this.#row.source_ip, this.#partition);
  }
  get tokenId() {
    return this.#connection.reader.text(this.#row.token_id, this.#partition);
  }
  get route() {
    return this.#connection.reader.routes.get(this.#row.tenant, this.#row.route);
  }
  get throttledOn() {
    const { throttled_on } = this.#row;
    return throttled_on === null ? null : uuidToText(throttled_on);
  }
  get expiresAt() {
    const { at, lasts } = this.#row;
    return lasts === null ? null : at + lasts;
  }
  get cleared() {
    return this.#state.cleared_at !== null;
  }
  get shown() {
    return this.#state.shown > 0;
  }
  get acknowledged() {
    return this.#state.acknowledged_at !== null;
  }
  get off() {
    return offOf(this.#state.memory?.shelved ?? null);
  }

  get #state() {
    return this.#stateOf(this.#row.row, this.#partition);
  }
}

export type RowState = StateRow &
  HistoryRecord['receipts'] & {
    /** null: it is not live. */
    readonly memory: MemoryRow | null;
    /** How many throttles have counted on it. */
    readonly counted: number;
  };

const unchanged: RowState = {
  ...{ cleared_at: null, cleared_by: null, cleared_reason: null },
  ...{ acknowledged_at: null, acknowledged_by: null, acknowledged_note: null, acknowledged_until: null },
  ...{ memory: null, counted: 0 },
  ...{ shown: 0, expired: 0, cleared: 0 },
};

/** The changes of a partition's notifications since they were stored, by their rows. */
export function readStates(
  sql: Statements,
  { tenant, partition }: { readonly tenant: TenantId; readonly partition: Partition },
  rows: readonly number[],
): ReadonlyMap<number, RowState> {
  const { state, receipts } = tablesOf(partition);
  const numbers = `[${rows.join()}]`;
  const read = (select: string, ...values: number[]) =>
    sql.of<(number | string)[], { row: number } & Partial<RowState>>(select).all(...values, numbers);
  const states = new Map(rows.map((row) => [row, unchanged]));
  for (const { row, ...found } of [
    ...read(`SELECT row, cleared_at, cleared_by, cleared_reason, counted FROM ${state} WHERE ${among}`),
    ...read(
      `SELECT row, ${acknowledgedColumns} FROM acknowledgements a WHERE tenant = ? AND ${among}`,
      tenant,
    ),
    ...read(`SELECT row, count(shown_at) AS shown, count(expired_at) AS expired, count(cleared_at) AS cleared
      FROM ${receipts} WHERE ${among} GROUP BY row`),
  ])
    states.set(row, { ...(states.get(row) ?? unchanged), ...found });
  for (const { row, ...memory } of read(
    `SELECT row, since, earlier, highest_level, highest_rank, shelved, owner, escalation, step, next_step_at FROM live WHERE ${among}`,
  ) as unknown as (MemoryRow & { row: number })[])
    states.set(row, { ...(states.get(row) ?? unchanged), memory });
  return states;
}

/** SQL: the rows in the last parameter of a statement. */
const among = 'row IN (SELECT value FROM json_each(?))';
