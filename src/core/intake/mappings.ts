/** The compiled mappings of each tenant, and the last payload of each. */
import type { Mapping } from '#contract/integrations/integration.ts';
import { limits } from '#contract/limits.ts';
import { createLruMap, type LruMap } from '../limits/lru-map.ts';
import type { TenantId } from '../log/route.ts';
import type { Directory } from '../tenants/directory.ts';
import type { Tenancy, TenantSnapshot } from '../tenants/tenancy.ts';

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
  /** Of the mappings as JSON. */
  readonly chars: number;
}

/** The most characters that are kept in memory, of mappings and of payloads. */
export interface MappingBounds {
  readonly mappings: number;
  readonly captures: number;
}
const usualBounds: MappingBounds = { mappings: 32_000_000, captures: 16_000_000 };

export class MappingReader {
  readonly #directory: Pick<Directory, 'mappings'>;
  readonly #tenancy: Pick<Tenancy, 'current' | 'get'>;
  readonly #known: LruMap<TenantId, Known>;
  readonly #captures: LruMap<string, Captured>;

  constructor(
    directory: Pick<Directory, 'mappings'>,
    tenancy: Pick<Tenancy, 'current' | 'get'>,
    bounds: MappingBounds = usualBounds,
  ) {
    this.#directory = directory;
    this.#tenancy = tenancy;
    this.#known = createLruMap(bounds.mappings, ({ chars }) => chars);
    this.#captures = createLruMap(
      bounds.captures,
      ({ payload, problem }, name) => name.length + payload.length + (problem?.length ?? 0),
    );
  }

  /** The current mapping. Mappings are read again only after the tenant's configuration has changed. */
  async find(tenant: TenantId, name: string): Promise<Mapping | undefined> {
    const found = (await this.#read(tenant, await this.#tenancy.get(tenant))).get(name);
    // It may have just been made on another node.
    return found ?? (await this.#read(tenant, await this.#tenancy.current(tenant))).get(name);
  }

  async #read(tenant: TenantId, { record: { changed } }: TenantSnapshot): Promise<Known['mappings']> {
    let known = this.#known.get(tenant);
    if (known?.changed !== changed) {
      const list = await this.#directory.mappings.list(tenant);
      const mappings = new Map(list.map((mapping) => [mapping.name, mapping]));
      known = { changed, mappings, chars: JSON.stringify(list).length };
      this.#known.set(tenant, known);
    }
    return known.mappings;
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
