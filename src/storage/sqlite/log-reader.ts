import type {
  Entry,
  HistoryRecord,
  LiveNotification,
  LivePosition,
  LogBounds,
  LogPage,
  SearchOptions,
  SearchPage,
} from '#core/ports.ts';
import type { ReceiptRow } from '#core/receipts.ts';
import type { Query } from '#core/search/search-query.ts';
import type { BusyHost, MinuteCount, WantedValues } from '#core/statistics.ts';
import type { PanelAddress } from '#core/target.ts';
import { isEmpty, reaches } from '#core/target.ts';
import { charsBySender } from '../history-rows.ts';
import { timer } from '../log-search.ts';
import type { RetentionBounds, RetentionStep } from '../retention.ts';
import { readAcknowledged } from './acknowledgements.ts';
import { type CountRequest, type CountStep, countStep } from './count.ts';
import { fieldValues } from './field-values.ts';
import type { TenantLivePosition } from './jobs.ts';
import { findById, findRetry, partitionOfPosition, partitionsFrom } from './log-lookup.ts';
import { busiestHosts, minuteCounts } from './overview.ts';
import { type Statements, tablesOf } from './partitions.ts';
import { retentionStep } from './retention.ts';
import { type EntryRow, entryColumns, type NotificationRow, RowReader } from './rows.ts';
import { findRecord, type LogConnection, searchPage } from './search.ts';

/** Reads of the log. Each must run inside a transaction, so that nothing changes during it. */
export class LogReader {
  readonly #sql: Statements;
  readonly #reader: RowReader;
  readonly #connection: LogConnection;

  constructor(sql: Statements) {
    this.#sql = sql;
    this.#reader = new RowReader(sql);
    this.#connection = { sql, reader: this.#reader };
  }

  bounds(tenant: number): LogBounds {
    const log = this.#sql
      .of<[number], LogBounds>('SELECT head, first FROM logs WHERE tenant = ?')
      .get(tenant);
    return log ?? { head: 0, first: 1 };
  }

  heads(tenants: readonly number[]): ReadonlyMap<number, number> {
    const heads = this.#sql
      .of<[string], { tenant: number; head: number }>(
        'SELECT tenant, head FROM logs WHERE tenant IN (SELECT value FROM json_each(?))',
      )
      .all(JSON.stringify(tenants));
    return new Map(heads.map(({ tenant, head }) => [tenant, head]));
  }

  size(tenant: number): { notifications: number; bytes: number } {
    const size = this.#sql
      .of<[number], { notifications: number; bytes: number }>(
        'SELECT notifications, bytes FROM logs WHERE tenant = ?',
      )
      .get(tenant);
    return size ?? { notifications: 0, bytes: 0 };
  }

