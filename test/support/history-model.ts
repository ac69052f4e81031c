/** A model of history: a plain list, and searches as loops. The indexes must give the same results. */
import Database from 'better-sqlite3';
import { searchForm } from '#contract/history/fields.ts';
import { labelEntries } from '#contract/history/labels.ts';
import { addressKey, compareAddresses } from '#core/addresses.ts';
import type { NotificationDraft } from '#core/log/log.ts';
import type { PanelAddress } from '#core/log/target.ts';
import { isEmpty, reaches } from '#core/log/target.ts';
import { isPatternTerm, type Query, type SearchState, type Term } from '#core/search/search-query.ts';
import { matchesPattern } from '#core/search/search-words.ts';
import type { Db } from '#storage/sqlite/file/database-file.ts';
import { clear } from '#storage/sqlite/log/alarms.ts';
import { append, recordReceipts } from '#storage/sqlite/log/changes.ts';
import { LiveOrder } from '#storage/sqlite/log/live-order.ts';
import { type LogSizes, LogWriter, usualSizes } from '#storage/sqlite/log/log-writer.ts';
import { maintain } from '#storage/sqlite/log/maintenance.ts';
import { ensurePartition, Statements } from '#storage/sqlite/log/partitions.ts';
import { retain, retentionStep } from '#storage/sqlite/log/retention.ts';
import { RowReader } from '#storage/sqlite/log/rows.ts';
import { migrate } from '#storage/sqlite/migrate.ts';
import { draft as anyDraft } from './notification-draft.ts';

export { routeTo } from './notification-draft.ts';

/** A database with all its tables. */
export function openHistory(path = ':memory:'): Db {
  const db = new Database(path);
  migrate(db);
  ensurePartition(db);
  return db;
}

/** A notification in the model. */
export interface Known extends NotificationDraft {
  readonly position: number;
  cleared: boolean;
  shown: boolean;
  acknowledged: boolean;
  off: 'shelved' | 'suppressed' | null;
}

export interface CountTimes {
  readonly after: number;
  readonly before: number;
  readonly origin: number;
  readonly bucketMs: number;
}

export function draft(over: Partial<NotificationDraft> = {}): NotificationDraft {
  return anyDraft({
    receivedAt: 1_000_000,
    ...{ level: 'info', rank: 20, sentLevel: 'info' },
    ...{ sourceIp: '203.0.113.1', tokenId: 'tok1' },
    ...over,
  });
}

interface ModelOptions {
  readonly start?: number;
  readonly tenant?: number;
  readonly sizes?: LogSizes;
  /** The most characters of targets that {@link LiveOrder} keeps; default: its own. */
  readonly targetChars?: number;
}

/** A database and the same history as a list, written by the code that writes the log. */
export class HistoryModel {
  readonly db: Db = openHistory();
  readonly known: Known[] = [];
  readonly tenant: number;
  readonly sql = new Statements(this.db);
  readonly reader = new RowReader(this.sql);
  readonly liveOrder: LiveOrder;
  readonly #writer: LogWriter;
  readonly #sizes: LogSizes;

  /** `start`: everything up to this position was pruned. */
  constructor({ start = 0, tenant = 7, sizes = usualSizes, targetChars }: ModelOptions = {}) {
    this.tenant = tenant;
    this.liveOrder = new LiveOrder(this.sql, targetChars);
    this.db
      .prepare(
        'INSERT INTO logs (tenant, head, first, first_row, notifications, bytes) VALUES (?, ?, ?, 1, 0, 0)',
      )
      .run(tenant, start, start + 1);
    this.#writer = new LogWriter(this.db, sizes);
    this.#sizes = sizes;
  }

  transaction<T>(work: () => T): T {
    return this.#writer.transaction(work);
  }

