/**
 * Finds rows by terms in the FTS5 index of a partition, by reading the pages of its `_data` table (why: ADR 13).
 *
 * SQLite's ext/fts5/fts5_index.c describes the format ("Format of the %_data table"). An index is a list of segments, and a segment is a sequence of pages. A page has terms in
 * order, each followed by its row numbers; all but the first of a page are stored as differences. The `_idx` table has the
 * page of a term.
 */
import type { TenantId } from '#core/log/route.ts';
import { getOrMake } from '#core/maps.ts';
import { flagTerm, valueOfTerm, valueTerm } from '#core/search/index-terms.ts';
import { type Pattern, patternMatcher } from '#core/search/search-words.ts';
import { RowSet, type SingleTerm, TermIndex } from '../../search/row-set.ts';
import { indexPages, type Partition, type Statements, tablesOf, tenantsIn } from '../log/partitions.ts';
import type { StateRows } from './state-rows.ts';

/** The distance between the ids of the first pages of two segments in `_data`. */
const idsASegment = 2 ** 37;
const idOf = (segment: number, page: number) => segment * idsASegment + page;
/** A page begins with two numbers of two bytes: the offset of its first row, and the offset of its list of terms. */
const headBytes = 4;
/** The first character of the terms of the main index in `_idx`. */
const mainIndex = '0';
/** The fixed cost of testing a value, in addition to its characters. */
const workATest = 100;

interface Segment {
  readonly segment: number;
  readonly first: number;
  readonly last: number;
}

/**
 * The work that a search may spend in a partition on testing values against patterns. A test costs at most the characters of the
 * value times those of the pattern. A million take some 30 ms.
 */
const usualPatternWork = 2_000_000;

/** Has a code like SQLite's own errors, so that it is reported as damage of the file. */
const damagedIndex = () =>
  Object.assign(new Error('a page of an index of terms is malformed'), { code: 'SQLITE_CORRUPT_INDEX' });

/** In `unread`; no term is called so. */
export const unreadPatterns = 'patterns';

/** What a search looks up in each partition. */
interface IndexScope {
  readonly tenant: TenantId;
  readonly states?: StateRows;
  /** Gets the terms of states with too many rows, and `patterns` if there were too many values to test. Patterns are then not tested again. */
  readonly unread?: Set<string>;
  readonly patternWork?: number;
}

/** The FTS5 index of a partition, for the searches of one tenant, with the states that notifications enter later. */
export class FtsIndex extends TermIndex {
  readonly #sql: Statements;
  readonly #partition: Partition;
  readonly #tenant: TenantId;
  readonly #states: StateRows;
  readonly #unread: Set<string>;
  #patternWork: number;
  readonly #segments: readonly Segment[];

  constructor(
    sql: Statements,
    partition: Partition,
    { tenant, states = new Map(), unread = new Set(), patternWork = usualPatternWork }: IndexScope,
  ) {
    super(partition);
    this.#sql = sql;
    this.#partition = partition;
    this.#tenant = tenant;
    this.#states = states;
    this.#unread = unread;
    this.#patternWork = patternWork;
    const structure = sql
      .of<[number], { block: Buffer }>(`SELECT block FROM ${tablesOf(partition).terms}_data WHERE id = ?`)
      .get(indexPages.segments);
    if (!structure) throw damagedIndex();
    this.#segments = segmentsOf(structure.block);
  }

