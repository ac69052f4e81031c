/** Searches of history on one connection. */
import type { Database } from 'better-sqlite3';
import type { HistoryRecord, SearchOptions, SearchPage, TenantId } from '../../../core/ports.ts';
import type { Query } from '../../../core/search/search-query.ts';
import { EntryFinder } from '../entry-finder.ts';
import { RouteReader } from '../rows.ts';
import { receivedFrom } from './bounds.ts';
import { readRecords } from './records.ts';
import { findPositions } from './run.ts';
import type { SourceScope } from './source.ts';
import { defaultTuning, type Tuning } from './tuning.ts';
import { type TextMatcher, textMatcher, WordReader } from './words.ts';

/**
 * The newest matches of a query, newest first. Head, index mark and rows come from one snapshot: what was committed before
 * the call is found, indexed or not.
 */
export function searchPage(
  db: Database,
  tenant: TenantId,
  query: Query,
  options: SearchOptions,
  tuning = defaultTuning,
): SearchPage {
  return searcherOf(db).search(tenant, query, options, tuning);
}

/** The notification with this id; undefined when the tenant has none. */
export function findById(db: Database, tenant: TenantId, id: string): HistoryRecord | undefined {
  return searcherOf(db).find(tenant, id);
}

/**
 * Runs `work` in one snapshot, with what looking into a tenant's log takes.
 * Answers undefined when the tenant has none.
 */
export function inLog<T>(
  db: Database,
  asked: { readonly tenant: TenantId; readonly now: number; readonly tuning: Tuning },
  work: (scope: SourceScope, log: LogState) => T,
): T | undefined {
  return searcherOf(db).inLog(asked, work);
}

export interface LogState {
  readonly head: number;
  readonly first: number;
  readonly indexed: number;
}

const searchers = new WeakMap<Database, Searcher>();

function searcherOf(db: Database): Searcher {
  let searcher = searchers.get(db);
  if (!searcher) {
    searcher = new Searcher(db);
    searchers.set(db, searcher);
  }
  return searcher;
}

/** What searches on one connection share: its routes, its reader of words, its statements. */
class Searcher {
  readonly #db: Database;
  readonly #routes: RouteReader;
  readonly #finder: EntryFinder;
  readonly #words = new WordReader();
  #matchers: TextMatcher[] = [];

  constructor(db: Database) {
    this.#db = db;
    this.#routes = new RouteReader(db);
    this.#finder = new EntryFinder(db);
    db.function(
      'text_matches',
      { directOnly: true, deterministic: true },
      (slot: number, title: string, message: string) => (this.#matchers[slot]?.(title, message) ? 1 : 0),
    );
  }

  search(
    tenant: TenantId,
    query: Query,
    { limit, before, after, now, timeoutMs = Number.POSITIVE_INFINITY }: SearchOptions,
    tuning: Tuning,
  ): SearchPage {
    const endsAt = performance.now() + timeoutMs;
    const page = this.inLog({ tenant, now, tuning }, (scope, log): SearchPage => {
      const range = {
        low: Math.max(log.first, (after ?? 0) + 1),
        high: Math.min(log.head, (before ?? Number.MAX_SAFE_INTEGER) - 1),
      };
      const wanted = { ...range, indexed: log.indexed, limit: limit + 1, endsAt };
      const { found, stoppedAt } = findPositions(query, scope, wanted);
      const records = readRecords(this.#db, tenant, found.slice(0, limit), this.#routes);
      if (stoppedAt !== undefined) {
        const searchedTo = receivedFrom(this.#db, tenant, stoppedAt) ?? now;
        return { records, next: stoppedAt, searchedTo, head: log.head };
      }
      const isMore = found.length > limit;
      return {
        records,
        next: isMore ? (found[limit - 1] ?? before ?? null) : null,
        searchedTo: null,
        head: log.head,
      };
    });
    return page ?? { records: [], next: null, searchedTo: null, head: 0 };
  }

  inLog<T>(
    { tenant, now, tuning }: { readonly tenant: TenantId; readonly now: number; readonly tuning: Tuning },
    work: (scope: SourceScope, log: LogState) => T,
  ): T | undefined {
    return this.#snapshot(() => {
      const log = this.#db
        .prepare<[number], LogState>('SELECT head, first, indexed FROM logs WHERE tenant = ?')
        .get(tenant);
      if (!log) return undefined;
      this.#matchers = [];
      const scope = {
        db: this.#db,
        tenant,
        now,
        routes: this.#routes,
        keepText: (text: Query) => this.#matchers.push(textMatcher(text, this.#words)) - 1,
        words: this.#words,
        tuning,
      };
      return work(scope, log);
    });
  }

  find(tenant: TenantId, id: string): HistoryRecord | undefined {
    return this.#snapshot(() => {
      const found = this.#finder.find(tenant, id);
      return found && readRecords(this.#db, tenant, [found.position], this.#routes)[0];
    });
  }

  #snapshot<T>(read: () => T): T {
    if (this.#db.inTransaction) return read();
    this.#db.exec('BEGIN');
    try {
      return read();
    } finally {
      this.#db.exec('COMMIT');
    }
  }
}
