import { columnList, columnValue } from '../../log/history-rows.ts';
import { type Statements, tablesOf } from './partitions.ts';
import { type DraftRow, type PartitionName, toBlob } from './rows.ts';

interface RowPlace {
  readonly row: number;
  readonly tenant: number;
  readonly position: number;
  /** The row of the tenant's entry before this one. */
  readonly previous: number;
  /** The number of the route. */
  readonly route: number;
}

/** The most texts of a dictionary, and how many of them may be keys: a sender may send a new key each time. */
const mostDictionaryTexts = 10_000;
const mostKeys = 5_000;
/** A longer text stays in its row. */
const mostTextChars = 100;

/**
 * Writes notifications to the newest partition's log, and texts that rows share to its dictionary. Runs inside the writer's
 * transactions; after a rollback, it must be replaced by a new one.
 */
export class RowWriter {
  readonly #sql: Statements;
  readonly #dictionary: string;
  readonly #numbers = new Map<string, bigint>();
  readonly #insert: string;

  constructor(sql: Statements, partition: PartitionName) {
    this.#sql = sql;
    const { log, dictionary } = tablesOf(partition);
    this.#dictionary = dictionary;
    const known = sql.of<[], { id: number; text: string }>(`SELECT id, text FROM ${dictionary}`).all();
    for (const { id, text } of known) this.#numbers.set(text, BigInt(id));
    const columns = columnList.map(([, { column }]) => column);
    this.#insert = `INSERT INTO ${log} (row, tenant, position, previous, id_time, id_rest, delay, route, ttl, lasts, throttled_on, throttle_count,
        ${columns.join(', ')})
      VALUES (?, ?, ?, ?, ?, unhex(?, '-'), ?, ?, ?, ?, ?, ?, ${columns.map(() => '?').join(', ')})`;
  }

  insert({ row, tenant, position, previous, route }: RowPlace, d: DraftRow): void {
    const time = Number.parseInt(d.id.slice(0, 8) + d.id.slice(9, 13), 16);
    const lasts = d.expiresAt === null ? null : d.expiresAt - d.receivedAt;
    this.#sql.of(this.#insert).run(
      ...[row, tenant, position, previous, time, d.id.slice(14), d.receivedAt - time, route],
      ...[d.ttl === (lasts ?? 0) ? null : d.ttl, lasts],
      ...[d.throttledOn === null ? null : toBlob(d.throttledOn), d.throttleCount],
      ...columnList.map(([field, { kind }]) => {
        const value = columnValue(d, field);
        return kind === 'shared'
          ? this.#store(value as string | null, field === 'key' ? mostKeys : mostDictionaryTexts)
          : value;
      }),
    );
  }

  /** The value of a column for this text. A whole number must be bound as a bigint, because the column has no type to convert it. */
  #store(text: string | null, most: number): bigint | string | null {
    if (text === null) return null;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    if (this.#numbers.size >= most || text.length > mostTextChars) return text;
    const id = BigInt(this.#numbers.size + 1);
    this.#sql.of(`INSERT INTO ${this.#dictionary} (id, text) VALUES (?, ?)`).run(id, text);
    this.#numbers.set(text, id);
    return id;
  }
}
