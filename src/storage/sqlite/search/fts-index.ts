/**
 * Finds rows by terms in the FTS5 index of a partition, by reading the pages of its `_data` table. SQLite itself takes 100 ns
 * for each row of a term, and 300 with a prefix; a search of all partitions asks for millions. Here a row takes 10 ns.
 *
 * The format is described in SQLite's ext/fts5/fts5_index.c ("Format of the %_data table"), and files of it stay readable; whether a
 * new version still writes it, fts-index.test.ts shows. An index is a list of segments, and a segment a run of pages: the terms
 * in order, each followed by the numbers of its rows, of which all but the first on a page are differences. The `_idx` table says
 * on which page to look for a term.
 */
import type { TenantId } from '#core/ports.ts';
import { flagTerm, valueOfTerm } from '#core/search/index-terms.ts';
import { type Pattern, patternMatcher } from '#core/search/search-glob.ts';
import { RowSet } from '../../row-set.ts';
import { type SingleTerm, TermIndex } from '../../term-index.ts';
import { indexPages, type Partition, type Statements, tablesOf } from '../log/partitions.ts';

/** How far apart the pages of two segments begin in `_data`. */
const idsASegment = 2 ** 37;
const idOf = (segment: number, page: number) => segment * idsASegment + page;
/** A page begins with two numbers of two bytes: where its first row is, and where its list of terms. */
const headBytes = 4;
/** In `_idx`, the terms of the main index begin with this. */
const mainIndex = '0';
/** What a test of a value takes beside its characters. */
const workATest = 100;

interface Segment {
  readonly segment: number;
  readonly first: number;
  readonly last: number;
}

/**
 * What a search may spend on testing values against patterns, in characters of the value times those of the pattern, which is
 * the most that a test takes. A million take some 30 ms.
 */
export class PatternBudget {
  #left: number;

  constructor(work = 2_000_000) {
    this.#left = work;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  /** @returns false if nothing is left. */
  spend(work: number): boolean {
    if (this.isSpent) return false;
    this.#left -= work;
    return true;
  }
}

/** As SQLite's own error, so that it is reported as damage of the file. */
const damagedIndex = () =>
  Object.assign(new Error('a page of an index of terms is malformed'), { code: 'SQLITE_CORRUPT_INDEX' });

/** The FTS5 index of a partition, for the searches of one tenant. */
export class FtsIndex extends TermIndex {
  readonly #sql: Statements;
  readonly #partition: Partition;
  readonly #tenant: TenantId;
  readonly #segments: readonly Segment[];
  readonly #budget: PatternBudget;

  constructor(sql: Statements, partition: Partition, tenant: TenantId, budget = new PatternBudget()) {
    super(partition);
    this.#sql = sql;
    this.#partition = partition;
    this.#tenant = tenant;
    this.#budget = budget;
    const structure = sql
      .of<[number], { block: Buffer }>(`SELECT block FROM ${tablesOf(partition).terms}_data WHERE id = ?`)
      .get(indexPages.segments);
    if (!structure) throw damagedIndex();
    this.#segments = segmentsOf(structure.block);
  }

