/**
 * Finds rows by terms in the FTS5 index of a partition, by reading the pages of its `_data` table. SQLite itself takes 100 ns
 * for each row of a term, and 300 with a prefix; a search of all partitions asks for millions. Here a row takes 10 ns.
 *
 * The format is described in SQLite's ext/fts5/fts5_index.c ("Format of the %_data table"), and files of it stay readable; whether a
 * new version still writes it, term-index.test.ts shows. An index is a list
 * of segments, and a segment a run of pages: the terms in order, each followed by the numbers of its rows, of which all but the
 * first on a page are differences. Its `_idx` table says on which page to look for a term.
 */
import type { TenantId } from '#core/ports.ts';
import { flagTerm } from '#core/search/index-terms.ts';
import type { TermExpression } from '#core/search/search-compile.ts';
import { type Partition, type Statements, tablesOf } from './partitions.ts';
import { damagedIndex, RowSet } from './row-set.ts';

/** In `_data`: where the list of segments is, and how far apart the pages of two segments begin. */
const structureId = 10;
const idsASegment = 2 ** 37;
/** A page begins with two numbers of two bytes: where its first row is, and where its list of terms. */
const headBytes = 4;
/** In `_idx`, the terms of the main index begin with this. */
const mainIndex = '0';

interface Segment {
  readonly segment: number;
  readonly first: number;
  readonly last: number;
}

type SingleTerm = Extract<TermExpression, { kind: 'term' }>;

/** The index of a partition, for the searches of one tenant. */
export class TermIndex {
  readonly #sql: Statements;
  readonly #partition: Partition;
  readonly #tenant: TenantId;
  readonly #segments: readonly Segment[];
  /** Whether `narrow` has left rows that the terms may not find. */
  isCut = false;

  constructor(sql: Statements, partition: Partition, tenant: TenantId) {
    this.#sql = sql;
    this.#partition = partition;
    this.#tenant = tenant;
    const structure = sql
      .of<[number], { block: Buffer }>(`SELECT block FROM ${tablesOf(partition).terms}_data WHERE id = ?`)
      .get(structureId);
    if (!structure) throw damagedIndex();
    this.#segments = segmentsOf(structure.block);
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

  /** Those of some rows that `terms` find, and maybe others of them: few rows are read sooner than more of the index; then `isCut`. */
  narrow(rows: RowSet, terms: TermExpression): RowSet {
    if (rows.isFew) {
      this.isCut ||= !rows.isEmpty;
      return rows;
    }
    switch (terms.kind) {
      case 'term':
        return this.#isAll(terms) ? rows : rows.keepOnly(this.find(terms));
      case 'or':
        return rows.keepOnly(this.find(terms));
      case 'and':
        return terms.of.reduce<RowSet>((found, part) => this.narrow(found, part), rows);
      case 'without': {
        const found = this.narrow(rows, terms.of);
        if (!found.isFew) return found.remove(this.find(terms.not));
        this.isCut ||= !found.isEmpty;
        return found;
      }
    }
  }

  #ofAll([first, ...others]: readonly TermExpression[]): RowSet {
    let found = this.find(first as TermExpression);
    for (const part of others) {
      if (found.isEmpty) break;
      if (!this.#isAll(part)) found = found.keepOnly(this.find(part));
    }
    return found;
  }

  /** Whether all notifications of the partition have a term: that of all the tenant's, where no other has any there. */
  #isAll(terms: TermExpression): boolean {
    return terms.kind === 'term' && terms.term === flagTerm(this.#tenant, 'all') && this.#isOnlyTenant();
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
    // What comes before the first page is merged into another segment already.
    const pages = this.#sql.of<
      [{ segment: number; wanted: Buffer; first: number; last: number }],
      { id: number; block: Buffer }
    >(
      `SELECT id, block FROM ${terms}_data WHERE id BETWEEN @segment * ${idsASegment} + max(@first, coalesce(
         (SELECT pgno >> 1 FROM ${terms}_idx WHERE segid = @segment AND term <= @wanted ORDER BY term DESC LIMIT 1), 0))
       AND @segment * ${idsASegment} + @last ORDER BY id`,
    );
    for (const segment of this.#segments) {
      let place: TermPlace = 'before';
      let next: number | undefined;
      for (const { id, block } of pages.iterate({ ...segment, wanted })) {
        if (id !== (next ?? id)) throw damagedIndex();
        next = id + 1;
        place = readPage(block, { wanted, prefix, isWanted: place === 'wanted' }, found);
        if (place === 'beyond') break;
      }
      // A segment that is merged into another has no pages any more.
      const end = segment.segment * idsASegment + segment.last + 1;
      if (place !== 'beyond' && next !== end && segment.last > 0) throw damagedIndex();
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
  const end = page.length < headBytes ? 0 : page.readUInt16BE(2);
  if (end < headBytes || end > page.length) throw damagedIndex();
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
    if (rowsFrom > next || next > end) throw damagedIndex();
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
      if (this.isAtEnd) throw damagedIndex();
      const byte = this.#bytes[this.at++] as number;
      number = number * 128 + (byte & 0x7f);
      if (byte < 0x80) return number;
    }
  }
}

/** The list of segments begins with a number of 4 bytes that changes with the settings, and the number of levels. */
function segmentsOf(structure: Buffer): Segment[] {
  const numbers = new Numbers(structure, 4);
  const levels = numbers.next();
  const count = numbers.next();
  // How many pages were written.
  numbers.next();
  const segments: Segment[] = [];
  for (let level = 0; level < levels; level++) {
    // How many of them are being merged.
    numbers.next();
    for (let left = numbers.next(); left > 0; left--)
      segments.push({ segment: numbers.next(), first: numbers.next(), last: numbers.next() });
  }
  // In a later form of the record, which only other settings of FTS5 write, these are not the same either.
  if (segments.length !== count) throw damagedIndex();
  return segments;
}
