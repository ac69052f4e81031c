/** The dictionary of the newest partition, for the writer: texts that rows share are stored once, and named by number. */
import { type Statements, tablesOf } from './partitions.ts';
import type { PartitionName } from './rows.ts';

/** Texts that a dictionary takes at most, and how many of them may be keys, which senders may make anew each time. */
const mostDictionaryTexts = 10_000;
const mostKeys = 5_000;
/** A longer text stays in its row. */
const mostTextChars = 100;

/** Everything runs inside the writer's transaction; after a rollback, another is made. */
export class DictionaryWriter {
  readonly #numbers = new Map<string, bigint>();
  readonly #sql: Statements;
  readonly #table: string;

  constructor(sql: Statements, partition: PartitionName) {
    this.#sql = sql;
    this.#table = tablesOf(partition).dictionary;
    const known = sql.of<[], { id: number; text: string }>(`SELECT id, text FROM ${this.#table}`).all();
    for (const { id, text } of known) this.#numbers.set(text, BigInt(id));
  }

  /** What a column holds for this text. A whole number must be bound as a bigint: the column has no type to convert it. */
  store(text: string | null, most = mostDictionaryTexts): bigint | string | null {
    if (text === null) return null;
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    if (this.#numbers.size >= most || text.length > mostTextChars) return text;
    const id = BigInt(this.#numbers.size + 1);
    this.#sql.of(`INSERT INTO ${this.#table} (id, text) VALUES (?, ?)`).run(id, text);
    this.#numbers.set(text, id);
    return id;
  }

  storeKey(text: string | null): bigint | string | null {
    return this.store(text, mostKeys);
  }
}
