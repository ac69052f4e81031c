/** How the log's rows become what core speaks of. Every reader of the log goes through here. */
import type { Database, Statement } from 'better-sqlite3';
import type { Clear, Notification, Route, TenantId } from '../../core/ports.ts';

/**
 * A row of `notifications n`, as {@link notificationColumns} selects it. Tenant and position are taken apart in SQL:
 * an entry can pass 2^53, its two parts cannot.
 */
export interface NotificationRow {
  readonly tenant: number;
  readonly position: number;
  readonly id: Buffer;
  readonly received_at: number;
  readonly title: string;
  readonly message: string;
  readonly level: string;
  readonly rank: number;
  readonly ttl: number;
  readonly sent_level: string;
  readonly sent_ttl: number | null;
  readonly expires_at: number | null;
  readonly ip: string | null;
  readonly host: string | null;
  readonly key: string | null;
  readonly url: string | null;
  readonly source_ip: string;
  readonly token_id: string;
  readonly route: number;
  readonly throttled_on: Buffer | null;
  readonly throttle_count: number;
}

/** A row of `clears c`, as {@link clearColumns} selects it. */
export interface ClearRow {
  readonly tenant: number;
  readonly position: number;
  readonly id: Buffer;
  readonly reason: string;
  readonly by: string;
  readonly at: number;
  readonly route: number;
}

/** The lowest 40 bits of an entry: its position. */
export const positionMask = 0xff_ffff_ffff;

/** Goes with `FROM notifications n`. */
export const notificationColumns = `n.entry >> 40 AS tenant, n.entry & ${positionMask} AS position, n.id, n.received_at,
  n.title, n.message, n.level, n.rank, n.ttl, n.sent_level, n.sent_ttl, n.expires_at, n.ip, n.host, n.key, n.url,
  n.source_ip, n.token_id, n.route, n.throttled_on, n.throttle_count`;

/** Goes with `FROM clears c`. */
export const clearColumns = `c.entry >> 40 AS tenant, c.entry & ${positionMask} AS position, c.id, c.reason, c.by, c.at, c.route`;

/**
 * SQL for an entry out of two parameters. `|` and `<<` work on integers only, which matters: the driver binds every
 * number as a double, and `+` would make the sum one too.
 */
export const entryOf = (tenant: string, position: string) => `(${tenant} << 40 | ${position})`;

export function toNotification(row: NotificationRow, routes: RouteReader): Notification {
  return {
    kind: 'notification',
    position: row.position,
    id: uuidToText(row.id),
    receivedAt: row.received_at,
    title: row.title,
    message: row.message,
    level: row.level,
    rank: row.rank,
    ttl: row.ttl,
    sentLevel: row.sent_level,
    sentTtl: row.sent_ttl,
    expiresAt: row.expires_at,
    ip: row.ip,
    host: row.host,
    key: row.key,
    url: row.url,
    sourceIp: row.source_ip,
    tokenId: row.token_id,
    route: routes.get(row.tenant, row.route),
    throttledOn: row.throttled_on === null ? null : uuidToText(row.throttled_on),
    throttleCount: row.throttle_count,
  };
}

export function toClear(row: ClearRow, routes: RouteReader): Clear {
  return {
    kind: 'clear',
    position: row.position,
    id: uuidToText(row.id),
    reason: row.reason === 'replaced' ? 'replaced' : 'cleared',
    by: row.by,
    at: row.at,
    route: routes.get(row.tenant, row.route),
  };
}

/** 16 bytes to the canonical lower-case text. */
export function uuidToText(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Text to 16 bytes; undefined when it is no UUID, which is how a foreign id in a request turns into "not found". */
export function uuidToBlob(text: string): Buffer | undefined {
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return undefined;
  return Buffer.from(text.replaceAll('-', ''), 'hex');
}

interface TenantRoutes {
  readonly byId: Map<number, Route>;
  /** Every route up to this id has been read. */
  completeTo: number;
}

/**
 * The routes table, read once. A route never changes and its id only grows, so nothing ever has to be forgotten.
 *
 * One per connection, and only for what is committed: a route read inside a write transaction that is then rolled back
 * would stay.
 */
export class RouteReader {
  readonly #byTenant = new Map<TenantId, TenantRoutes>();
  readonly #one: Statement<[number, number], { route: string }>;
  readonly #newer: Statement<[number, number], { id: number; route: string }>;

  constructor(db: Database) {
    this.#one = db.prepare('SELECT route FROM routes WHERE tenant = ? AND id = ?');
    this.#newer = db.prepare('SELECT id, route FROM routes WHERE tenant = ? AND id > ? ORDER BY id');
  }

  /** @throws Error when there is no such route: the log names one that it does not hold, which is damage. */
  get(tenant: TenantId, id: number): Route {
    const { byId } = this.#of(tenant);
    const known = byId.get(id);
    if (known) return known;
    const row = this.#one.get(tenant, id);
    if (!row) throw new Error(`route ${id} of tenant ${tenant} is missing`);
    const route = JSON.parse(row.route) as Route;
    byId.set(id, route);
    return route;
  }

  /** Ids of all routes committed by now for which `predicate` holds, in no particular order. */
  idsWhere(tenant: TenantId, predicate: (route: Route) => boolean): number[] {
    const routes = this.#of(tenant);
    for (const row of this.#newer.all(tenant, routes.completeTo)) {
      if (!routes.byId.has(row.id)) routes.byId.set(row.id, JSON.parse(row.route) as Route);
      routes.completeTo = row.id;
    }
    const ids: number[] = [];
    for (const [id, route] of routes.byId) if (predicate(route)) ids.push(id);
    return ids;
  }

  #of(tenant: TenantId): TenantRoutes {
    let routes = this.#byTenant.get(tenant);
    if (!routes) {
      routes = { byId: new Map(), completeTo: 0 };
      this.#byTenant.set(tenant, routes);
    }
    return routes;
  }
}
