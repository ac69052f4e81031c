import { limits } from '../../contract/limits.ts';
import { type AddressKey, addressKey } from '../../core/addresses.ts';
import type { Clear, Route } from '../../core/ports.ts';
import { reaches } from '../../core/target.ts';
import type { Db } from './database.ts';
import { EntryFinder } from './entry-finder.ts';
import type { AppendResult, ClearResult, DraftRow, Job, NewReceipt } from './jobs.ts';
import { RouteIds } from './route-ids.ts';
import { entryOf, uuidToBlob, uuidToText } from './rows.ts';
import { rowBytes, TenantLogs } from './tenant-log.ts';

type JobOf<K extends Job['kind']> = Extract<Job, { kind: K }>;

interface LiveRow {
  readonly rank: number;
  readonly position: number;
  readonly expires_at: number | null;
  readonly route: number;
}

/**
 * Writes entries of the log. Every method runs inside the caller's transaction; `beforeCommit` ends it and
 * `afterRollback` forgets what it had begun.
 */
export class LogWriter {
  readonly logs: TenantLogs;
  readonly finder: EntryFinder;
  readonly #routeIds = new RouteIds();
  readonly #sql;
  #lastSource: { readonly address: string; readonly key: AddressKey } | undefined;

  constructor(db: Db) {
    this.logs = new TenantLogs(db);
    this.finder = new EntryFinder(db);
    this.#sql = prepareStatements(db);
  }

  beforeCommit(): void {
    this.logs.save();
    this.#routeIds.keepNew();
  }

  afterRollback(): void {
    this.logs.forget();
    this.#routeIds.forgetNew();
  }

  append({ tenant, draft, idempotency }: JobOf<'append'>): AppendResult {
    const id = toBlob(draft.id);
    if (idempotency) {
      const earlier = this.#sql.findRetry.get(tenant, idempotency.key, draft.receivedAt);
      if (earlier)
        return earlier.hash === idempotency.hash
          ? { kind: 'repeated', id: uuidToText(earlier.id) }
          : { kind: 'conflict' };
      this.#sql.addRetry.run(
        tenant,
        idempotency.key,
        idempotency.hash,
        id,
        draft.receivedAt + limits.idempotencyMs,
      );
    }
    const clears = draft.key === null ? [] : this.#replace(tenant, draft.key, draft);
    const position = this.logs.next(tenant);
    const route = this.#routeId(tenant, draft.route);
    this.#insert(tenant, position, id, draft, route);
    if (draft.shown) {
      this.#sql.addLive.run(tenant, draft.rank, position, draft.expiresAt, draft.key, route);
    } else if (draft.throttledOn !== null) {
      this.#sql.countThrottled.run(tenant, toBlob(draft.throttledOn));
    }
    const bytes = rowBytes(draft.title, draft.message);
    this.logs.count(tenant, position, draft.receivedAt, draft.level, bytes);
    return { kind: 'stored', position, clears };
  }

  clear({ tenant, id, by, at }: JobOf<'clear'>): ClearResult {
    const found = this.finder.find(tenant, id);
    if (!found) return { kind: 'not-found' };
    const row = this.#sql.findLive.get(tenant, found.rank, found.position);
    if (!row || (row.expires_at !== null && row.expires_at <= at)) return { kind: 'not-live' };
    return { kind: 'cleared', clear: this.takeOff(tenant, row, id, { reason: 'cleared', by, at }) };
  }

  /** Takes a live notification off its panels by an entry of its own. */
  takeOff(
    tenant: number,
    row: LiveRow,
    id: string,
    { reason, by, at }: Pick<Clear, 'reason' | 'by' | 'at'>,
  ): Clear {
    const position = this.logs.next(tenant);
    this.#sql.removeLive.run(tenant, row.rank, row.position);
    this.#sql.addClear.run(tenant, position, tenant, row.position, toBlob(id), reason, by, at, row.route);
    return { kind: 'clear', position, id, reason, by, at, route: this.#route(tenant, row.route) };
  }

  receipts({ tenant, panel, receipts }: JobOf<'receipts'>): NewReceipt[] {
    const fresh: NewReceipt[] = [];
    for (const { id, state, at } of receipts) {
      const found = this.finder.find(tenant, id);
      if (!found || !reaches(this.#route(tenant, found.route).target, panel)) continue;
      const column = `${state}_at` as const;
      const known = this.#sql.findReceipt.get(tenant, found.position, panel.id);
      if (known && known[column] !== null) continue;
      this.#sql.addReceipt[column].run(tenant, found.position, panel.id, at);
      fresh.push({ id, state, at, receivedAt: found.receivedAt });
    }
    return fresh;
  }

  /** Drops routes that nothing referred to when the log's head was `head`, unless something does since. */
  dropRoutes({ tenant, ids, head }: JobOf<'dropRoutes'>): number {
    const since = new Set(this.#sql.routesAfter.all(tenant, head, tenant + 1, 0).map(({ route }) => route));
    let dropped = 0;
    for (const id of ids) if (!since.has(id)) dropped += this.#sql.dropRoute.run(tenant, id).changes;
    this.#routeIds.forget(tenant);
    return dropped;
  }

  /**
   * Clears whatever is live under the key: an "up" takes its "down" off the panels. What a throttle counted is not shown
   * itself, so it leaves the one it was counted on.
   */
  #replace(tenant: number, key: string, by: DraftRow): Clear[] {
    const clears: Clear[] = [];
    for (const row of this.#sql.findLiveByKey.all(tenant, key, by.receivedAt)) {
      const replaced = this.#sql.idAt.get(tenant, row.position);
      const id = replaced && uuidToText(replaced.id);
      if (id === undefined || id === by.throttledOn) continue;
      clears.push(this.takeOff(tenant, row, id, { reason: 'replaced', by: by.id, at: by.receivedAt }));
    }
    return clears;
  }

  #insert(tenant: number, position: number, id: Buffer, d: DraftRow, route: number): void {
    this.#sql.addNotification.run(
      tenant,
      position,
      id,
      d.receivedAt,
      d.title,
      d.message,
      d.level,
      d.rank,
      d.ttl,
      d.sentLevel,
      d.sentTtl,
      d.expiresAt,
      d.ip,
      d.ip === null ? null : addressKey(d.ip),
      d.host,
      d.host === null ? null : d.host.toLowerCase(),
      d.key,
      d.url,
      d.sourceIp,
      this.#keyOf(d.sourceIp),
      d.tokenId,
      route,
      d.muted ? 1 : 0,
      d.throttledOn === null ? null : toBlob(d.throttledOn),
      d.throttleCount,
    );
  }

  /** Most of a batch come from where the one before came from. */
  #keyOf(source: string): AddressKey {
    if (this.#lastSource?.address !== source) this.#lastSource = { address: source, key: addressKey(source) };
    return this.#lastSource.key;
  }

  #routeId(tenant: number, route: string): number {
    const known = this.#routeIds.get(tenant, route);
    if (known !== undefined) return known;
    let row = this.#sql.findRoute.get(tenant, route);
    if (!row) {
      this.#sql.addRoute.run(tenant, tenant, route);
      row = this.#sql.findRoute.get(tenant, route) as { id: number };
    }
    this.#routeIds.add(tenant, route, row.id);
    return row.id;
  }

  #route(tenant: number, id: number): Route {
    const row = this.#sql.getRoute.get(tenant, id);
    if (!row) throw new Error(`route ${id} of tenant ${tenant} is missing`);
    return JSON.parse(row.route) as Route;
  }
}

