import { expect } from 'vitest';
import type { History } from '#core/log/log.ts';
import type { TenantId } from '#core/log/route.ts';
import { now, readAll } from './history-lab.ts';

/** Prunes until there is no more to drop; answers what each call dropped. */
export async function prune(
  history: History,
  tenant: TenantId,
  bounds: { olderThan?: number; keep?: number },
  at = Math.max(now, (bounds.olderThan ?? 0) + 10),
): Promise<number[]> {
  const dropped: number[] = [];
  for (;;) {
    const { first } = await history.bounds(tenant);
    const count = await history.prune(
      tenant,
      { olderThan: bounds.olderThan ?? null, keep: bounds.keep ?? null },
      at,
    );
    expect((await history.bounds(tenant)).first).toBe(first + count);
    if (count === 0) return dropped;
    dropped.push(count);
    if (dropped.length > 1_000) throw new Error('pruning comes to no end');
  }
}

export const titles = async (history: History, tenant: TenantId) =>
  (await readAll(history, tenant)).map((entry) =>
    entry.kind === 'notification' ? entry.title : `clear by ${entry.by}`,
  );
