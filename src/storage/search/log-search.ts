/**
 * Searches and counts of a tenant's log that both stores share, newest first. A store lists the ranges of its log, and reads
 * terms and rows of one range; going on, stopping and resuming are here. A search works in steps: after each one other tenants
 * have their turn, and it may end by its time limit, by cancelling or with a full page. Each call makes progress, and says where
 * the next one continues. `row-set.ts` combines the rows of terms with one bit for each row. Rows that no index has yet are
 * tested one by one, so everything that was acknowledged is found.
 */
import { isSearchedField, searchForm } from '#contract/history/fields.ts';
import { addressKey, addressText, compareAddresses } from '#core/addresses.ts';
import { recordForms } from '#core/log/history-view.ts';
import type { HistoryRecord, RecordForm, RecordForms, SearchOptions, SearchPage } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import type { CountTimes, LevelCount, WantedValues } from '#core/log/statistics.ts';
import { getOrMake } from '#core/maps.ts';
import { addressesFrom, families } from '#core/search/address-blocks.ts';
import { addressDigits, addressHex, addressTerm, valueOfTerm, valueTerm } from '#core/search/index-terms.ts';
import { conjuncts, type Query } from '#core/search/search-query.ts';

/** Entries of the log from one key to another, both included. A key is a row number. */
export interface LogRange {
  readonly low: number;
  readonly high: number;
}

/** A range in which the store finds all rows in the same way. */
export interface LogPart extends LogRange {
  /** Every row that the terms and times of the query lead to is a match. */
  readonly isExact: boolean;
}

