/** Routing decisions. Each distinct decision is stored once; rows of the log refer to it by number. */
import type { Route, TenantId } from '#core/ports.ts';
import type { Statements } from './partitions.ts';

/** The most cached routes of one tenant. At this number, its cache is emptied. */
const maxCachedRoutes = 10_000;

interface KnownRoute {
  readonly id: number;
  readonly route: Route;
  /** The newest partition with a row that refers to the route, as stored. */
  partition: number;
}

/** Used by the writer, inside its transaction: finds the number of a route, and stores new routes. */
export class RouteWriter {
  readonly #sql: Statements;
  readonly #tenants = new Map<TenantId, Map<string, KnownRoute>>();

  constructor(statements: Statements) {
    this.#sql = statements;
  }

  /** Returns the route for this JSON text; stores it if it is new. The caller then writes a row of `partition` that refers to it. */
  use(tenant: TenantId, text: string, partition: number): KnownRoute {
    const known = this.#ofTenant(tenant);
    let route = known.get(text);
    if (!route) {
      route = this.#find(tenant, text) ?? this.#add(tenant, text, partition);
      known.set(text, route);
    }
    if (route.partition < partition) {
      this.touch(route.id, partition);
      route.partition = partition;
    }
    return route;
  }

  /** Stores that a row of this partition refers to the route, so that the route is kept as long as the partition. */
  touch(id: number, partition: number): void {
    this.#sql
      .of<[number, number, number], never>('UPDATE routes SET partition = ? WHERE id = ? AND partition < ?')
      .run(partition, id, partition);
  }

  get(id: number): Route {
    const row = this.#sql.of<[number], { route: string }>('SELECT route FROM routes WHERE id = ?').get(id);
    if (!row) throw new Error(`route ${id} is missing`);
    return JSON.parse(row.route) as Route;
  }

  /** Must be called after a rollback and after routes were deleted, because cached routes may no longer exist. */
  forget(): void {
    this.#tenants.clear();
  }

  #ofTenant(tenant: TenantId): Map<string, KnownRoute> {
    let known = this.#tenants.get(tenant);
    if (!known || known.size >= maxCachedRoutes) {
      known = new Map();
      this.#tenants.set(tenant, known);
    }
    return known;
  }

  #find(tenant: TenantId, text: string): KnownRoute | undefined {
    const row = this.#sql
      .of<[number, string], { id: number; partition: number }>(
        'SELECT id, partition FROM routes WHERE tenant = ? AND route = ?',
      )
      .get(tenant, text);
    return row && { ...row, route: JSON.parse(text) as Route };
  }

  #add(tenant: TenantId, text: string, partition: number): KnownRoute {
    const { lastInsertRowid } = this.#sql
      .of('INSERT INTO routes (tenant, route, partition) VALUES (?, ?, ?)')
      .run(tenant, text, partition);
    return { id: Number(lastInsertRowid), route: JSON.parse(text) as Route, partition };
  }
}

interface TenantRoutes {
  readonly byId: Map<number, Route>;
  /** All routes up to this number are cached. */
  completeTo: number;
}

/** Used by readers: routes by number. The cache is never stale, because a route never changes and numbers are not reused. */
export class RouteReader {
  readonly #sql: Statements;
  readonly #tenants = new Map<TenantId, TenantRoutes>();

  constructor(statements: Statements) {
    this.#sql = statements;
  }

  /** @throws Error when the route is missing. The log refers to it, so the database is damaged. */
  get(tenant: TenantId, id: number): Route {
    const { byId } = this.#ofTenant(tenant);
    const known = byId.get(id);
    if (known) return known;
    const row = this.#sql
      .of<[number, number], { route: string }>('SELECT route FROM routes WHERE id = ? AND tenant = ?')
      .get(id, tenant);
    if (!row) throw new Error(`route ${id} of tenant ${tenant} is missing`);
    const route = JSON.parse(row.route) as Route;
    byId.set(id, route);
    return route;
  }

  /** Returns the numbers of all committed routes for which `predicate` holds, in any order. */
  idsWhere(tenant: TenantId, predicate: (route: Route) => boolean): number[] {
    const routes = this.#ofTenant(tenant);
    const newer = this.#sql
      .of<[number, number], { id: number; route: string }>(
        'SELECT id, route FROM routes WHERE tenant = ? AND id > ? ORDER BY id',
      )
      .all(tenant, routes.completeTo);
    for (const { id, route } of newer) {
      if (!routes.byId.has(id)) routes.byId.set(id, JSON.parse(route) as Route);
      routes.completeTo = id;
    }
    const ids: number[] = [];
    for (const [id, route] of routes.byId) if (predicate(route)) ids.push(id);
    return ids;
  }

  #ofTenant(tenant: TenantId): TenantRoutes {
    let routes = this.#tenants.get(tenant);
    if (!routes) {
      routes = { byId: new Map(), completeTo: 0 };
      this.#tenants.set(tenant, routes);
    }
    return routes;
  }
}
