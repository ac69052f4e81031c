/** Routing decisions. Each distinct decision is stored once; rows of the log refer to it by number. */
import type { Route, TenantId } from '#core/ports.ts';
import type { Statements } from './partitions.ts';

/** The most characters of routes of one tenant that are cached: some 20,000 usual routes. With more, its cache is emptied. */
const maxCachedChars = 4_000_000;

interface NumberedRoute {
  readonly id: number;
  readonly route: Route;
}

interface TenantRoutes {
  /** Stored as used by the newest partition. */
  readonly byText: Map<string, NumberedRoute>;
  readonly byId: Map<number, Route>;
  cachedChars: number;
}

/** The routes of one connection. Cached routes are never stale: a route never changes, and numbers are not reused. */
export class Routes {
  readonly #sql: Statements;
  readonly #tenants = new Map<TenantId, TenantRoutes>();

  constructor(statements: Statements) {
    this.#sql = statements;
  }

  /**
   * Returns the route for this JSON text; stores it if it is new. The caller then writes a row of `partition`, the newest, that
   * refers to it. The route is kept as long as that partition.
   */
  use(tenant: TenantId, text: string, partition: number): NumberedRoute {
    const routes = this.#ofTenant(tenant);
    const known = routes.byText.get(text);
    if (known) return known;
    const stored = this.#sql
      .of<[number, string, number], { id: number }>(
        `INSERT INTO routes (tenant, route, partition) VALUES (?, ?, ?)
         ON CONFLICT DO UPDATE SET partition = excluded.partition RETURNING id`,
      )
      .get(tenant, text, partition) as { id: number };
    const route = { id: stored.id, route: JSON.parse(text) as Route };
    makeRoom(routes, text.length);
    routes.byText.set(text, route);
    return route;
  }

  /** As `use`, for a route that is stored already. */
  touch(id: number, partition: number): void {
    this.#sql
      .of<[number, number, number], never>('UPDATE routes SET partition = ? WHERE id = ? AND partition < ?')
      .run(partition, id, partition);
  }

  /** @throws Error when the route is missing. The log refers to it, so the database is damaged. */
  get(tenant: TenantId, id: number): Route {
    const routes = this.#ofTenant(tenant);
    const known = routes.byId.get(id);
    if (known) return known;
    const row = this.#sql
      .of<[number, number], { route: string }>('SELECT route FROM routes WHERE id = ? AND tenant = ?')
      .get(id, tenant);
    if (!row) throw new Error(`route ${id} of tenant ${tenant} is missing`);
    const route = JSON.parse(row.route) as Route;
    makeRoom(routes, row.route.length);
    routes.byId.set(id, route);
    return route;
  }

  /** Must be called after a rollback, because cached routes may not be stored, and when a new partition takes the rows. */
  forget(): void {
    this.#tenants.clear();
  }

  #ofTenant(tenant: TenantId): TenantRoutes {
    let routes = this.#tenants.get(tenant);
    if (!routes) {
      routes = { byText: new Map(), byId: new Map(), cachedChars: 0 };
      this.#tenants.set(tenant, routes);
    }
    return routes;
  }
}

function makeRoom(routes: TenantRoutes, chars: number): void {
  routes.cachedChars += chars;
  if (routes.cachedChars <= maxCachedChars) return;
  routes.byText.clear();
  routes.byId.clear();
  routes.cachedChars = chars;
}