/** A row of the log that the terms and times of a query lead to. */
export interface SearchedRow {
  readonly position: number;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface LogPlace {
  readonly position: number;
  readonly at: number;
}

export interface FoundRow<Row, Part> {
  readonly row: Row;
  readonly part: Part;
}

/** One query on a tenant's log, which a store implements. */
export interface LogSearch<Part extends LogPart, Row extends SearchedRow> {
  readonly head: number;
  /** All possible matches are in this range. */
  readonly range: LogRange;
  /** The parts of the range, newest first. Parts without a match may be left out. */
  parts(): Iterable<Part> | AsyncIterable<Part>;
  /**
   * Passes rows to `take`, newest first, until it returns false, or until enough was read for one call. Returns the lowest key
   * that it has read; `high + 1` if there was no time for any.
   */
  look(part: Part, take: (row: Row) => boolean): number | Promise<number>;
  matches(row: Row, part: Part): boolean;
  levelOf(row: Row, part: Part): string;
  /** In the order of `found`, which is newest first. */
  toRecords(found: readonly FoundRow<Row, Part>[]): readonly HistoryRecord[];
  /** The first entry of the tenant in the range that has this key or a higher one. */
  placeAt(key: number): LogPlace | undefined | Promise<LogPlace | undefined>;
}

/** Returns a function that returns true once `ms` milliseconds have passed since this call. */
export function timer(ms = Number.POSITIVE_INFINITY): () => boolean {
  const endsAt = performance.now() + ms;
  return () => performance.now() >= endsAt;
}

/** The result of a search if the tenant has no log. */
export const emptyPage: SearchPage<never> = { records: [], next: null, searchedTo: null, head: 0 };

/** Implements `History.search`. Each `yield` ends a step. When `isOver` returns true, the page ends, after at least one step of progress. */
export async function* searchInSteps<Part extends LogPart, Row extends SearchedRow, Form extends RecordForm>(
  search: LogSearch<Part, Row>,
  { limit, before, now, form = 'record' as Form }: SearchOptions<Form>,
  isOver: () => boolean,
): AsyncGenerator<void, SearchPage<Form>> {
  const found: FoundRow<Row, Part>[] = [];
  // One row more than the limit shows that there is a next page.
  const take = (row: Row, part: Part) => found.push({ row, part }) <= limit;
  const page = (next: number | null, searchedTo: number | null): SearchPage<Form> => {
    const wanted = found.slice(0, limit);
    return { records: toForm(search, wanted, form, now), next, searchedTo, head: search.head };
  };
  for await (const low of walk(search, (part) => lookForMatches(search, part, take))) {
    // With the limit 0, a page contains only whether there are matches.
    if (found.length > limit) return page(found[limit - 1]?.row.position ?? before ?? null, null);
    const place = isOver() ? await placeToStop(search, low) : undefined;
    if (place) return page(place.position, place.at);
    yield;
  }
  return page(null, null);
}

function toForm<Part extends LogPart, Row extends SearchedRow, Form extends RecordForm>(
  search: LogSearch<Part, Row>,
  found: readonly FoundRow<Row, Part>[],
  form: Form,
  now: number,
): readonly RecordForms[Form][] {
  // Rows have it: nothing else is read.
  if (form === 'position') return found.map(({ row }) => row.position as RecordForms[Form]);
  return search.toRecords(found).map((record) => recordForms[form](record, now));
}

export interface CountPart {
  /** `before` for the count of the rest; null when all is counted. */
  readonly next: number | null;
  /** As in Counted; null with `next`. */
  readonly searchedTo: number | null;
}

/**
 * Adds the matches to a tally, for `Statistics.count`. Each `yield` ends a step. `countExact` counts a part in which the store
 * need not test rows, and returns the same as `look`; if it returns undefined, `look` reads the part.
 */
export async function* countInSteps<Part extends LogPart, Row extends SearchedRow>(
  search: LogSearch<Part, Row>,
  tally: Tally,
  countExact: (part: Part) => number | undefined | Promise<number>,
  isOver: () => boolean,
): AsyncGenerator<void, CountPart> {
  let leftMs = countBudgetMs;
  let startedAt = performance.now();
  const take = (row: Row, part: Part) => {
    tally.addAt(row.at, search.levelOf(row, part));
    return true;
  };
  const visit = (part: Part) =>
    (part.isExact ? countExact(part) : undefined) ?? lookForMatches(search, part, take);
  for await (const low of walk(search, visit)) {
    leftMs -= performance.now() - startedAt;
    const place = leftMs <= 0 || isOver() ? await placeToStop(search, low) : undefined;
    if (place) return { next: place.position, searchedTo: place.at };
    yield;
    startedAt = performance.now();
  }
  return { next: null, searchedTo: null };
}

/** Yields after each visit the lowest key that has been read. */
async function* walk<Part extends LogPart, Row extends SearchedRow>(
  search: LogSearch<Part, Row>,
  visit: (part: Part) => number | Promise<number>,
): AsyncGenerator<number> {
  for await (const part of search.parts()) {
    let { high } = part;
    while (high >= part.low) {
      const low = await visit({ ...part, high });
      yield low;
      high = low - 1;
    }
  }
}

function lookForMatches<Part extends LogPart, Row extends SearchedRow>(
  search: LogSearch<Part, Row>,
  part: Part,
  take: (row: Row, part: Part) => boolean,
): number | Promise<number> {
  return search.look(part, (row) => (part.isExact || search.matches(row, part) ? take(row, part) : true));
}

/** The entry at which the next search continues; undefined if nothing is left, or if this search has made no progress. */
async function placeToStop<Part extends LogPart, Row extends SearchedRow>(
  search: LogSearch<Part, Row>,
  low: number,
): Promise<LogPlace | undefined> {
  if (low <= search.range.low || low > search.range.high) return undefined;
  return search.placeAt(low);
}

/** Code that the statistics of both stores share. */

export const minuteMs = 60_000;

/** The time limit of a whole count, without the time in which it waits for its turns. */
export const countBudgetMs = 500;

/** The query, restricted to the counted times. */
export const withTimes = (query: Query, { after, before }: CountTimes): Query => ({
  kind: 'and',
  terms: [...conjuncts(query), { kind: 'after', at: after }, { kind: 'before', at: before }],
});

/** The levels in a query that has no other condition except times; `all` if it has no levels; otherwise undefined. */
export function levelsAlone(query: Query): readonly string[] | 'all' | undefined {
  const [first, second] = conjuncts(query).filter(({ kind }) => kind !== 'after' && kind !== 'before');
  if (first === undefined) return 'all';
  return first.kind === 'level' && second === undefined ? first.names : undefined;
}

/** Values of a field as completion shows them: addresses by number, others as text. */
export function sortedValues(values: Iterable<string>, field: WantedValues['field']): string[] {
  if (isSearchedField(field)) return [...values].sort((a, b) => (a < b ? -1 : 1));
  return [...values]
    .map((text) => ({ text, key: addressKey(text) }))
    .sort((a, b) => compareAddresses(a.key, b.key))
    .map(({ text }) => text);
}

/** Counts by bucket and level. */
export class Tally {
  readonly times: CountTimes;
  readonly #counts = new Map<string, Map<number, number>>();