  readAfter(tenant: number, position: number, limit: number): LogPage {
    const bounds = this.bounds(tenant);
    const after = Math.max(position, bounds.first - 1);
    const entries: Entry[] = [];
    if (after >= bounds.head) return { ...bounds, entries };
    for (const partition of partitionsFrom(this.#sql, tenant, after + 1)) {
      const rows = this.#sql
        .of<[number, number, number], EntryRow>(
          `SELECT ${entryColumns} FROM ${tablesOf(partition).log} n
           WHERE n.tenant = ? AND n.position > ? ORDER BY n.position LIMIT ?`,
        )
        .all(tenant, after, limit - entries.length);
      for (const row of rows) entries.push(this.#reader.entry(row, partition));
      if (entries.length >= limit) break;
    }
    return { ...bounds, entries };
  }

  live(
    tenant: number,
    panel: PanelAddress,
    now: number,
    limit: number,
  ): { head: number; positions: LivePosition[] } {
    const { head } = this.bounds(tenant);
    const routes = this.#reader.routes.idsWhere(
      tenant,
      ({ target, muted }) => !muted && !isEmpty(target) && reaches(target, panel),
    );
    const positions = this.#sql
      .of<[number, number, string, number], LivePosition>(
        `SELECT rank, position FROM live
         WHERE tenant = ? AND (expires_at IS NULL OR expires_at > ?) AND route IN (SELECT value FROM json_each(?))
         ORDER BY rank DESC, position DESC LIMIT ?`,
      )
      .all(tenant, now, JSON.stringify(routes), limit);
    return { head, positions };
  }

  readLive(
    tenant: number,
    positions: readonly number[],
    now: number,
    chars: number,
  ): { notifications: LiveNotification[]; scanned: number } {
    const notifications: LiveNotification[] = [];
    let scanned = 0;
    let taken = 0;
    for (const position of positions) {
      const found = this.#findLive(tenant, position, now);
      taken += found ? charsBySender(found) : 0;
      if (taken > chars && notifications.length > 0) break;
      scanned += 1;
      if (found) notifications.push(found);
    }
    return { notifications, scanned };
  }

  /** Some of what is listed as live and is no more, of every tenant, in the order of the list after a place in it. */
  expired(now: number, { tenant, rank, position }: TenantLivePosition, limit: number): TenantLivePosition[] {
    return this.#sql
      .of<[number, number, number, number, number], TenantLivePosition>(
        `SELECT tenant, rank, position FROM live WHERE (tenant, rank, position) > (?, ?, ?) AND expires_at <= ?
         ORDER BY tenant, rank, position LIMIT ?`,
      )
      .all(tenant, rank, position, now, limit);
  }

  findRetry(tenant: number, key: string, now: number): ReturnType<typeof findRetry> {
    return findRetry(this.#sql, tenant, key, now);
  }

  receiptsOf(tenant: number, id: string): ReceiptRow[] {
    const found = findById(this.#sql, tenant, id);
    if (!found) return [];
    return this.#sql
      .of<[number], ReceiptRow>(
        `SELECT panel_id AS panelId, shown_at AS shownAt, expired_at AS expiredAt, cleared_at AS clearedAt
         FROM ${tablesOf(found.partition).receipts} WHERE row = ? ORDER BY panel_id`,
      )
      .all(found.row);
  }

  firstShown(tenant: number, ids: readonly string[]): ReadonlyMap<string, number> {
    const times = new Map<string, number>();
    for (const id of ids) {
      const shown = this.receiptsOf(tenant, id).flatMap(({ shownAt }) => shownAt ?? []);
      if (shown.length > 0) times.set(id, Math.min(...shown));
    }
    return times;
  }

  /** The lowest revision by which a route that is kept was decided; undefined without any. */
  oldestRevision(tenant: number): number | undefined {
    const found = this.#sql
      .of<[number], { revision: number | null }>(
        "SELECT min(route ->> '$.revision') AS revision FROM routes WHERE tenant = ?",
      )
      .get(tenant);
    return found?.revision ?? undefined;
  }

  find(tenant: number, id: string): HistoryRecord | undefined {
    return findRecord(this.#connection, tenant, id);
  }

  search(tenant: number, query: Query, options: Omit<SearchOptions, 'signal'>): Promise<SearchPage> {
    const isOver = timer(options.timeoutMs);
    return searchPage(this.#connection, { tenant, query, options }, isOver);
  }

  count(tenant: number, query: Query, request: CountRequest, stepMs: number): Promise<CountStep> {
    return countStep(this.#connection, { tenant, query, request }, timer(stepMs));
  }

  retentionStep(tenant: number, bounds: RetentionBounds): RetentionStep | undefined {
    return retentionStep(this.#sql, tenant, bounds);
  }

  minutes(tenant: number, from: number): MinuteCount[] {
    return minuteCounts(this.#connection, tenant, from);
  }

  busiestHosts(tenant: number, from: number, limit: number): BusyHost[] {
    return busiestHosts(this.#connection, tenant, from, limit);
  }

  values(tenant: number, wanted: Omit<WantedValues, 'signal'>): string[] {
    return fieldValues(this.#connection, tenant, wanted);
  }

  #findLive(tenant: number, position: number, now: number): LiveNotification | undefined {
    const partition = partitionOfPosition(this.#sql, tenant, position);
    if (!partition) return undefined;
    const { log, state } = tablesOf(partition);
    const row = this.#sql
      .of<[number, number, number], NotificationRow & { counted: number | null }>(
        `SELECT ${entryColumns}, s.counted FROM ${log} n
         CROSS JOIN live l ON l.tenant = n.tenant AND l.rank = n.rank AND l.position = n.position
         LEFT JOIN ${state} s ON s.row = n.row
         WHERE n.tenant = ? AND n.position = ? AND (l.expires_at IS NULL OR l.expires_at > ?)`,
      )
      .get(tenant, position, now);
    if (!row) return undefined;
    const acknowledged = readAcknowledged(this.#sql, tenant, row.row);
    return { ...this.#reader.notification(row, partition), count: row.counted ?? 0, acknowledged };
  }
}