  /** True for the term that marks all rows of the tenant, if the partition has no rows of other tenants. */
  protected override isOfAll({ term }: SingleTerm): boolean {
    const isAlone = () => tenantsIn(this.#sql, this.#partition, 2).every((tenant) => tenant === this.#tenant);
    return term === flagTerm(this.#tenant, 'all') && isAlone();
  }

  protected override rowsOf({ term, prefix, pattern }: SingleTerm): RowSet | undefined {
    const found = new RowSet(this.#partition);
    const addState = this.#states.get(term);
    if (addState) {
      if (addState(this.#partition, found)) return found;
      this.#unread.add(term);
      return undefined;
    }
    const isUnread = () => pattern !== undefined && this.#unread.has(unreadPatterns);
    if (isUnread()) return undefined;
    const setOf = pattern === undefined ? undefined : this.#tested(pattern, found);
    this.#read({ wanted: Buffer.from(mainIndex + term), prefix, found, setOf });
    return isUnread() ? undefined : found;
  }

  /** The rows of each level. */
  levels(): ReadonlyMap<string, RowSet> {
    const levels = new Map<string, RowSet>();
    const setOf = (term: string) => getOrMake(levels, valueOfTerm(term), () => new RowSet(this.#partition));
    const wanted = Buffer.from(mainIndex + valueTerm(this.#tenant, 'level', ''));
    this.#read({ wanted, prefix: true, found: new RowSet(this.#partition), setOf });
    return levels;
  }

  #read(wanted: Wanted): void {
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
      // Pages before `first` are already merged into another segment.
      const begin = idOf(segment, Math.max(first, pageOf.get(segment, wanted.wanted)?.page ?? 0));
      let target: Target;
      let next = begin;
      for (const [id, block] of read.iterate(begin, idOf(segment, last))) {
        if (id !== next) throw damagedIndex();
        next = id + 1;
        target = readPage(block, wanted, target);
        if (target === 'end') break;
      }
      // A segment with `last` 0 is merged into another one, and has no pages any more.
      if (target !== 'end' && next <= idOf(segment, last) && last > 0) throw damagedIndex();
    }
  }

  #tested(pattern: Pattern, found: RowSet): (term: string) => Target {
    const isMatch = patternMatcher(pattern);
    // Each segment may have the same values.
    const known = new Map<string, Target>();
    return (term) => {
      if (known.has(term)) return known.get(term);
      if (this.#patternWork <= 0) {
        this.#unread.add(unreadPatterns);
        return 'end';
      }
      const value = valueOfTerm(term);
      this.#patternWork -= workATest + value.length * pattern.length;
      const target = isMatch(value) ? found : undefined;
      known.set(term, target);
      return target;
    };
  }
}

/** The set to which the rows of a term are added; undefined: to none. `end`: neither this nor a later term is wanted. */
type Target = RowSet | undefined | 'end';

interface Wanted {
  readonly wanted: Buffer;
  readonly prefix: boolean;
  readonly found: RowSet;
  /** The target of a term that begins with `wanted`, instead of `found`. */
  readonly setOf: ((term: string) => Target) | undefined;
}

/** Adds the rows of wanted terms. `target`: that of the rows at the beginning of the page. Returns that of its last term. */
function readPage(page: Buffer, { wanted, prefix, found, setOf }: Wanted, target: Target): Target {
  const end = page.length < headBytes ? 0 : page.readUInt16BE(2);
  if (end < headBytes || end > page.length) throw damagedIndex();
  const list = new VarintReader(page, end);
  let next = list.isAtEnd ? end : list.next();
  let last = target;
  add(last, page, headBytes, next);
  let isWanted = false;
  /** The length of the common prefix of the last term and the wanted one, in bytes. */
  let common = 0;
  let text = Buffer.alloc(0);
  for (let isFirst = true; next < end; isFirst = false) {
    const term = new VarintReader(page, next);
    // A term is stored without the prefix that it shares with the previous one.
    const shared = isFirst ? 0 : term.next();
    const length = term.next();
    if (shared < common) return 'end';
    const rowsFrom = term.at + length;
    next = list.isAtEnd ? end : next + list.next();
    if (rowsFrom > next || next > end) throw damagedIndex();
    if (setOf) text = Buffer.concat([text.subarray(0, shared), page.subarray(term.at, rowsFrom)]);
    if (shared === common) {
      let i = 0;
      while (i < length && common < wanted.length && page[term.at + i] === wanted[common]) {
        i += 1;
        common += 1;
      }
      const isWhole = i === length;
      isWanted = common === wanted.length;
      if (
        isWanted
          ? !isWhole && !prefix
          : !isWhole && (page[term.at + i] as number) > (wanted[common] as number)
      )
        return 'end';
    } else if (isWanted && !prefix) return 'end';
    last = isWanted ? (setOf ? setOf(text.toString('utf8', mainIndex.length)) : found) : undefined;
    if (last === 'end') return last;
    add(last, page, rowsFrom, next);
  }
  return last;
}

function add(target: Target, page: Buffer, from: number, to: number): void {
  if (target instanceof RowSet && !target.addVarintDeltas(page, from, to)) throw damagedIndex();
}

/** Reads SQLite's varints: seven bits in each byte, the highest first; the eighth bit is set if more bytes follow. */
class VarintReader {
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

/** Reads the list of segments. It begins with 4 bytes that change with the settings, then the number of levels. */
function segmentsOf(structure: Buffer): Segment[] {
  const numbers = new VarintReader(structure, 4);
  const levels = numbers.next();
  const count = numbers.next();
  // Skips the number of written pages.
  numbers.next();
  const segments: Segment[] = [];
  for (let level = 0; level < levels; level++) {
    // Skips the number of segments that are being merged.
    numbers.next();
    for (let left = numbers.next(); left > 0; left--)
      segments.push({ segment: numbers.next(), first: numbers.next(), last: numbers.next() });
  }
  // The numbers also differ in a newer form of the record, which FTS5 writes only with other settings.
  if (segments.length !== count) throw damagedIndex();
  return segments;
}
