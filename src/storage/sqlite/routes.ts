/** What routing decided, each distinct decision stored once and named by a number in the log. */
import type { Route, TenantId } from '#core/ports.ts';
import type { Statements } from './partitions.ts';

/** Routes of one tenant that are remembered; with more, they are looked up anew. */
const mostOfTenant = 10_000;

interface KnownRoute {
  readonly id: number;
  readonly route: Route;
  /** The newest partition that is stored as using it. */
  partition: number;
}

/** For the writer: numbers of routes, new ones included. Everything runs inside its transaction. */
export class RouteWriter {
  readonly #sql: Statements;
  readonly #tenants = new Map<TenantId, Map<string, KnownRoute>>();

  constructor(statements: Statements) {
    this.#sql = statements;
  }

  /** The number of a route given as JSON, which a row of this partition is about to refer to. */
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

  /** Says that rows of this partition refer to the route, so that it is kept as long as they are. */
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

  /** After a rollback, and when routes were dropped: what was remembered may not exist. */
  forget(): void {
    this.#tenants.clear();
  }

  #ofTenant(tenant: TenantId): Map<string, KnownRoute> {
    let known = this.#tenants.get(tenant);
    if (!known || known.size >= mostOfTenant) {
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
  /** Every route up to this number has been read. */
  completeTo: number;
}

/** For readers: routes by their numbers. A route never changes and no number is used twice, so what was read stays true. */
export class RouteReader {
  readonly #sql: Statements;
  readonly #tenants = new Map<TenantId, TenantRoutes>();

  constructor(statements: Statements) {
    this.#sql = statements;
  }

  /** @throws Error when there is no such route: the log names one that is not stored, so the database is damaged. */
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

  /** Numbers of all routes committed by now for which `predicate` holds, in no particular order. */
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