  constructor(times: CountTimes) {
    this.times = times;
  }

  /** Whether each bucket is made of whole minutes. */
  get isOfMinutes(): boolean {
    return this.times.origin % minuteMs === 0 && this.times.bucketMs % minuteMs === 0;
  }

  /** Counts notifications that were received at `at`; times outside the counted range are ignored. */
  addAt(at: number, level: string): void {
    const { after, before, origin, bucketMs } = this.times;
    if (at >= after && at < before) this.add(Math.floor((at - origin) / bucketMs), level, 1);
  }

  add(bucket: number, level: string, count: number): void {
    const buckets = getOrMake(this.#counts, level, () => new Map<number, number>());
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + count);
  }

  addAll(counts: readonly LevelCount[]): void {
    for (const { bucket, level, count } of counts) this.add(bucket, level, count);
  }

  rows(): LevelCount[] {
    return [...this.#counts].flatMap(([level, buckets]) =>
      [...buckets].filter(([, count]) => count !== 0).map(([bucket, count]) => ({ bucket, level, count })),
    );
  }
}

/** The indexed values of a field, for the completion of a search. */

/** The time limit of a search for values, in milliseconds. It begins with the newest partition. */
export const valuesMs = 150;
/** The most addresses of a partition that are read to find those whose text starts with the prefix. */
const maxAddresses = 200;

/** A range of terms, of which at most `limit` are read, in order. Some of their values may be wanted. */
export interface TermRange {
  readonly from: string;
  readonly upTo: string;
  readonly limit: number;
}

/** Labels are completed in two steps: until the name is whole, the values are names, as in `env=`. */
export const wantsLabelNames = ({ field, prefix }: WantedValues): boolean =>
  field === 'label' && !prefix.includes('=');

/** The prefix in the form of indexed values. */
export const typedPrefix = ({ field, prefix }: WantedValues): string =>
  isSearchedField(field) ? searchForm(field, prefix) : prefix.toLowerCase();

/** The ranges of terms whose values may start with the prefix; none when no value can. */
export function valueRanges(tenant: TenantId, wanted: WantedValues): TermRange[] {
  const { field, limit } = wanted;
  const prefix = typedPrefix(wanted);
  if (isSearchedField(field)) {
    const from = valueTerm(tenant, wantsLabelNames(wanted) ? 'labelname' : field, prefix);
    return [{ from, upTo: `${from}\u{10ffff}`, limit }];
  }
  return addressesFrom(prefix)
    .flatMap((span) => [...families(span)])
    .map(([low, high]) => {
      const { family, digits } = addressHex(low);
      const size = addressDigits[family].at(-1) as number;
      const term = (hex: string) => addressTerm(tenant, field, { family, size, digits: hex });
      return { from: term(digits), upTo: term(addressHex(high).digits), limit: maxAddresses };
    });
}

/** The values of the terms that start with the prefix. */
export function wantedValues(terms: readonly string[], wanted: WantedValues): string[] {
  const prefix = typedPrefix(wanted);
  const isText = isSearchedField(wanted.field);
  return terms
    .map((term) => (isText ? valueOfTerm(term) : addressOf(valueOfTerm(term))))
    .filter((value) => value.startsWith(prefix));
}

/** `hex`: 32 hexadecimal digits, or only the last 8 for IPv4. */
const addressOf = (hex: string) =>
  addressText(Uint8Array.from(Buffer.from(hex.padStart(32, '00000000000000000000ffff'), 'hex')));
