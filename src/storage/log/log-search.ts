/** Searches and counts of a tenant's log, newest first. A store reads one range of the log at a time. */
import { recordForms } from '#core/history/export.ts';
import type { HistoryRecord, RecordForm, SearchOptions, SearchPage } from '#core/ports.ts';
import { countBudgetMs, type Tally } from './counting.ts';

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
    const toForm = recordForms[form];
    const records = search.toRecords(found.slice(0, limit)).map((record) => toForm(record, now));
    return { records, next, searchedTo, head: search.head };
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
