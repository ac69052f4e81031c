/**
 * Writes the rows of notifications to the newest partition's log. Texts that rows share are stored once, in the partition's
 * dictionary, and named by number.
 */
import { type Statements, tablesOf } from './partitions.ts';
import { type DraftRow, type PartitionName, toBlob } from './rows.ts';

interface RowPlace {
  readonly row: number;
  readonly tenant: number;
  readonly position: number;
  /** The row of the tenant's entry before this one. */
  readonly previous: number;
  /** The number of what routing decided. */
  readonly route: number;
}

const usualColumns = [
  ...['row', 'tenant', 'position', 'previous', 'id_time', 'id_rest', 'delay', 'route', 'title', 'message'],
  ...['level', 'rank', 'lasts', 'ip', 'host', 'source_ip', 'token_id', 'throttle_count'],
];
/** Null in most notifications. */
const rareColumns = ['ttl', 'sent_level', 'sent_ttl', 'key', 'url', 'throttled_on'];

/** Texts that a dictionary takes at most, and how many of them may be keys, which senders may make anew each time. */
const mostDictionaryTexts = 10_000;
const mostKeys = 5_000;
/** A longer text stays in its row. */
const mostTextChars = 100;

/** Everything runs inside the writer's transaction; after a rollback, another is made. */
export class RowWriter {
  readonly #sql: Statements;
  readonly #dictionary: string;
  readonly #numbers = new Map<string, bigint>();
  readonly #insertUsual: string;
  readonly #insertAll: string;

  constructor(sql: Statements, partition: PartitionName) {
    this.#sql = sql;
    const { log, dictionary } = tablesOf(partition);
    this.#dictionary = dictionary;
    const known = sql.of<[], { id: number; text: string }>(`SELECT id, text FROM ${dictionary}`).all();
    for (const { id, text } of known) this.#numbers.set(text, BigInt(id));
    const insert = (columns: readonly string[]) =>
      `INSERT INTO ${log} (${columns.join(', ')})
       VALUES (${columns.map((column) => (column === 'id_rest' ? "unhex(?, '-')" : '?')).join(', ')})`;
    this.#insertUsual = insert(usualColumns);
    this.#insertAll = insert([...usualColumns, ...rareColumns]);
  }

  insert({ row, tenant, position, previous, route }: RowPlace, d: DraftRow): void {
    const time = Number.parseInt(d.id.slice(0, 8) + d.id.slice(9, 13), 16);
    const lasts = d.expiresAt === null ? null : d.expiresAt - d.receivedAt;
    const usual = [
      ...[row, tenant, position, previous, time, d.id.slice(14), d.receivedAt - time, route],
      ...[d.title, d.message],
      ...[this.#store(d.level), d.rank, lasts, this.#store(d.ip), this.#store(d.host)],
      ...[this.#store(d.sourceIp), this.#store(d.tokenId), d.throttleCount],
    ];
    const rare = [
      ...[d.ttl === (lasts ?? 0) ? null : d.ttl, d.sentLevel === d.level ? null : this.#store(d.sentLevel)],
      ...[
        d.sentTtl,
        this.#store(d.key, mostKeys),
        d.url,
        d.throttledOn === null ? null : toBlob(d.throttledOn),
      ],
    ];
    // To bind a null costs the driver as much as to bind a value.
    if (rare.every((value) => value === null)) this.#sql.of(this.#insertUsual).run(...usual);
    else this.#sql.of(this.#insertAll).run(...usual, ...rare);
  }
  /** What a column holds for this text. A whole number must be bound as a bigint: the column has no type to convert it. */
  #store(text: string | null, most = mostDictionaryTexts): bigint | string | null {
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
