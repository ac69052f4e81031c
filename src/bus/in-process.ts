import type { Bus, Entry, TenantId } from '#core/ports.ts';

type Listener = (entries: readonly Entry[]) => void;

/**
 * The bus of a single process: it neither loses nor repeats a wake-up, and carries the entries. An error that a listener
 * throws goes to `onError` and reaches neither the publisher nor the other listeners.
 */
export function createInProcessBus(onError: (error: unknown) => void): Bus {
  const byTenant = new Map<TenantId, Set<Listener>>();
  return {
    publish(tenant, entries) {
      for (const listener of byTenant.get(tenant) ?? []) {
        try {
          listener(entries);
        } catch (error) {
          onError(error);
        }
      }
    },
    subscribe(tenant, listener) {
      const listeners = byTenant.get(tenant) ?? new Set();
      byTenant.set(tenant, listeners);
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && byTenant.get(tenant) === listeners) byTenant.delete(tenant);
      };
    },
  };
}
