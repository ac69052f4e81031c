/**
 * Searches of the log: a statement at a time. Between two statements nothing is held, and other tenants have their turn. Rows are
 * found by the lists of their terms; PostgreSQL tests those that are in no list yet, a bounded number in a statement.
 */
import type { RecordForm, SearchOptions, SearchPage } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import type { CountTimes, LevelCount } from '#core/log/statistics.ts';
import type { TermExpression } from '#core/search/index-terms.ts';
import { compileQuery, type StoreTerms } from '#core/search/search-compile.ts';
import { matcherOf } from '#core/search/search-evaluate.ts';
import { conjuncts, type Phrase, type Query } from '#core/search/search-query.ts';
import { wordsOf } from '#core/search/search-words.ts';
import { finite, offOf } from '../../log/history-rows.ts';
import {
  emptyPage,
  type LogPart,
  type LogPlace,
  type LogRange,
  type LogSearch,
  searchInSteps,
  timer,
} from '../../search/log-search.ts';
import { type IndexedRows, RowSet, singleTerms } from '../../search/row-set.ts';
import type { Connections } from '../connections.ts';
import { isTimeout } from '../errors.ts';
import { partitionsAtOnce, readLog, readPartitions } from './partitions.ts';
import { type RecordRow, readRecords, toNotification, toRecord } from './rows.ts';
import { longLists, readLists, readStates, shortLists, TermLists, type TermRows } from './term-lists.ts';

/** Rows that one statement looks up by their numbers, and the first of a search; fewer after a time-out. */
const mostRowsAtOnce = 8_192;
const firstRowsAtOnce = 2_048;
/** Long lists that one statement reads of several partitions, at the most. */
const mostLongLists = 64;
/** States have tables of their own. */
const storeTerms: StoreTerms = {
  later: ['live', 'shelved', 'suppressed', 'acknowledged'],
  patterns: false,
  isByTenant: true,
};
/** Rows that are tested one by one by this process, read at once. */
const testedRows = 500;

/** Rows of one or more partitions. */
export interface PostgresPart extends LogPart {
  /** Those that may match, the newest partition first. */
  readonly candidates: readonly RowSet[];
  /** Whether lists have found them. */
  readonly isListed: boolean;
}

interface ListedPart extends LogRange {
  readonly rows: IndexedRows;
}

/** `wanted`: matches that a page needs; undefined for a count. */
interface SearchScope extends Pick<SearchOptions, 'now' | 'before' | 'after'> {
  readonly wanted?: number;
}

const rowTest = 'ROW($3, $4, $5, $6, $7)::row_test';

export interface PostgresSearch extends LogSearch<PostgresPart, RecordRow> {
  readonly times: Pick<CountTimes, 'after' | 'before'>;
  /** Up to this minute, retention may have dropped some of what was counted. */
  readonly droppedMinute: number;
  /** Counts a part of which each candidate is a match; returns the row down to which it looked. */
  count(part: PostgresPart, times: CountTimes, add: (counts: readonly LevelCount[]) => void): Promise<number>;
}

