import type { Db } from './database.ts';
import { within } from './within.ts';

/** What a row costs beside its texts, for the estimate of a history's size: columns, keys and search indexes. */
const rowOverheadBytes = 350;

/** What a notification takes of the disk, as an estimate; {@link rowBytesSql} says the same of a row that is stored. */
export function rowBytes(title: string, message: string): number {
  return rowOverheadBytes + Buffer.byteLength(title) + Buffer.byteLength(message);
}

export const rowBytesSql = `${rowOverheadBytes} + octet_length(title) + octet_length(message)`;

interface LogState {
  head: number;
  first: number;
  notifications: number;
  bytes: number;
  changed: boolean;
}

interface MinuteCount {
  readonly tenant: number;
  readonly minute: number;
  readonly level: string;
  count: number;
  first: number;
  last: number;
}

/**
 * Hands out positions inside one write transaction: the counters are read once per tenant, and written once, at its end.
 * That is what makes positions dense and in commit order.
 */
export class TenantLogs {
  readonly #read;
  readonly #insert;
  readonly #update;
  readonly #countMinute;
  readonly #logs = new Map<number, LogState>();
  /** By tenant, minute and level. */
  readonly #minutes = new Map<number, Map<number, Map<string, MinuteCount>>>();

  constructor(db: Db) {
    this.#read = db.prepare<[number], Omit<LogState, 'changed'>>(
      'SELECT head, first, notifications, bytes FROM logs WHERE tenant = ?',
    );
    this.#insert = db.prepare(
      'INSERT INTO logs (tenant, head, first, indexed, notifications, bytes) VALUES (?, 0, 1, 0, 0, 0)',
    );
    this.#update = db.prepare(
      'UPDATE logs SET head = ?, first = ?, notifications = ?, bytes = ? WHERE tenant = ?',
    );
    this.#countMinute = db.prepare(`
      INSERT INTO minutes (tenant, minute, level, count, first, last) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET count = count + excluded.count, first = min(first, excluded.first), last = max(last, excluded.last)`);
  }

  of(tenant: number): LogState {
    let log = this.#logs.get(tenant);
    if (!log) {
      const row = this.#read.get(tenant);
      if (!row) this.#insert.run(tenant);
      log = { ...(row ?? { head: 0, first: 1, notifications: 0, bytes: 0 }), changed: false };
      this.#logs.set(tenant, log);
    }
    return log;
  }

  /** The next position of the tenant's log. */
  next(tenant: number): number {
    const log = this.of(tenant);
    log.head += 1;
    log.changed = true;
    return log.head;
  }

  /** Counts a stored notification, for its tenant and for its minute. */
  count(tenant: number, position: number, receivedAt: number, level: string, bytes: number): void {
    const log = this.of(tenant);
    log.notifications += 1;
    log.bytes += bytes;
    const minute = Math.floor(receivedAt / 60_000);
    const minutes = within(this.#minutes, tenant, () => new Map<number, Map<string, MinuteCount>>());
    const levels = within(minutes, minute, () => new Map<string, MinuteCount>());
    const seen = levels.get(level);
    if (seen) {
      seen.count += 1;
      seen.last = position;
    } else {
      levels.set(level, { tenant, minute, level, count: 1, first: position, last: position });
    }
  }

  /** Writes the counters; the last thing before COMMIT. */
  save(): void {
    for (const [tenant, log] of this.#logs) {
      if (log.changed) this.#update.run(log.head, log.first, log.notifications, log.bytes, tenant);
    }
    for (const ofTenant of this.#minutes.values()) {
      for (const ofMinute of ofTenant.values()) {
        for (const m of ofMinute.values())
          this.#countMinute.run(m.tenant, m.minute, m.level, m.count, m.first, m.last);
      }
    }
    this.forget();
  }

  /** After a rollback, and after save: nothing is carried from one transaction to the next. */
  forget(): void {
    this.#logs.clear();
    this.#minutes.clear();
  }
}
