/** Writes the rows of notifications to the newest partition's log. */
import { DictionaryWriter } from './dictionary.ts';
import { type Statements, tablesOf } from './partitions.ts';
import { type DraftRow, type PartitionName, toBlob } from './rows.ts';

interface RowPlace {
  readonly row: number;
  readonly tenant: number;
  readonly position: number;
  /** The number of what routing decided. */
  readonly route: number;
}

const usualColumns = [
  ...['row', 'tenant', 'position', 'id_time', 'id_rest', 'delay', 'route', 'title', 'message'],
  ...['level', 'rank', 'lasts', 'ip', 'host', 'source_ip', 'token_id', 'throttle_count'],
];
/** Null in most notifications. */
const rareColumns = ['ttl', 'sent_level', 'sent_ttl', 'key', 'url', 'throttled_on'];

/** Everything runs inside the writer's transaction; after a rollback, another is made. */
export class RowWriter {
  readonly #sql: Statements;
  readonly #texts: DictionaryWriter;
  readonly #insertUsual: string;
  readonly #insertAll: string;

  constructor(sql: Statements, partition: PartitionName) {
    this.#sql = sql;
    this.#texts = new DictionaryWriter(sql, partition);
    const insert = (columns: readonly string[]) =>
      `INSERT INTO ${tablesOf(partition).log} (${columns.join(', ')})
       VALUES (${columns.map((column) => (column === 'id_rest' ? "unhex(?, '-')" : '?')).join(', ')})`;
    this.#insertUsual = insert(usualColumns);
    this.#insertAll = insert([...usualColumns, ...rareColumns]);
  }

  insert({ row, tenant, position, route }: RowPlace, d: DraftRow): void {
    const texts = this.#texts;
    const time = Number.parseInt(d.id.slice(0, 8) + d.id.slice(9, 13), 16);
    const lasts = d.expiresAt === null ? null : d.expiresAt - d.receivedAt;
    const usual = [
      ...[row, tenant, position, time, d.id.slice(14), d.receivedAt - time, route, d.title, d.message],
      ...[texts.store(d.level), d.rank, lasts, texts.store(d.ip), texts.store(d.host)],
      ...[texts.store(d.sourceIp), texts.store(d.tokenId), d.throttleCount],
    ];
    const rare = [
      ...[d.ttl === (lasts ?? 0) ? null : d.ttl, d.sentLevel === d.level ? null : texts.store(d.sentLevel)],
      ...[d.sentTtl, texts.storeKey(d.key), d.url, d.throttledOn === null ? null : toBlob(d.throttledOn)],
    ];
    // To bind a null costs the driver as much as to bind a value.
    if (rare.every((value) => value === null)) this.#sql.of(this.#insertUsual).run(...usual);
    else this.#sql.of(this.#insertAll).run(...usual, ...rare);
  }
}