/** undefined: the tenant has no log. */
export async function openSearch(
  connections: Connections,
  tenant: TenantId,
  query: Query,
  { before, after, now, wanted = testedRows }: SearchScope,
): Promise<PostgresSearch | undefined> {
  const log = await readLog(connections, tenant, { before, after });
  if (!log) return undefined;
  const range: LogRange = { low: log.low, high: log.high };
  const { terms, exact: isExactUnlisted, ...bounds } = compileQuery(query, tenant);
  const times = { after: finite(bounds.after), before: finite(bounds.before) };
  const isMatch = matcherOf(query, now);
  let foundRows = 0;
  let rowsAtOnce = firstRowsAtOnce;

  /** What finds candidates of a part has these values first. */
  const valuesOf = ({ isListed, isExact }: PostgresPart, rows: readonly number[]) => {
    const wanted = isListed && isExact ? null : tsqueryOf(terms);
    return [tenant, `{${rows.join()}}`, times.after, times.before, log.head, wanted, textTests(query)];
  };

  /** The tenant's first entry among these rows. */
  const placeIn = async ({ low, high }: LogRange) => {
    const text = 'SELECT at_position AS position, at FROM entry_between($1, $2, $3)';
    const [found] = await connections.query<LogPlace>(tenant, text, [tenant, low, high]);
    return found;
  };

  async function* parts(): AsyncIterable<PostgresPart> {
    const { terms, exact } = compileQuery(query, tenant, storeTerms);
    if (!terms) return;
    const all = singleTerms(terms);
    const states = await readStates(connections, tenant, all, now);

    /** Long lists are read of those partitions in which the short ones leave many rows. */
    const toPart = async (given: readonly ListedPart[]): Promise<PostgresPart> => {
      const read = (of: readonly ListedPart[], most: typeof shortLists) => {
        const lows = of.map(({ rows }) => rows.firstRow);
        return readLists(connections, tenant, lows, { terms: all, most });
      };
      const narrow = (part: ListedPart, lists: ReadonlyMap<number, TermRows>) => {
        const index = new TermLists(part.rows, states, lists.get(part.rows.firstRow));
        const found = index.narrow(RowSet.all(part.rows), terms);
        return {
          ...part,
          found,
          mayHaveFalsePositives: index.mayHaveFalsePositives,
          needsLong: index.mayHaveFalsePositives && !found.isFew,
        };
      };
      const short = await read(given, shortLists);
      const narrowed = given.map((part) => narrow(part, short));
      const open = narrowed.filter(({ needsLong }) => needsLong);
      const long = open.length > 0 ? await read(open, longLists) : short;
      for (const each of open) Object.assign(each, narrow(each, long));
      const isExact = exact && !narrowed.some(({ mayHaveFalsePositives }) => mayHaveFalsePositives);
      const [low, high] = [given.at(-1)?.low ?? 0, given[0]?.high ?? 0];
      return { low, high, isExact, isListed: true, candidates: narrowed.map(({ found }) => found) };
    };

    let size = 1;
    const group: ListedPart[] = [];
    for (const partition of await readPartitions(connections, tenant, range, times)) {
      const { low: firstRow, high, listed, from, upTo } = partition;
      const unlisted = { low: Math.max(range.low, listed), high: Math.min(range.high, high - 1) };
      if (unlisted.low <= unlisted.high) {
        if (group.length > 0) yield toPart(group.splice(0));
        const part = { ...unlisted, isExact: isExactUnlisted, isListed: false };
        // Others may have filled many partitions since the tenant's last entry before these rows.
        if (high <= range.high && !(await placeIn(unlisted))) yield { ...part, candidates: [] };
        else {
          const rows = { firstRow: listed, indexed: high - 1 };
          yield { ...part, candidates: [new TermLists(rows, states).narrow(RowSet.all(rows), terms)] };
        }
      }
      const inTimes = { low: Math.max(range.low, from), high: Math.min(range.high, upTo - 1) };
      if (inTimes.low <= inTimes.high) group.push({ ...inTimes, rows: { firstRow, indexed: listed - 1 } });
      if (group.length < size) continue;
      yield toPart(group.splice(0));
      // What is frequent is found in the newest.
      size = Math.max(1, Math.min(4 * size, partitionsAtOnce, Math.floor(mostLongLists / all.length)));
    }
    if (group.length > 0) yield toPart(group);
  }

  return {
    head: log.head,
    range,
    times,
    droppedMinute: log.dropped_minute,
    parts,

    async look(part, take) {
      const most = part.isExact ? wanted : Math.min(testedRows, 2 * (wanted + foundRows));
      const { rows, lowest } = candidatesOf(part, rowsAtOnce);
      if (rows.length === 0) return lowest;
      const found = `SELECT * FROM test_rows($1, $2, ${rowTest}, $8)`;
      try {
        const records = await readRecords(connections, tenant, found, [...valuesOf(part, rows), most]);
        rowsAtOnce = Math.min(4 * rowsAtOnce, mostRowsAtOnce);
        foundRows += records.length;
        records.every(take);
        return records.length < most ? lowest : (records.at(-1) as RecordRow).row;
      } catch (error) {
        if (rows.length === 1 || !isTimeout(error)) throw error;
        rowsAtOnce = Math.max(1, rows.length >> 6);
        return part.high + 1;
      }
    },

    async count(part, { origin, bucketMs }, add) {
      const { rows, lowest } = candidatesOf(part, mostRowsAtOnce);
      const counted = `SELECT * FROM count_rows_of($1, $2, ${rowTest}, $8, $9)`;
      if (rows.length > 0)
        add(
          await connections.query<LevelCount>(tenant, counted, [...valuesOf(part, rows), origin, bucketMs]),
        );
      return lowest;
    },

    matches: (row) =>
      isMatch({
        ...toNotification(row),
        cleared: row.cleared_at !== null,
        shown: row.shown > 0,
        acknowledged: row.acknowledged_at !== null,
        off: offOf(row.shelved),
      }),
    levelOf: ({ level }) => level,
    toRecords: (found) => found.map(({ row }) => toRecord(row)),

    placeAt: (low) => placeIn({ low, high: range.high }),
  };
}