function toBlob(id: string): Buffer {
  const blob = uuidToBlob(id);
  if (!blob) throw new Error(`not a UUID: ${id}`);
  return blob;
}

function prepareStatements(db: Db) {
  const addReceipt = (column: string) =>
    db.prepare(`INSERT INTO receipts (tenant, position, panel_id, ${column}) VALUES (?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET ${column} = excluded.${column} WHERE ${column} IS NULL`);
  return {
    findRetry: db.prepare<[number, string, number], { hash: string; id: Buffer }>(
      'SELECT hash, id FROM idempotency WHERE tenant = ? AND key = ? AND expires_at > ?',
    ),
    addRetry: db.prepare(
      'INSERT OR REPLACE INTO idempotency (tenant, key, hash, id, expires_at) VALUES (?, ?, ?, ?, ?)',
    ),
    findRoute: db.prepare<[number, string], { id: number }>(
      'SELECT id FROM routes WHERE tenant = ? AND route = ?',
    ),
    getRoute: db.prepare<[number, number], { route: string }>(
      'SELECT route FROM routes WHERE tenant = ? AND id = ?',
    ),
    addRoute: db.prepare(
      'INSERT INTO routes (tenant, id, route) VALUES (?, (SELECT coalesce(max(id), 0) + 1 FROM routes WHERE tenant = ?), ?)',
    ),
    routesAfter: db.prepare<[number, number, number, number], { route: number }>(
      `SELECT DISTINCT route FROM notifications WHERE entry > ${entryOf('?', '?')} AND entry < ${entryOf('?', '?')}`,
    ),
    dropRoute: db.prepare('DELETE FROM routes WHERE tenant = ? AND id = ?'),
    addNotification:
      db.prepare(`INSERT INTO notifications (entry, id, received_at, title, message, level, rank, ttl,
        sent_level, sent_ttl, expires_at, ip, ip_key, host, host_key, key, url, source_ip, source_ip_key, token_id, route,
        muted, throttled_on, throttle_count)
      VALUES (${entryOf('?', '?')}, ${Array(23).fill('?').join(', ')})`),
    addLive: db.prepare(
      'INSERT INTO live (tenant, rank, position, expires_at, key, route) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    removeLive: db.prepare('DELETE FROM live WHERE tenant = ? AND rank = ? AND position = ?'),
    findLive: db.prepare<[number, number, number], LiveRow>(
      'SELECT rank, position, expires_at, route FROM live WHERE tenant = ? AND rank = ? AND position = ?',
    ),
    findLiveByKey: db.prepare<[number, string, number], LiveRow>(
      `SELECT rank, position, expires_at, route FROM live
       WHERE tenant = ? AND key = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY position`,
    ),
    idAt: db.prepare<[number, number], { id: Buffer }>(
      `SELECT id FROM notifications WHERE entry = ${entryOf('?', '?')}`,
    ),
    addClear: db.prepare(`INSERT INTO clears (entry, cleared, id, reason, by, at, route)
      VALUES (${entryOf('?', '?')}, ${entryOf('?', '?')}, ?, ?, ?, ?, ?)`),
    countThrottled: db.prepare(
      'INSERT INTO throttle_counts (tenant, id, count) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET count = count + 1',
    ),
    findReceipt: db.prepare<
      [number, number, string],
      { shown_at: number | null; expired_at: number | null; cleared_at: number | null }
    >(
      'SELECT shown_at, expired_at, cleared_at FROM receipts WHERE tenant = ? AND position = ? AND panel_id = ?',
    ),
    addReceipt: {
      shown_at: addReceipt('shown_at'),
      expired_at: addReceipt('expired_at'),
      cleared_at: addReceipt('cleared_at'),
    },
  };
}
