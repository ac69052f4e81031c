import { LRUCache } from 'lru-cache';
import type { TenantId } from '#core/ports.ts';

interface Kept<T> {
  readonly value: Promise<T>;
  /** undefined while it is being made. */
  madeAt: number | undefined;
}

/**
 * What costs something to find out, found out once for all who ask at the same time, and kept for `keepMs` after that. What
 * failed is not kept.
 */
export function singleFlight<T>(
  find: (tenant: TenantId) => Promise<T>,
  { keepMs, now }: { readonly keepMs: number; readonly now: () => number },
): (tenant: TenantId) => Promise<T> {
  const kept = new LRUCache<TenantId, Kept<T>>({ max: 1_000 });
  return (tenant) => {
    const known = kept.get(tenant);
    if (known && (known.madeAt === undefined || now() - known.madeAt < keepMs)) return known.value;
    const value = find(tenant);
    const fresh: Kept<T> = { value, madeAt: undefined };
    kept.set(tenant, fresh);
    value.then(
      () => {
        fresh.madeAt = now();
      },
      () => {
        if (kept.peek(tenant) === fresh) kept.delete(tenant);
      },
    );
    return value;
  };
}
