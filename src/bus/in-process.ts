import type { Bus, Entry, TenantId } from '#core/ports.ts';

type Ring = (entries: readonly Entry[]) => void;

/**
 * The bell of a single process: it neither loses nor repeats, and carries the entries themselves. `onError` hears of a
 * listener that throws; publishers and the other listeners do not.
 */
export function createInProcessBus(onError: (error: unknown) => void): Bus {
  const byTenant = new Map<TenantId, Set<Ring>>();
  return {
    publish(tenant, entries) {
      for (const ring of byTenant.get(tenant) ?? []) {
        try {
          ring(entries);
        } catch (error) {
          onError(error);
        }
      }
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
