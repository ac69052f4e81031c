import type { Entry, LiveNotification, LivePlace, LogBounds, LogPage, ReceiptRow } from '../../core/ports.ts';
import type { PanelAddress } from '../../core/target.ts';
import { isEmpty, reaches } from '../../core/target.ts';
import type { Db } from './database.ts';
import { EntryFinder } from './entry-finder.ts';
import type { TenantLivePlace } from './jobs.ts';
import {
  type ClearRow,
  clearColumns,
  entryOf,
  type NotificationRow,
  notificationColumns,
  positionMask,
  RouteReader,
  toClear,
  toNotification,
  uuidToBlob,
  uuidToText,
} from './rows.ts';

/** Short reads of the log, each from one snapshot. */
export class LogReader {
  readonly #db: Db;
  readonly #routes: RouteReader;
  readonly #finder: EntryFinder;
  readonly #sql;

  constructor(db: Db) {
    this.#db = db;
    this.#routes = new RouteReader(db);
    this.#finder = new EntryFinder(db);
    this.#sql = prepareStatements(db);
  }

  bounds(tenant: number): LogBounds {
    return this.#sql.bounds.get(tenant) ?? { head: 0, first: 1 };
  }

  size(tenant: number): { notifications: number; bytes: number } {
    return this.#sql.size.get(tenant) ?? { notifications: 0, bytes: 0 };
  }

  readAfter(tenant: number, position: number, limit: number): LogPage {
    return this.snapshot(() => {
      const bounds = this.bounds(tenant);
      const range = [tenant, position, tenant, bounds.head, limit] as const;
      const notifications = this.#sql.notificationsAfter
        .all(...range)
        .map((row) => toNotification(row, this.#routes));
      const clears = this.#sql.clearsAfter.all(...range).map((row) => toClear(row, this.#routes));
      return { ...bounds, entries: merge(notifications, clears).slice(0, limit) };
    });
  }

  live(
    tenant: number,
    panel: PanelAddress,
    now: number,
    limit: number,
  ): { head: number; places: LivePlace[] } {
    return this.snapshot(() => {
      const { head } = this.bounds(tenant);
      const routes = this.#routes.idsWhere(
        tenant,
        ({ target, muted }) => !muted && !isEmpty(target) && reaches(target, panel),
      );
      return { head, places: this.#sql.live.all(tenant, now, JSON.stringify(routes), limit) };
    });
  }

  stillLive(
    tenant: number,
    positions: readonly number[],
    now: number,
    chars: number,
  ): { notifications: LiveNotification[]; looked: number } {
    return this.snapshot(() => {
      const notifications: LiveNotification[] = [];
      let looked = 0;
      let taken = 0;
      for (const position of positions) {
        const row = this.#sql.stillLive.get({ tenant, position, now });
        taken += row ? charsBySender(row) : 0;
        if (taken > chars && notifications.length > 0) break;
        looked += 1;
        if (row) notifications.push({ ...toNotification(row, this.#routes), count: row.count });
      }
      return { notifications, looked };
    });
  }

  /** Some of what is listed as live and is no more, of every tenant, in the order of the list after a place in it. */
  expired(now: number, { tenant, rank, position }: TenantLivePlace, limit: number): TenantLivePlace[] {
    return this.#sql.expired.all(tenant, rank, position, now, limit);
  }

  /** What a sender's retry key was used for, while it is remembered. */
  findRetry(tenant: number, key: string, now: number): { id: string; hash: string } | undefined {
    const found = this.#sql.retry.get(tenant, key, now);
    return found && { id: uuidToText(found.id), hash: found.hash };
  }

  receiptsOf(tenant: number, id: string): ReceiptRow[] {
    return this.snapshot(() => {
      const found = uuidToBlob(id) && this.#finder.find(tenant, id);
      return found ? this.#sql.receipts.all(tenant, found.position) : [];
    });
  }

  /** Runs a read in which nothing changes meanwhile. */
  snapshot<T>(read: () => T): T {
    this.#db.exec('BEGIN');
    try {
      return read();
    } finally {
      this.#db.exec('COMMIT');
    }
  }
}

const charsBySender = ({ title, message, host, key, url }: NotificationRow) =>
  title.length + message.length + (host?.length ?? 0) + (key?.length ?? 0) + (url?.length ?? 0);

/** Two lists in order of position become one. */
function merge(notifications: readonly Entry[], clears: readonly Entry[]): Entry[] {
  return clears.length === 0
    ? [...notifications]
    : [...notifications, ...clears].sort((a, b) => a.position - b.position);
}

function prepareStatements(db: Db) {
  const after = `entry > ${entryOf('?', '?')} AND entry <= ${entryOf('?', '?')} ORDER BY entry LIMIT ?`;
  type Range = [number, number, number, number, number];
  return {
    bounds: db.prepare<[number], LogBounds>('SELECT head, first FROM logs WHERE tenant = ?'),
    size: db.prepare<[number], { notifications: number; bytes: number }>(
      'SELECT notifications, bytes FROM logs WHERE tenant = ?',
    ),
    notificationsAfter: db.prepare<Range, NotificationRow>(
      `SELECT ${notificationColumns} FROM notifications n WHERE n.${after}`,
    ),
    clearsAfter: db.prepare<Range, ClearRow>(`SELECT ${clearColumns} FROM clears c WHERE c.${after}`),
    live: db.prepare<[number, number, string, number], LivePlace>(
      `SELECT rank, position FROM live
       WHERE tenant = ? AND (expires_at IS NULL OR expires_at > ?) AND route IN (SELECT value FROM json_each(?))
       ORDER BY rank DESC, position DESC LIMIT ?`,
    ),
    // Joined by columns alone: with a parameter in the key of `live` a look takes several times as long.
    stillLive: db.prepare<
      [{ tenant: number; position: number; now: number }],
      NotificationRow & { count: number }
    >(
      `SELECT ${notificationColumns}, coalesce(t.count, 0) AS count
       FROM notifications n
       CROSS JOIN live l ON l.tenant = n.entry >> 40 AND l.rank = n.rank AND l.position = n.entry & ${positionMask}
       LEFT JOIN throttle_counts t ON t.tenant = l.tenant AND t.id = n.id
       WHERE n.entry = ${entryOf('@tenant', '@position')} AND (l.expires_at IS NULL OR l.expires_at > @now)`,
    ),
    expired: db.prepare<[number, number, number, number, number], TenantLivePlace>(
      `SELECT tenant, rank, position FROM live WHERE (tenant, rank, position) > (?, ?, ?) AND expires_at <= ?
       ORDER BY tenant, rank, position LIMIT ?`,
    ),
    retry: db.prepare<[number, string, number], { id: Buffer; hash: string }>(
      'SELECT id, hash FROM idempotency WHERE tenant = ? AND key = ? AND expires_at > ?',
    ),
    receipts: db.prepare<[number, number], ReceiptRow>(
      `SELECT panel_id AS panelId, shown_at AS shownAt, expired_at AS expiredAt, cleared_at AS clearedAt
       FROM receipts WHERE tenant = ? AND position = ? ORDER BY panel_id`,
    ),
  };
}