/** The next rows, in descending order, and down to where there are no others. */
function candidatesOf({ candidates, low, high }: PostgresPart, limit: number) {
  const rows: number[] = [];
  for (const found of candidates) rows.push(...found.last(limit - rows.length, { low, high }).reverse());
  return { rows, lowest: rows.length < limit ? low : (rows.at(-1) as number) };
}

/** As `History.search` promises; each `yield` ends a step. */
export async function* searchLog<Form extends RecordForm>(
  connections: Connections,
  tenant: TenantId,
  query: Query,
  options: SearchOptions<Form>,
): AsyncGenerator<void, SearchPage<Form>> {
  const isOver = timer(options.timeoutMs);
  const search = await openSearch(connections, tenant, query, { ...options, wanted: options.limit + 1 });
  return search ? yield* searchInSteps(search, options, isOver) : emptyPage;
}

/** How PostgreSQL tests a row (the type row_test), so that a node need not read and test those that cannot match. */

/** Other letters may be written in several ways: such a text is left to the node. */
const notAscii = '[^\\x01-\\x7f]';
const isAscii = /^[a-z0-9 ]+$/;
/** PostgreSQL keeps some expressions compiled, and would compile more of them anew for each row. */
const mostTests = 8;

/** Every match fits all of them with its title and message, and a space between. Words that the index decides need none. */
export function textTests(query: Query): string[] {
  const tests = new Set<string>();
  for (const term of conjuncts(query)) {
    if (term.kind !== 'text' || tests.size === mostTests) continue;
    const phrases = term.phrases.map(expressionOf);
    const isDecided = term.field === null && phrases.every(({ words }) => words.length === 1);
    if (!isDecided && phrases.every(({ words }) => isAscii.test(words.join(' '))))
      tests.add([notAscii, ...phrases.map(({ expression }) => expression)].join('|'));
  }
  return [...tests];
}

function expressionOf({ text, prefix }: Phrase) {
  const words = wordsOf(text);
  const end = prefix ? '' : '(?:$|[^a-z0-9])';
  return { words, expression: `(?:^|[^a-z0-9])${words.join('[^a-z0-9]+')}${end}` };
}

/** Bytes. */
const longestTerm = 2_046;
/** No notification has this term. */
const nothing = "'0.none'";

/** A term expression as the text of a tsquery. */
function tsqueryOf(terms: TermExpression | undefined): string {
  if (!terms) return nothing;
  switch (terms.kind) {
    case 'term':
      // PostgreSQL takes no longer one, and none is indexed.
      if (Buffer.byteLength(terms.term) > longestTerm) return nothing;
      return `'${terms.term.replace(/['\\]/g, '$&$&')}'${terms.prefix ? ':*' : ''}`;
    case 'without':
      return `(${tsqueryOf(terms.of)} & !${tsqueryOf(terms.not)})`;
    default:
      return `(${terms.of.map(tsqueryOf).join(terms.kind === 'and' ? ' & ' : ' | ')})`;
  }
}
