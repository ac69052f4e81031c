/** A stored notification as a query tests it: a field is read from its row only if the query asks for it. */
import type { HistoryRecord } from '#core/ports.ts';
import type { SearchableNotification } from '#core/search/search-evaluate.ts';
import { acknowledgedColumns, acknowledgedJoin, type StateRow } from '../history-rows.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';
import { type LogConnection, type NotificationRow, uuidToText } from './rows.ts';

export class SearchableRow implements SearchableNotification {
  readonly #connection: LogConnection;
  readonly #row: NotificationRow;
  readonly #partition: Partition;
  #known: RowState | undefined;

  constructor(connection: LogConnection, row: NotificationRow, partition: Partition) {
    this.#connection = connection;
    this.#row = row;
    this.#partition = partition;
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

  get #state() {
    this.#known ??= readState(this.#connection.sql, this.#row, this.#partition);
    return this.#known;
  }
}

type RowState = StateRow & HistoryRecord['receipts'];

/** What happened to a notification since it was stored. */
export function readState(
  sql: Statements,
  { tenant, row }: Pick<NotificationRow, 'tenant' | 'row'>,
  partition: Partition,
): RowState {
  let select = selects.get(partition);
  if (select === undefined) {
    const { state, receipts } = tablesOf(partition);
    select = `SELECT s.cleared_at, s.cleared_by, s.cleared_reason, ${acknowledgedColumns},
         count(r.shown_at) AS shown, count(r.expired_at) AS expired, count(r.cleared_at) AS cleared
       FROM (SELECT ? AS tenant, ? AS row) n LEFT JOIN ${state} s ON s.row = n.row ${acknowledgedJoin}
       LEFT JOIN ${receipts} r ON r.row = n.row`;
    selects.set(partition, select);
  }
  return sql.of<[number, number], RowState>(select).get(tenant, row) as RowState;
}

/** Composing the text takes as long as the statement. */
const selects = new WeakMap<Partition, string>();