  /** Indexes everything that is not indexed yet. */
  index(): void {
    this.transaction(() => this.#writer.indexAll());
  }

  /** Does maintenance of partitions (merges, drops, rewrites): `slices` steps, or everything. */
  maintain(slices = Number.POSITIVE_INFINITY, toleratedRows = this.#sizes.partitionRows): void {
    for (let i = 0; i < slices; i++)
      if (!this.transaction(() => maintain(this.#writer, { rows: 3, pages: 1 }, toleratedRows))) return;
  }

  /** Reopens the stored state, as after a crash. */
  restart(): void {
    ensurePartition(this.db);
    this.#writer.afterRollback();
  }

  append(given: NotificationDraft, tenant = this.tenant): void {
    const { route, ...rest } = given;
    const shown = !route.muted && !isEmpty(route.target) && given.throttledOn === null;
    const stored = append(this.#writer, tenant, { ...rest, route: JSON.stringify(route), shown }, null);
    if (typeof stored !== 'number' && stored.kind !== 'stored') throw new Error(stored.kind);
    if (tenant !== this.tenant) return;
    const { position, clears } = typeof stored === 'number' ? { position: stored, clears: [] } : stored;
    for (const { id } of clears) this.#of(id).cleared = true;
    this.known.push({
      ...given,
      position,
      cleared: false,
      shown: false,
      acknowledged: false,
      off: null,
    });
  }

  clear(id: string, at: number): void {
    const result = clear(this.#writer, this.tenant, id, { by: 'test', at });
    if (result.kind === 'cleared') this.#of(id).cleared = true;
  }

  show(id: string, panel: PanelAddress): void {
    const receipts = [{ id, state: 'shown', at: 1 }] as const;
    const fresh = recordReceipts(this.#writer, this.tenant, panel, receipts);
    if (fresh.length > 0) this.#of(id).shown = true;
  }

  /** Adds reports of so many panels that they showed the first notification. */
  addReports(count: number): void {
    this.db
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO receipts_1 (row, panel_id, shown_at) SELECT 1, 'panel' || i, 1 FROM n`,
      )
      .run(count);
    const [first] = this.known;
    if (first) first.shown = true;
  }

  /** Ids that match, newest first. */
  search(query: Query, now: number): string[] {
    return this.known
      .filter((record) => matches(query, record, now))
      .map(({ id }) => id)
      .reverse();
  }

  /** The number of matches by bucket and level, as in `2 error`. */
  count(query: Query, now: number, times: CountTimes): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const record of this.known) {
      const { receivedAt, level } = record;
      if (receivedAt < times.after || receivedAt >= times.before || !matches(query, record, now)) continue;
      const cell = `${Math.floor((receivedAt - times.origin) / times.bucketMs)} ${level}`;
      counts[cell] = (counts[cell] ?? 0) + 1;
    }
    return counts;
  }

  /** Prunes the oldest notifications, as retention does. */
  prune(upTo: number, now: number): void {
    const keep = this.known.filter(({ position }) => position > upTo).length;
    for (;;) {
      const step = retentionStep(this, this.tenant, { olderThan: null, keep, now });
      if (!step) break;
      while (this.transaction(() => retain(this.#writer, this.tenant, step, now)));
    }
    const { first } = this.db.prepare('SELECT first FROM logs WHERE tenant = ?').get(this.tenant) as {
      first: number;
    };
    while ((this.known[0]?.position ?? first) < first) this.known.shift();
  }

  #of(id: string): Known {
    const record = this.known.find((candidate) => candidate.id === id);
    if (!record) throw new Error(`${id} is not in the model`);
    return record;
  }
}

/** Whether a query matches a notification, without an index. */
export function matches(query: Query, record: Known, now: number): boolean {
  switch (query.kind) {
    case 'all':
      return true;
    case 'and':
      return query.terms.every((term) => matches(term, record, now));
    case 'or':
      return query.terms.some((term) => matches(term, record, now));
    case 'not':
      return !matches(query.term, record, now);
    default:
      return matchesTerm(query, record, now);
  }
}

function matchesTerm(term: Term, record: Known, now: number): boolean {
  const { route } = record;
  if (isPatternTerm(term)) {
    const texts =
      term.kind === 'label'
        ? labelEntries(record.labels).map(([name, value]) => `${name}=${value}`)
        : [record[term.kind]];
    return texts.some(
      (text) =>
        text !== null &&
        term.patterns.some((pattern) => matchesPattern(pattern, searchForm(term.kind, text))),
    );
  }
  switch (term.kind) {
    case 'text': {
      const texts = term.field === null ? [record.title, record.message] : [record[term.field]];
      return term.phrases.some((phrase) => texts.some((text) => hasPhrase(text, phrase)));
    }
    case 'ip':
    case 'source': {
      const text = term.kind === 'ip' ? record.ip : record.sourceIp;
      if (text === null) return false;
      const key = addressKey(text);
      return term.ranges.some(
        ({ low, high }) => compareAddresses(low, key) <= 0 && compareAddresses(key, high) <= 0,
      );
    }
    case 'level':
      return term.names.includes(record.level);
    case 'token':
      return term.ids.includes(record.tokenId);
    case 'rule':
      return route.rules.some(({ id }) => term.ids.includes(id));
    case 'panel':
      return !route.muted && term.panels.some((panel) => reaches(route.target, panel));
    case 'is':
      return term.states.some((state) => isIn(state, record, now));
    case 'after':
      return record.receivedAt >= term.at;
    case 'before':
      return record.receivedAt < term.at;
  }
}

function isIn(state: SearchState, record: Known, now: number): boolean {
  const { route, throttledOn, cleared, shown, expiresAt } = record;
  const forPanels = !route.muted && !isEmpty(route.target) && throttledOn === null;
  const isOver = expiresAt !== null && expiresAt <= now;
  switch (state) {
    case 'muted':
      return route.muted;
    case 'throttled':
      return throttledOn !== null;
    case 'unrouted':
      return !route.muted && isEmpty(route.target) && throttledOn === null;
    case 'cleared':
      return cleared;
    case 'shelved':
      return record.off === 'shelved';
    case 'suppressed':
      return record.off === 'suppressed';
    case 'acknowledged':
      return record.acknowledged;
    case 'live':
      return forPanels && !cleared && !isOver;
    case 'expired':
      return forPanels && !cleared && isOver;
    case 'unseen':
      return forPanels && !shown;
  }
}

const wordsOf = (text: string) =>
  text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

function hasPhrase(text: string, { text: phrase, prefix }: { text: string; prefix: boolean }): boolean {
  const wanted = wordsOf(phrase);
  const joined = ` ${wordsOf(text).join(' ')} `;
  return joined.includes(` ${wanted.join(' ')}${prefix ? '' : ' '}`);
}
