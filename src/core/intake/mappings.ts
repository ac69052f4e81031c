/** The compiled mappings of each tenant, and the last payload of each. */
import type { Mapping } from '#contract/integrations/mapping.ts';
import { limits } from '#contract/limits.ts';
import { createLruMap } from '../lru-map.ts';
import type { TenantId } from '../ports.ts';
import type { Directory } from '../tenants/directory.ts';
import type { Tenancy } from '../tenants/tenancy.ts';

/** The last payload of a mapping, kept only in the memory of this process. */
export interface Captured {
  readonly at: number;
  readonly payload: string;
  readonly problem: string | null;
}

interface Known {
  /** The tenant's `changed`: another number means that its configuration changed. */
  readonly changed: number;
  readonly mappings: ReadonlyMap<string, Mapping>;
}

const mostTenants = 10_000;
const mostCaptures = 200;

export class MappingReader {
  readonly #directory: Pick<Directory, 'mappings'>;
  readonly #tenancy: Tenancy;
  readonly #known = createLruMap<TenantId, Known>(mostTenants);
  readonly #captures = createLruMap<string, Captured>(mostCaptures);

  constructor(directory: Pick<Directory, 'mappings'>, tenancy: Tenancy) {
    this.#directory = directory;
    this.#tenancy = tenancy;
  }

  /** The current mapping. It is read again only after the tenant's configuration has changed. */
  async find(tenant: TenantId, name: string): Promise<Mapping | undefined> {
    const { changed } = (await this.#tenancy.get(tenant)).record;
    let known = this.#known.get(tenant);
    if (known?.changed !== changed) {
      const list = await this.#directory.mappings.list(tenant);
      known = { changed, mappings: new Map(list.map((mapping) => [mapping.name, mapping])) };
      this.#known.set(tenant, known);
    }
    return known.mappings.get(name);
  }

  /** Replaces the last payload. One that is too large is not kept. */
  capture(tenant: TenantId, name: string, captured: Captured): void {
    if (captured.payload.length <= limits.captureBytes) this.#captures.set(`${tenant} ${name}`, captured);
  }

  lastCapture(tenant: TenantId, name: string): Captured | undefined {
    return this.#captures.get(`${tenant} ${name}`);
  }

  forget(tenant: TenantId, name: string): void {
    this.#captures.delete(`${tenant} ${name}`);
  }
}
