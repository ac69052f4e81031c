import { expect, test } from 'vitest';
import type { TenantId } from '#core/log/route.ts';
import { draft, type HistoryLab, now, store } from './history-lab.ts';
import { prune, titles } from './history-pruning.ts';

/** Age where a clock was wrong: what it stamped ahead of now holds nothing back for ever. */
export function retentionClockConformance(lab: () => HistoryLab): void {
  const over = { ttl: 1, expiresAt: now - 1 };

  test('one that is ahead of the clock is as old as what came after it', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const ahead = now + 1e12;
    const put = async (tenant: TenantId, ...received: number[]) => {
      for (const [i, receivedAt] of received.entries())
        await store(history, tenant, { ...over, title: `n${i + 1}`, receivedAt });
    };
    const left = async (tenant: TenantId) => {
      await prune(history, tenant, { olderThan: now - 50 });
      return titles(history, tenant);
    };
    const [between, atTheEdge, last] = [await newTenant(), await newTenant(), await newTenant()];
    await put(between, now - 100, ahead, ahead + 1, now - 90, ahead, now - 80, now - 10, ahead, now);
    expect(await left(between)).toEqual(['n7', 'n8', 'n9']);
    await put(atTheEdge, now - 100, ahead, now - 10, now - 90);
    expect(await left(atTheEdge)).toEqual(['n2', 'n3', 'n4']);
    await put(last, now - 100, now - 90, ahead);
    expect(await left(last)).toEqual(['n3']);
    await put(last, now - 60);
    expect(await left(last)).toEqual([]);
  });

  test('thousands that are ahead of the clock go with those around them', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const tenant = await newTenant();
    const ahead = { ...over, receivedAt: now + 1e12 };
    await Promise.all(Array.from({ length: 1_700 }, () => history.append(tenant, draft(ahead), null)));
    expect(await prune(history, tenant, { olderThan: now - 50 })).toEqual([]);
    const { id } = await store(history, tenant, { title: 'old', receivedAt: now - 90 });
    await history.clear(tenant, id, 'x', now + 1e12);
    await store(history, tenant, { ...over, title: 'new', receivedAt: now });
    await prune(history, tenant, { olderThan: now - 50 });
    expect(await titles(history, tenant)).toEqual(['new']);
  });

  test('clears alone that are ahead of the clock keep nothing', async () => {
    const { database, newTenant } = lab();
    const { history } = database;
    const tenant = await newTenant();
    const { id } = await store(history, tenant, { receivedAt: now - 100 });
    const { id: later } = await store(history, tenant, { receivedAt: now - 100 });
    await history.clear(tenant, id, 'x', now - 90);
    await history.clear(tenant, later, 'x', now + 1e12);
    await prune(history, tenant, { keep: 0 });
    await prune(history, tenant, { olderThan: now - 50 });
    expect(await history.bounds(tenant)).toEqual({ head: 4, first: 5 });
  });
}