  /** The term of all the tenant's rows, in a partition without rows of others. */
  protected override isOfAll({ term }: SingleTerm): boolean {
    return term === flagTerm(this.#tenant, 'all') && this.#isOnlyTenant();
  }

  /** Whether the partition holds rows of no other tenant. */
  #isOnlyTenant(): boolean {
    const tenants = this.#sql
      .of<[number], { tenant: number }>('SELECT tenant FROM partition_tenants WHERE partition = ? LIMIT 2')
      .all(this.#partition.id);
    return tenants.every(({ tenant }) => tenant === this.#tenant);
  }

  protected override rowsOf({ term, prefix, pattern }: SingleTerm): RowSet | undefined {
    if (pattern !== undefined && this.#budget.isSpent) return undefined;
    const found = new RowSet(this.#partition);
    const wanted = Buffer.from(mainIndex + term);
    const placeOf = pattern === undefined ? undefined : this.#placesOf(pattern);
    const { terms } = tablesOf(this.#partition);
    const pageOf = this.#sql.of<[number, Buffer], { page: number }>(
      `SELECT pgno >> 1 AS page FROM ${terms}_idx WHERE segid = ? AND term <= ? ORDER BY term DESC LIMIT 1`,
    );
    const read = this.#sql
      .of<[number, number], [id: number, block: Buffer]>(
        `SELECT id, block FROM ${terms}_data WHERE id BETWEEN ? AND ? ORDER BY id`,
      )
      .raw();
    for (const { segment, first, last } of this.#segments) {
      // What comes before the first page is merged into another segment already.
      const begin = idOf(segment, Math.max(first, pageOf.get(segment, wanted)?.page ?? 0));
      let place: TermPlace = 'before';
      let next = begin;
      for (const [id, block] of read.iterate(begin, idOf(segment, last))) {
        if (id !== next) throw damagedIndex();
        next = id + 1;
        place = readPage(block, { wanted, prefix, placeOf, isWanted: place === 'wanted' }, found);
        if (place === 'beyond') break;
      }
      // A segment that is merged into another has no pages any more.
      if (place !== 'beyond' && next <= idOf(segment, last) && last > 0) throw damagedIndex();
    }
    return pattern !== undefined && this.#budget.isSpent ? undefined : found;
  }

  /** Tests terms until the budget is spent; those after it are `beyond`. */
  #placesOf(pattern: Pattern): (term: Buffer) => TermPlace {
    const isMatch = patternMatcher(pattern);
    // Each segment may have the same values.
    const known = new Map<string, TermPlace>();
    return (text) => {
      const term = text.toString('utf8', mainIndex.length);
      let place = known.get(term);
      if (place) return place;
      const value = valueOfTerm(term);
      if (!this.#budget.spend(workATest + value.length * pattern.length)) return 'beyond';
      place = isMatch(value) ? 'wanted' : 'unmatched';
      known.set(term, place);
      return place;
    };
  }
}

/** Where a term is in the order of terms; between wanted ones may be some that do not match. */
type TermPlace = 'before' | 'wanted' | 'unmatched' | 'beyond';

interface Wanted {
  readonly wanted: Buffer;
  readonly prefix: boolean;
  /** Of a term that begins as wanted. */
  readonly placeOf: ((term: Buffer) => TermPlace) | undefined;
  /** The page begins with more rows of a wanted term. */
  readonly isWanted: boolean;
}

/** Adds the rows of wanted terms; returns where the last term is that was read. */
function readPage(page: Buffer, { wanted, prefix, placeOf, isWanted }: Wanted, found: RowSet): TermPlace {
  const end = page.length < headBytes ? 0 : page.readUInt16BE(2);
  if (end < headBytes || end > page.length) throw damagedIndex();
  const list = new Numbers(page, end);
  let next = list.isAtEnd ? end : list.next();
  if (isWanted && !found.addWritten(page, headBytes, next)) throw damagedIndex();
  let place: TermPlace = isWanted ? 'wanted' : 'before';
  /** How many bytes the last term and the wanted one begin with in common. */
  let common = 0;
  let text = Buffer.alloc(0);
  for (let isFirst = true; next < end; isFirst = false) {
    const term = new Numbers(page, next);
    // The first bytes are those of the term before, and are left out.
    const shared = isFirst ? 0 : term.next();
    const length = term.next();
    if (shared < common) return 'beyond';
    const rowsFrom = term.at + length;
    next = list.isAtEnd ? end : next + list.next();
    if (rowsFrom > next || next > end) throw damagedIndex();
    if (placeOf) text = Buffer.concat([text.subarray(0, shared), page.subarray(term.at, rowsFrom)]);
    if (shared === common) {
      let i = 0;
      while (i < length && common < wanted.length && page[term.at + i] === wanted[common]) {
        i += 1;
        common += 1;
      }
      const isWhole = i === length;
      if (common === wanted.length) place = isWhole || prefix ? 'wanted' : 'beyond';
      else if (!isWhole && (page[term.at + i] as number) > (wanted[common] as number)) place = 'beyond';
    } else if (place === 'wanted' && !prefix) place = 'beyond';
    if (placeOf && (place === 'wanted' || place === 'unmatched')) place = placeOf(text);
    if (place === 'beyond') return place;
    if (place === 'wanted' && !found.addWritten(page, rowsFrom, next)) throw damagedIndex();
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
