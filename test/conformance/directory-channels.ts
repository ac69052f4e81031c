import { expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import type { ChannelRecord, Delivery, DeliveryQueue } from '#core/channels.ts';
import { createDeliveryQueue } from '#storage/deliveries.ts';
import type { DirectoryLab } from './directory.ts';

const minuteMs = 60_000;

export function channelsConformance(lab: () => DirectoryLab): void {
  const channel = (tenant: number, id: string, over: Partial<ChannelRecord> = {}) => ({
    ...{ tenant, id, name: `channel ${id}`, kind: 'webhook' as const, enabled: true },
    ...{ settings: { url: 'https://example.org' }, secrets: ['signingKey'], sealed: 'sealed' },
    ...{ createdAt: 5, updatedAt: 5 },
    ...over,
  });
  const health = { failures: 0, failingSince: null, retryAt: 0, lastDeliveredAt: null, lastError: null };
  const made = async (id = 'c') => {
    const tenant = await lab().newTenant();
    await lab().directory.channels.create(channel(tenant, id), 'ann');
    return tenant;
  };
  const queueOf = (name = 'server'): DeliveryQueue =>
    createDeliveryQueue(lab().builder, lab().executor, { name });
  /** As the log's writer does it. */
  const add = async (tenant: number, position: number, at = 1_000, id = 'c') =>
    lab().execute(
      "insert into deliveries (tenant, channel, position, notification, state, queued_at) values (?, ?, ?, ?, 'pending', ?)",
      [tenant, id, position, `n${position}`, at],
    );
  const waitingOf = async (queue: DeliveryQueue, tenant: number, now: number) =>
    (await queue.waiting(now)).filter((each) => each.tenant === tenant);
  const next = async (queue: DeliveryQueue, tenant: number) => (await queue.next(tenant, 'c')) as Delivery;

  test('a channel is found as it was made; its change is told, with the names of its secrets alone', async () => {
    const { directory, newTenant, audit, tellsOfChange } = lab();
    const { channels } = directory;
    const tenant = await newTenant();
    expect(await tellsOfChange(tenant, () => channels.create(channel(tenant, 'c'), 'ann'))).toBe(true);
    expect(await channels.find(tenant, 'c')).toEqual({ ...channel(tenant, 'c'), health });
    const patch = { name: 'new', enabled: false, secrets: ['signingKey'], sealed: 'other' };
    const update = () => channels.update(tenant, 'c', patch, 'bob', 9);
    expect(await tellsOfChange(tenant, update)).toBe(true);
    expect(await channels.list(tenant)).toEqual([
      { ...channel(tenant, 'c'), ...patch, updatedAt: 9, health },
    ]);
    expect(await tellsOfChange(tenant, update)).toBe(false);
    expect(await channels.update(tenant, 'none', patch, 'bob', 9)).toBeUndefined();
    const entries = await audit(tenant);
    expect(entries).toMatchObject([
      { action: 'channel.create', by: 'ann', detail: { name: 'channel c', secrets: ['signingKey'] } },
      {
        action: 'channel.update',
        detail: { before: { enabled: true }, after: { enabled: false, secretsChanged: true } },
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain('sealed');
  });

  test('a name is taken once, and there are so many at the most, also between several at once', async () => {
    const { channels } = lab().directory;
    const tenant = await made();
    const results = await Promise.allSettled(
      Array.from({ length: limits.channelsPerTenant + 3 }, (_, i) =>
        channels.create(channel(tenant, `${i}`, { name: i < 3 ? 'same' : `other ${i}` }), 'x'),
      ),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(limits.channelsPerTenant - 1);
    expect((await channels.list(tenant)).filter(({ name }) => name === 'same')).toHaveLength(1);
    await expect(channels.create(channel(tenant, 'x', { name: 'same' }), 'x')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('"same"'),
    });
    const rename = channels.update(tenant, 'c', { name: 'same' }, 'x', 1);
    await expect(rename).rejects.toMatchObject({ code: 'conflict' });
  });

  test('a deleted channel takes what waited for it along, and no other', async () => {
    const { channels } = lab().directory;
    const [mine, theirs] = [await made(), await made()];
    await add(mine, 1);
    await add(theirs, 1);
    expect(await channels.remove(mine, 'c', 'x', 1)).toBe(true);
    expect(await channels.remove(mine, 'c', 'x', 1)).toBe(false);
    expect(await queueOf().list(mine, 'c', 10)).toEqual([]);
    expect(await queueOf().list(theirs, 'c', 10)).toHaveLength(1);
    expect(await channels.find(theirs, 'c')).toBeDefined();
  });

  test('what waits is taken in order of position, until it is delivered or has failed', async () => {
    const [tenant, queue] = [await made(), queueOf()];
    for (const position of [7, 3, 5]) await add(tenant, position);
    expect(await waitingOf(queue, tenant, 50)).toEqual([{ tenant, id: 'c', readyAt: 0 }]);
    expect(await queue.claim(tenant, 'c', 50)).toBe(true);
    expect(await next(queue, tenant)).toMatchObject({ position: 3, notification: 'n3', attempts: 0 });
    const delivered = { state: 'delivered', answer: 'answered 200' } as const;
    expect(await queue.finish(tenant, await next(queue, tenant), delivered, 60)).toBe(true);
    const failed = { state: 'failed', answer: 'answered 400' } as const;
    expect(await queue.finish(tenant, await next(queue, tenant), failed, 70)).toBe(true);
    expect(await queue.pending(tenant)).toEqual(new Map([['c', 1]]));
    expect(await queue.list(tenant, 'c', 2)).toMatchObject([
      { position: 7, state: 'pending', finishedAt: null },
      { position: 5, state: 'failed', finishedAt: 70, answer: 'answered 400', attempts: 1 },
    ]);
    expect(await queue.of(tenant, 'n3')).toMatchObject([
      { channel: 'c', state: 'delivered', finishedAt: 60 },
    ]);
    expect((await lab().directory.channels.find(tenant, 'c'))?.health).toEqual({
      ...health,
      ...{ lastDeliveredAt: 60, lastError: 'answered 400' },
    });
    await queue.finish(tenant, await next(queue, tenant), delivered, 80);
    expect(await queue.next(tenant, 'c')).toBeUndefined();
    expect(await waitingOf(queue, tenant, 90)).toEqual([]);
  });

  test('a channel that failed rests until its time; a delivery ends that, as does a change of the channel', async () => {
    const { channels } = lab().directory;
    const [tenant, queue] = [await made(), queueOf()];
    await add(tenant, 1);
    for (const [at, retryAt] of [
      [10, 100],
      [100, 400],
    ] as const) {
      expect(await queue.claim(tenant, 'c', at)).toBe(true);
      await queue.retry(tenant, await next(queue, tenant), { answer: 'no answer', retryAt }, at);
    }
    expect((await channels.find(tenant, 'c'))?.health).toMatchObject({
      ...{ failures: 2, failingSince: 10, retryAt: 400, lastError: 'no answer' },
    });
    expect(await next(queue, tenant)).toMatchObject({ attempts: 2, answer: 'no answer' });
    expect(await waitingOf(queue, tenant, 399)).toEqual([{ tenant, id: 'c', readyAt: 400 }]);
    expect(await queue.claim(tenant, 'c', 399)).toBe(false);
    await channels.update(tenant, 'c', { name: 'mended' }, 'x', 120);
    expect(await queue.claim(tenant, 'c', 121)).toBe(true);
    await queue.finish(tenant, await next(queue, tenant), { state: 'delivered', answer: '' }, 130);
    expect((await channels.find(tenant, 'c'))?.health).toMatchObject({ failures: 0, failingSince: null });
  });

  test('nothing waits for a disabled channel', async () => {
    const [tenant, queue] = [await made(), queueOf()];
    await add(tenant, 1);
    await lab().directory.channels.update(tenant, 'c', { enabled: false }, 'x', 1);
    expect(await waitingOf(queue, tenant, 1)).toEqual([]);
    expect(await queue.claim(tenant, 'c', 1)).toBe(false);
  });

  test('of two nodes one has the lease, until it releases it or has not been heard of for a minute', async () => {
    const tenant = await made();
    const [a, b] = [queueOf('a'), queueOf('b')];
    for (const position of [1, 2, 3]) await add(tenant, position);
    const claims = await Promise.all([a.claim(tenant, 'c', 10), b.claim(tenant, 'c', 10)]);
    expect(claims.filter(Boolean)).toHaveLength(1);
    const [holder, other] = claims[0] ? [a, b] : [b, a];
    expect(await waitingOf(other, tenant, 20)).toEqual([{ tenant, id: 'c', readyAt: 10 + minuteMs }]);
    // A result renews it.
    const result = { state: 'delivered', answer: '' } as const;
    expect(await holder.finish(tenant, await next(holder, tenant), result, minuteMs)).toBe(true);
    expect(await other.claim(tenant, 'c', 10 + minuteMs)).toBe(false);
    expect(await other.claim(tenant, 'c', 2 * minuteMs)).toBe(true);
    // The first one comes back: what it has sent counts, and it does not go on.
    expect(await holder.finish(tenant, await next(holder, tenant), result, 2 * minuteMs)).toBe(false);
    expect(await next(other, tenant)).toMatchObject({ position: 3 });
    await holder.release(tenant, 'c');
    expect(await holder.claim(tenant, 'c', 2 * minuteMs)).toBe(false);
    await other.release(tenant, 'c');
    expect(await holder.claim(tenant, 'c', 2 * minuteMs)).toBe(true);
  });

  test('beyond the bounds the oldest that waits fails, and old finished ones are forgotten', async () => {
    const [tenant, queue] = [await made(), queueOf()];
    const { pendingPerChannel: most, deliveryLog, deliveryLogMs } = limits;
    await lab().execute(
      `insert into deliveries (tenant, channel, position, notification, state, queued_at)
       with recursive number (n) as (select cast(? as bigint) union all select n + 1 from number where n < ?)
       select cast(? as bigint), 'c', n, 'x', 'pending', 0 from number`,
      [1, most + deliveryLog + 3, tenant],
    );
    expect(await queue.trim(tenant, 'c', 50)).toBe(deliveryLog + 3);
    expect(await queue.trim(tenant, 'c', 60)).toBe(0);
    expect(await next(queue, tenant)).toMatchObject({ position: deliveryLog + 4 });
    const rows = await queue.list(tenant, 'c', 20_000);
    expect(rows).toHaveLength(most + deliveryLog);
    expect(rows.at(-1)).toMatchObject({
      state: 'failed',
      answer: expect.stringContaining('10000'),
      position: 4,
    });
    expect(await queue.trim(tenant, 'c', 51 + deliveryLogMs)).toBe(0);
    expect(await queue.list(tenant, 'c', 20_000)).toHaveLength(most);
  });
}
