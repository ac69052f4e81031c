import { expect, test } from 'vitest';
import { limits } from '#contract/limits.ts';
import type { ChannelRecord, Delivery, DeliveryQueue } from '#core/channels/channels.ts';
import { createDeliveryQueue } from '#storage/deliveries/deliveries.ts';
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
  const queueOf = (name = 'server'): DeliveryQueue => createDeliveryQueue(lab().db, { name });
  /** As the log's writer does it. */
  const add = async (tenant: number, position: number, at = 1_000, id = 'c') =>
    lab().execute(
      "insert into deliveries (tenant, channel, position, notification, state, queued_at) values (?, ?, ?, ?, 'pending', ?)",
      [tenant, id, position, `n${position}`, at],
    );
  const waitingOf = async (queue: DeliveryQueue, tenant: number, now: number) =>
    (await queue.waiting(now)).filter((each) => each.tenant === tenant);
  const next = async (queue: DeliveryQueue, tenant: number) => (await queue.next(tenant, 'c')) as Delivery;

  test('a channel is found as it was made; its change is reported, with the names of its secrets alone', async () => {
    const { directory, newTenant, audit, reportsChange } = lab();
    const { channels } = directory;
    const tenant = await newTenant();
    expect(await reportsChange(tenant, () => channels.create(channel(tenant, 'c'), 'ann'))).toBe(true);
    expect(await channels.find(tenant, 'c')).toEqual({ ...channel(tenant, 'c'), health });
    const patch = { name: 'new', enabled: false, secrets: ['signingKey'], sealed: 'other' };
    const update = () => channels.update(tenant, 'c', () => patch, 'bob', 9);
    expect(await reportsChange(tenant, update)).toBe(true);
    expect(await channels.list(tenant)).toEqual([
      { ...channel(tenant, 'c'), ...patch, updatedAt: 9, health },
    ]);
    expect(await reportsChange(tenant, update)).toBe(false);
    expect(await channels.update(tenant, 'none', () => patch, 'bob', 9)).toBeUndefined();
    const entries = await audit(tenant);
    expect(entries).toMatchObject([
      { action: 'channel.create', by: 'ann', detail: { name: 'channel c', secrets: ['signingKey'] } },
      {
        action: 'channel.update',
        detail: {
          name: 'channel c',
          before: { enabled: true },
          after: { enabled: false, secretsChanged: true },
        },
      },
    ]);
    expect(JSON.stringify(entries)).not.toContain('sealed');
  });

  test('the enabled channels of a kind are those of active tenants', async () => {
    const { channels, tenants } = lab().directory;
    const [one, two] = [await lab().newTenant(), await lab().newTenant()];
    for (const [tenant, id, over] of [
      [one, 'a', { kind: 'mqtt' }],
      [one, 'b', { kind: 'mqtt', enabled: false }],
      [one, 'd', {}],
      [two, 'e', { kind: 'mqtt' }],
    ] as const)
      await channels.create(channel(tenant, id, over), 'x');
    const found = async () =>
      (await channels.listEnabled('mqtt'))
        .filter(({ tenant }) => tenant === one || tenant === two)
        .map(({ id }) => id)
        .toSorted();
    expect(await found()).toEqual(['a', 'e']);
    await tenants.setState(two, 'suspended', 'x', 5);
    expect(await found()).toEqual(['a']);
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
    const rename = channels.update(tenant, 'c', () => ({ name: 'same' }), 'x', 1);
    await expect(rename).rejects.toMatchObject({ code: 'conflict' });
  });

  test('of two changes at once that each add to the secrets, none is lost', async () => {
    const { channels } = lab().directory;
    const tenant = await made();
    const add = (secret: string) =>
      channels.update(tenant, 'c', ({ sealed }) => ({ sealed: `${sealed} ${secret}` }), 'x', 1);
    await Promise.all([add('one'), add('two')]);
    expect((await channels.find(tenant, 'c'))?.sealed?.split(' ').sort()).toEqual(['one', 'sealed', 'two']);
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
    expect(await queue.listByNotification(tenant, 'n3')).toMatchObject([
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
      await queue.retry(
        tenant,
        await next(queue, tenant),
        { answer: 'no answer', retryAt, updatedAt: 5 },
        at,
      );
    }
    expect((await channels.find(tenant, 'c'))?.health).toMatchObject({
      ...{ failures: 2, failingSince: 10, retryAt: 400, lastError: 'no answer' },
    });
    expect(await next(queue, tenant)).toMatchObject({ attempts: 2, answer: 'no answer' });
    expect(await waitingOf(queue, tenant, 399)).toEqual([{ tenant, id: 'c', readyAt: 400 }]);
    expect(await queue.claim(tenant, 'c', 399)).toBe(false);
    await channels.update(tenant, 'c', () => ({ name: 'mended' }), 'x', 120);
    expect((await channels.find(tenant, 'c'))?.health).toMatchObject({ failures: 0, failingSince: null });
    expect(await queue.claim(tenant, 'c', 121)).toBe(true);
    // An attempt that was made before the change says nothing of the channel as it is now.
    const late = { answer: 'no answer', retryAt: 900, updatedAt: 5 };
    await queue.retry(tenant, await next(queue, tenant), late, 122);
    expect((await channels.find(tenant, 'c'))?.health).toMatchObject({ failures: 0, retryAt: 0 });
    expect(await next(queue, tenant)).toMatchObject({ attempts: 3 });
    expect(await queue.claim(tenant, 'c', 123)).toBe(true);
    await queue.finish(tenant, await next(queue, tenant), { state: 'delivered', answer: '' }, 130);
    expect((await channels.find(tenant, 'c'))?.health).toMatchObject({ failures: 0, failingSince: null });
  });

  test('a clock that was ahead and is right again leaves no channel to rest until that time', async () => {
    const [tenant, queue] = [await made(), queueOf()];
    await add(tenant, 1);
    const ahead = 365 * 86_400_000;
    expect(await queue.claim(tenant, 'c', ahead)).toBe(true);
    const failure = { answer: 'no answer', retryAt: ahead + 60_000, updatedAt: 5 };
    await queue.retry(tenant, await next(queue, tenant), failure, ahead);
    expect(await waitingOf(queue, tenant, ahead)).toEqual([{ tenant, id: 'c', readyAt: ahead + 60_000 }]);
    expect(await waitingOf(queue, tenant, 100)).toEqual([{ tenant, id: 'c', readyAt: 0 }]);
    expect(await queue.claim(tenant, 'c', 100)).toBe(true);
  });

  test('nothing waits for a disabled channel', async () => {
    const [tenant, queue] = [await made(), queueOf()];
    await add(tenant, 1);
    await lab().directory.channels.update(tenant, 'c', () => ({ enabled: false }), 'x', 1);
    expect(await waitingOf(queue, tenant, 1)).toEqual([]);
    expect(await queue.claim(tenant, 'c', 1)).toBe(false);
  });

  test('nothing waits for a channel of a suspended tenant; it goes on once the tenant is resumed', async () => {
    const { tenants } = lab().directory;
    const [tenant, queue] = [await made(), queueOf()];
    await add(tenant, 1);
    await tenants.setState(tenant, 'suspended', 'cli', 1);
    expect(await waitingOf(queue, tenant, 1)).toEqual([]);
    expect(await queue.claim(tenant, 'c', 1)).toBe(false);
    await tenants.setState(tenant, 'active', 'cli', 2);
    expect(await waitingOf(queue, tenant, 1)).toHaveLength(1);
    expect(await queue.claim(tenant, 'c', 1)).toBe(true);
    // Also for a node that is delivering already.
    await tenants.setState(tenant, 'suspended', 'cli', 3);
    expect(await queue.next(tenant, 'c')).toBeUndefined();
    await tenants.setState(tenant, 'active', 'cli', 4);
    expect(await queue.next(tenant, 'c')).toMatchObject({ position: 1 });
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
    await holder.release(tenant, 'c', 2 * minuteMs);
    expect(await holder.claim(tenant, 'c', 2 * minuteMs)).toBe(false);
    await other.release(tenant, 'c', 2 * minuteMs);
    expect(await holder.claim(tenant, 'c', 2 * minuteMs)).toBe(true);
  });

  test('beyond the bounds the oldest that waits fails, and old finished ones are forgotten', async () => {
    const [tenant, queue] = [await made(), queueOf()];
    const { pendingPerChannel: most, deliveryLog, deliveryLogMs, deliveryMs } = limits;
    await lab().execute(
      `insert into deliveries (tenant, channel, position, notification, state, queued_at)
       with recursive number (n) as (select cast(? as bigint) union all select n + 1 from number where n < ?)
       select cast(? as bigint), 'c', n, 'x', 'pending', 0 from number`,
      [1, most + deliveryLog + 3, tenant],
    );
    const trimmed = async (now: number, trustedNow = now) => {
      let failed = 0;
      await queue.trim({
        ...{ now, trustedNow },
        onFailed: (of, count) => {
          if (of === tenant) failed += count;
        },
      });
      return failed;
    };
    expect(await trimmed(50)).toBe(deliveryLog + 3);
    expect(await trimmed(60)).toBe(0);
    expect(await next(queue, tenant)).toMatchObject({ position: deliveryLog + 4 });
    const rows = await queue.list(tenant, 'c', 20_000);
    expect(rows).toHaveLength(most + deliveryLog);
    expect(rows.at(-1)).toMatchObject({
      state: 'failed',
      answer: expect.stringContaining('10000'),
      position: 4,
    });
    // Whatever its channel does: nothing is delivered here.
    await lab().directory.channels.update(tenant, 'c', () => ({ enabled: false }), 'x', 1);
    // The clock is ahead.
    expect(await trimmed(1 + deliveryMs + deliveryLogMs, deliveryMs)).toBe(0);
    expect(await queue.list(tenant, 'c', 20_000)).toHaveLength(most + deliveryLog);
    expect(await trimmed(1 + deliveryMs)).toBe(most);
    expect(await queue.next(tenant, 'c')).toBeUndefined();
    expect(await queue.list(tenant, 'c', 20_000)).toHaveLength(deliveryLog);
    expect((await queue.list(tenant, 'c', 1))[0]).toMatchObject({
      answer: 'given up after 24 hours',
      finishedAt: 1 + deliveryMs,
    });
    expect(await trimmed(2 + deliveryMs + deliveryLogMs)).toBe(0);
    expect(await queue.list(tenant, 'c', 20_000)).toEqual([]);
  });

  test('what happened to alarms pushes no notification out of the queue, nor out of the list, and is bounded itself', async () => {
    const [tenant, queue] = [await made(), queueOf()];
    const { pendingPerChannel: most, deliveryLog } = limits;
    const insert = (from: number, count: number, event: string | null, state: string) =>
      lab().execute(
        `insert into deliveries (tenant, channel, position, notification, state, queued_at, finished_at, event)
         with recursive number (n) as (select cast(? as bigint) union all select n + 1 from number where n < ?)
         select cast(? as bigint), 'c', n, 'x', '${state}', 1, 1, ${event === null ? 'null' : `'${event}'`} from number`,
        [from, from + count - 1, tenant],
      );
    await insert(1, 5, null, 'delivered');
    await insert(6, 5, null, 'pending');
    await insert(11, deliveryLog + 3, 'acknowledged', 'delivered');
    await insert(11 + deliveryLog + 3, most + 3, 'ended', 'pending');
    let failed = 0;
    const onFailed = (of: number, count: number) => {
      if (of === tenant) failed += count;
    };
    await queue.trim({ now: 50, trustedNow: 50, onFailed });
    expect(failed).toBe(3);
    const rows = await queue.list(tenant, 'c', 20_000);
    const states = Map.groupBy(rows, ({ event, state }) => `${event} ${state}`);
    expect(Object.fromEntries([...states].map(([name, some]) => [name, some.length]))).toEqual({
      ...{ 'null delivered': 5, 'null pending': 5, 'ended pending': most },
      ...{ 'acknowledged delivered': deliveryLog - 3, 'ended failed': 3 },
    });
    expect(rows.find(({ event, state }) => event === 'ended' && state === 'failed')?.answer).toContain(
      'events of alarms were waiting',
    );
  });

  test('of those that are ready, the one that was not worked on for the longest time is first', async () => {
    const [tenant, queue] = [await made(), queueOf()];
    for (const id of ['a', 'b']) await lab().directory.channels.create(channel(tenant, id), 'ann');
    for (const id of ['a', 'b', 'c']) for (const position of [1, 2]) await add(tenant, position, 1_000, id);
    const order = async (now: number) => (await waitingOf(queue, tenant, now)).map(({ id }) => id);
    const delivered = { state: 'delivered', answer: '' } as const;
    for (const [id, at] of [
      ['c', 100],
      ['a', 200],
    ] as const) {
      expect(await queue.claim(tenant, id, at)).toBe(true);
      expect(await queue.finish(tenant, (await queue.next(tenant, id)) as Delivery, delivered, at)).toBe(
        true,
      );
      await queue.release(tenant, id, at);
    }
    expect(await order(300)).toEqual(['b', 'c', 'a']);
    expect(await queue.claim(tenant, 'b', 300)).toBe(true);
    const failure = { answer: 'no', retryAt: 400, updatedAt: 5 };
    await queue.retry(tenant, (await queue.next(tenant, 'b')) as Delivery, failure, 300);
    expect(await order(399)).toEqual(['c', 'a', 'b']);
    expect(await queue.waiting(399, [tenant])).toHaveLength(3);
    expect(await queue.waiting(399, [tenant + 1_000_000])).toEqual([]);
  });

  test('the last result gives the lease up; a refused message marks the channel until it delivers', async () => {
    const { channels } = lab().directory;
    const [tenant, queue, other] = [await made(), queueOf(), queueOf('other')];
    await add(tenant, 1);
    expect(await queue.claim(tenant, 'c', 10)).toBe(true);
    const refused = { state: 'failed', answer: 'answered 400', isRefused: true } as const;
    expect(await queue.finish(tenant, await next(queue, tenant), refused, 20)).toBe(false);
    expect((await channels.find(tenant, 'c'))?.health).toMatchObject({
      ...{ failures: 1, failingSince: 20, retryAt: 0, lastError: 'answered 400' },
    });
    await add(tenant, 2);
    expect(await other.claim(tenant, 'c', 30)).toBe(true);
    await other.finish(tenant, await next(other, tenant), { state: 'delivered', answer: '' }, 40);
    expect((await channels.find(tenant, 'c'))?.health).toMatchObject({ failures: 0, failingSince: null });
  });

  test('a change tries once more what failed since the channel is failing, in order, unless it is a day old', async () => {
    const { channels } = lab().directory;
    const [tenant, queue] = [await made(), queueOf()];
    const at = limits.deliveryMs + 10_000;
    const update = (name: string) => channels.update(tenant, 'c', () => ({ name }), 'x', at + 100);
    for (const position of [2, 3, 4, 5]) await add(tenant, position, position === 3 ? 1_000 : at);
    expect(await queue.claim(tenant, 'c', at)).toBe(true);
    const failed = { state: 'failed', answer: 'answered 400' } as const;
    await queue.finish(tenant, await next(queue, tenant), failed, at + 1);
    await queue.finish(tenant, await next(queue, tenant), { ...failed, isRefused: true }, at + 2);
    await queue.finish(tenant, await next(queue, tenant), { ...failed, isRefused: true }, at + 3);
    await update('mended');
    const states = async () =>
      (await queue.list(tenant, 'c', 9)).map(({ position, state }) => [position, state]);
    expect(await states()).toEqual([
      ...[
        [5, 'pending'],
        [4, 'pending'],
        [3, 'failed'],
        [2, 'failed'],
      ],
    ]);
    expect(await next(queue, tenant)).toMatchObject({ position: 4, attempts: 0, finishedAt: null });
    // Once it has delivered, what failed before stays as it is.
    await queue.finish(tenant, await next(queue, tenant), { ...failed, isRefused: true }, at + 110);
    await queue.finish(tenant, await next(queue, tenant), { state: 'delivered', answer: '' }, at + 120);
    await update('again');
    expect(await queue.next(tenant, 'c')).toBeUndefined();
  });

  test('why no answers come is kept for each channel, read by tenant, and is no change of the directory', async () => {
    const { directory, newTenant, reportsChange, audit } = lab();
    const { answerProblems: problems } = directory;
    const [one, other] = [await newTenant(), await newTenant()];
    // Beside what another tenant has whose number begins in the same way.
    const long = Number(`${one}1`);
    const problem = { since: 7, message: '“no” %_\u{1f4a9}' };
    const put = () => problems.put({ tenant: one, id: 'c' }, problem);
    expect(await reportsChange(one, put)).toBe(false);
    await problems.put({ tenant: one, id: 'd' }, problem);
    await problems.put({ tenant: long, id: 'c' }, problem);
    await problems.put({ tenant: one, id: 'd' }, { since: 8, message: 'x' });
    expect([...(await problems.list(one))].toSorted()).toEqual([
      ['c', problem],
      ['d', { since: 8, message: 'x' }],
    ]);
    expect(await problems.list(other)).toEqual(new Map());
    for (let i = 0; i < 2; i += 1) await problems.put({ tenant: one, id: 'd' }, undefined);
    expect([...(await problems.list(one)).keys()]).toEqual(['c']);
    for (let i = 0; i < 2; i += 1) await problems.clear();
    for (const tenant of [one, long]) expect(await problems.list(tenant)).toEqual(new Map());
    expect(await audit(one)).toEqual([]);
    // What else the database knows of itself stays.
    expect((await directory.changedSince(0)).epoch).toMatch(/./);
  });
}
