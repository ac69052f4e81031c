/**
 * Finds rows by terms in the FTS5 index of a partition, by reading the pages of its `_data` table. SQLite itself takes 100 ns
 * for each row of a term, and 300 with a prefix; a search of all partitions asks for millions. Here a row takes 10 ns.
 *
 * SQLite keeps this format readable for ever ("Format of the %_data table" in its ext/fts5/fts5_index.c). An index is a list
 * of segments, and a segment a run of pages: the terms in order, each followed by the numbers of its rows, of which all but the
 * first on a page are differences. Its `_idx` table says on which page to look for a term.
 */
import type { TenantId } from '#core/ports.ts';
import { flagTerm } from '#core/search/index-terms.ts';
import type { TermExpression } from '#core/search/search-compile.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';
import { RowSet } from './row-set.ts';

/** In `_data`: where the list of segments is, and how far apart the pages of two segments begin. */
const structureId = 10;
const idsASegment = 2 ** 37;
/** A page begins with two numbers of two bytes: where its first row is, and where its list of terms. */
const headBytes = 4;
/** In `_idx`, the terms of the main index begin with this. */
const mainIndex = '0';

interface Segment {
  readonly id: number;
  readonly firstPage: number;
  readonly lastPage: number;
}

type SingleTerm = Extract<TermExpression, { kind: 'term' }>;

/** The index of a partition, for the searches of one tenant. */
export class TermIndex {
  readonly #sql: Statements;
  readonly #partition: Partition;
  readonly #tenant: TenantId;
  readonly #segments: readonly Segment[];

  constructor(sql: Statements, partition: Partition, tenant: TenantId) {
    this.#sql = sql;
    this.#partition = partition;
    this.#tenant = tenant;
    const structure = sql
      .of<[number], { block: Buffer }>(`SELECT block FROM ${tablesOf(partition).terms}_data WHERE id = ?`)
      .get(structureId);
    this.#segments = structure ? segmentsOf(structure.block) : [];
  }

  find(terms: TermExpression): RowSet {
    switch (terms.kind) {
      case 'term':
        return this.#ofTerm(terms);
      case 'or': {
        const found = new RowSet(this.#partition);
        for (const part of terms.of) found.addAll(this.find(part));
        return found;
      }
      case 'and':
        return this.#ofAll(terms.of);
      case 'without': {
        const found = this.find(terms.of);
        return found.isEmpty ? found : found.remove(this.find(terms.not));
      }
    }
  }

  #ofAll([first, ...others]: readonly TermExpression[]): RowSet {
    const found = this.find(first as TermExpression);
    for (const part of others) {
      if (found.isEmpty) break;
      const isOfAll =
        part.kind === 'term' && part.term === flagTerm(this.#tenant, 'all') && this.#isOnlyTenant();
      if (!isOfAll) found.keepOnly(this.find(part));
    }
    return found;
  }

  /** Whether the partition holds rows of no other tenant. */
  #isOnlyTenant(): boolean {
    const tenants = this.#sql
      .of<[number], { tenant: number }>('SELECT tenant FROM partition_tenants WHERE partition = ? LIMIT 2')
      .all(this.#partition.id);
    return tenants.every(({ tenant }) => tenant === this.#tenant);
  }

  #ofTerm({ term, prefix }: SingleTerm): RowSet {
    const found = new RowSet(this.#partition);
    const wanted = Buffer.from(mainIndex + term);
    const { terms } = tablesOf(this.#partition);
    const pages = this.#sql.of<[number, number], { block: Buffer }>(
      `SELECT block FROM ${terms}_data WHERE id BETWEEN ? AND ? ORDER BY id`,
    );
    for (const { id, firstPage, lastPage } of this.#segments) {
      const place = this.#sql
        .of<[number, Buffer], { page: number }>(
          `SELECT pgno >> 1 AS page FROM ${terms}_idx WHERE segid = ? AND term <= ? ORDER BY term DESC LIMIT 1`,
        )
        .get(id, wanted);
      // What comes before the first page is merged into another segment already.
      const from = id * idsASegment + Math.max(firstPage, place?.page ?? 0);
      let isWanted = false;
      for (const { block } of pages.iterate(from, id * idsASegment + lastPage)) {
        const last = readPage(block, { wanted, prefix, isWanted }, found);
        if (last === 'beyond') break;
        isWanted = last === 'wanted';
      }
    }
    return found;
  }
}

/** Where a term is in the order of terms. */
type TermPlace = 'before' | 'wanted' | 'beyond';

/** Adds the rows of a wanted term; returns where the last term is that was read. `isWanted`: the page begins with more of its rows. */
function readPage(
  page: Buffer,
  {
    wanted,
    prefix,
    isWanted,
  }: { readonly wanted: Buffer; readonly prefix: boolean; readonly isWanted: boolean },
  found: RowSet,
): TermPlace {
  const end = page.readUInt16BE(2);
  const list = new Numbers(page, end);
  let next = list.isAtEnd ? end : list.next();
  if (isWanted) found.addWritten(page, headBytes, next);
  let place: TermPlace = isWanted ? 'wanted' : 'before';
  // How many bytes the last term and the wanted one begin with in common.
  let same = 0;
  for (let isFirst = true; next < end; isFirst = false) {
    const term = new Numbers(page, next);
    const kept = isFirst ? 0 : term.next();
    const length = term.next();
    if (kept < same) return 'beyond';
    const rowsFrom = term.at + length;
    next = list.isAtEnd ? end : next + list.next();
    if (kept === same) {
      let i = 0;
      while (i < length && same < wanted.length && page[term.at + i] === wanted[same]) {
        i += 1;
        same += 1;
      }
      const isWhole = i === length;
      if (same === wanted.length) place = isWhole || prefix ? 'wanted' : 'beyond';
      else if (!isWhole && (page[term.at + i] as number) > (wanted[same] as number)) place = 'beyond';
    } else if (place === 'wanted' && !prefix) place = 'beyond';
    if (place === 'beyond') return place;
    if (place === 'wanted') found.addWritten(page, rowsFrom, next);
  }
  return place;
}

/** Numbers as SQLite writes them: seven bits a byte, the highest first, and the eighth bit set where more follow. */
class Numbers {
  at: number;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  next(): number {
    let number = 0;
    for (;;) {
      const byte = this.#bytes[this.at++] as number;
      number = number * 128 + (byte & 0x7f);
      if (byte < 0x80) return number;
    }
  }
}

/** The list of segments begins with a number of 4 bytes that tells of changed settings, and how many levels there are. */
function segmentsOf(structure: Buffer): Segment[] {
  const numbers = new Numbers(structure, 4);
  const levels = numbers.next();
  // How many segments, and how many pages were written: nobody needs them.
  numbers.next();
  numbers.next();
  const segments: Segment[] = [];
  for (let level = 0; level < levels; level++) {
    // How many of them are being merged.
    numbers.next();
    for (let left = numbers.next(); left > 0; left--)
      segments.push({ id: numbers.next(), firstPage: numbers.next(), lastPage: numbers.next() });
  }
  return segments;
}
