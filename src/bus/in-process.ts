import type { Bus, Entry, TenantId } from '../core/ports.ts';

type Ring = (entries: readonly Entry[]) => void;

/** The bell of a single process: it neither loses nor repeats, and carries the entries themselves. */
export function createInProcessBus(): Bus {
  const byTenant = new Map<TenantId, Set<Ring>>();
  return {
    publish(tenant, entries) {
      for (const ring of byTenant.get(tenant) ?? []) ring(entries);
    },
    subscribe(tenant, ring) {
      const rings = byTenant.get(tenant) ?? new Set();
      byTenant.set(tenant, rings);
      rings.add(ring);
      return () => {
        rings.delete(ring);
        if (rings.size === 0 && byTenant.get(tenant) === rings) byTenant.delete(tenant);
      };
    },
  };
}
