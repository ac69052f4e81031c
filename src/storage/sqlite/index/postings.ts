import type { Database, Statement } from 'better-sqlite3';
import { within } from '../within.ts';
import { changeBlock } from './blocks.ts';
import { blockOf, startOf } from './position-set.ts';

/** What notifications are looked up by. */
export type Field = 'host' | 'key' | 'ip' | 'source' | 'level' | 'token' | 'route' | 'state';
/** Text; bytes for addresses, where the order of bytes is the order of addresses; a number for routes. */
export type FieldValue = string | number | Uint8Array;

export interface Posting {
  readonly field: Field;
  readonly value: FieldValue;
  readonly position: number;
}

interface Group extends Posting {
  readonly block: number;
  readonly offsets: number[];
}

/** Writes the postings table. Every call belongs inside a transaction of the caller's. */
export class PostingsWriter {
  readonly #get: Statement<unknown[], Buffer>;
  readonly #put: Statement;
  readonly #drop: Statement;

  constructor(db: Database) {
    const place = 'tenant = ? AND field = ? AND value = ? AND block = ?';
    this.#get = db.prepare<unknown[], Buffer>(`SELECT positions FROM postings WHERE ${place}`).pluck();
    this.#put =
      db.prepare(`INSERT INTO postings (tenant, field, value, block, positions) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET positions = excluded.positions`);
    this.#drop = db.prepare(`DELETE FROM postings WHERE ${place}`);
  }

  add(tenant: number, postings: readonly Posting[]): void {
    this.#change(tenant, postings, true);
  }

  /** Postings that are not there are no harm. */
  remove(tenant: number, postings: readonly Posting[]): void {
    this.#change(tenant, postings, false);
  }

  #change(tenant: number, postings: readonly Posting[], adds: boolean): void {
    for (const { field, value, block, offsets } of grouped(postings)) {
      // The driver binds a number as a double, which would be stored as one.
      const bound = typeof value === 'number' ? BigInt(value) : value;
      const known = this.#get.get(tenant, field, bound, block);
      const changed = changeBlock(known, offsets, adds);
      if (changed) this.#put.run(tenant, field, bound, block, changed);
      else if (known) this.#drop.run(tenant, field, bound, block);
    }
  }
}

/** By field, value and block, in order, so that each page of the table is touched once. */
function grouped(postings: readonly Posting[]): Group[] {
  const fields = new Map<Field, Map<string | number, Group[]>>();
  for (const posting of postings) {
    const { field, value, position } = posting;
    const values = within(fields, field, () => new Map<string | number, Group[]>());
    const blocks = within(values, value instanceof Uint8Array ? latin1(value) : value, () => []);
    const block = blockOf(position);
    const offset = position - startOf(block);
    const last = blocks.at(-1);
    if (last?.block === block) last.offsets.push(offset);
    else blocks.push({ ...posting, block, offsets: [offset] });
  }
  return inOrder(fields).flatMap((values) => inOrder(values).flat());
}

const latin1 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

function inOrder<Value>(map: ReadonlyMap<string | number, Value>): Value[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}
