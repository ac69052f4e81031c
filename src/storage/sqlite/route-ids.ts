import type { TenantId } from '../../core/ports.ts';

/** Routes of a tenant whose ids are remembered; with more, the tenant's are looked up anew. */
const mostOfTenant = 10_000;

/** The ids of routes that the writer has met, and which of them a rollback takes back. */
export class RouteIds {
  readonly #tenants = new Map<TenantId, Map<string, number>>();
  #new: { readonly tenant: TenantId; readonly route: string }[] = [];

  get(tenant: TenantId, route: string): number | undefined {
    return this.#tenants.get(tenant)?.get(route);
  }

  add(tenant: TenantId, route: string, id: number): void {
    let ids = this.#tenants.get(tenant);
    if (!ids || ids.size >= mostOfTenant) {
      ids = new Map();
      this.#tenants.set(tenant, ids);
    }
    ids.set(route, id);
    this.#new.push({ tenant, route });
  }

  forget(tenant: TenantId): void {
    this.#tenants.delete(tenant);
  }

  /** What was added is committed. */
  keepNew(): void {
    this.#new = [];
  }

  /** What was added since the last commit may not exist. */
  forgetNew(): void {
    for (const { tenant, route } of this.#new) this.#tenants.get(tenant)?.delete(route);
    this.#new = [];
  }
}
