import { expect, test, vi } from 'vitest';
import { limits } from '#contract/limits.ts';
import type { ChannelRecord, Delivery, DeliveryResult } from '#core/channels/channels.ts';
import type { HistoryRecord, LogPage } from '#core/log/log.ts';
import { eventually } from '#test/support/eventually.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';
import type { SendResult } from './message.ts';

/** Channels of tenant 1 with so many deliveries each, in a queue without a database. */
function setUp(pending: Record<string, number>, send: (id: string) => Promise<SendResult> | SendResult) {
  const failures = new Map<string, number>();
  const attempts = new Map<string, number>();
  const worked: string[] = [];
  const results: (DeliveryResult & { readonly id: string })[] = [];
  const looks: unknown[] = [];
  let at = 2 * limits.deliveryMs;
  const queue = {
    async waiting(_now: number, tenants?: readonly number[]) {
      looks.push(tenants);
      return Object.keys(pending)
        .filter((id) => (pending[id] ?? 0) > 0)
        .sort((a, b) => worked.lastIndexOf(a) - worked.lastIndexOf(b))
        .map((id) => ({ tenant: 1, id, readyAt: 0 }));
    },
    claim: async () => true,
    async release(_tenant: number, id: string) {
      worked.push(id);
    },
    next: async (_tenant: number, id: string) =>
      (pending[id] ?? 0) > 0
        ? ({
            ...{ channel: id, position: 1, notification: 'n', state: 'pending', queuedAt: 0 },
            ...{
              attempts: attempts.get(id) ?? 0,
              finishedAt: null,
              answer: null,
              event: null,
              reference: null,
            },
          } satisfies Delivery)
        : undefined,
    async finish(_tenant: number, { channel: id }: Delivery, result: DeliveryResult) {
      results.push({ id, ...result });
      pending[id] = (pending[id] ?? 0) - 1;
      attempts.delete(id);
      if (result.state === 'delivered') failures.delete(id);
      else if (result.isRefused) failures.set(id, (failures.get(id) ?? 0) + 1);
      return pending[id] > 0;
    },
    async retry(_tenant: number, { channel: id }: Delivery) {
      failures.set(id, (failures.get(id) ?? 0) + 1);
      attempts.set(id, (attempts.get(id) ?? 0) + 1);
    },
  };
  const dispatcher = new Dispatcher({
    queue: queue as unknown as DispatcherOptions['queue'],
    channels: {
      find: async (_tenant, id) =>
        ({ id, enabled: true, updatedAt: 1, health: { failures: failures.get(id) ?? 0 } }) as ChannelRecord,
    },
    history: { find: async () => ({}) as HistoryRecord, readAfter: async () => ({}) as LogPage },
    send: async ({ id }) => send(id),
    now: () => at,
    onFinished: () => undefined,
    onError: (error) => {
      throw error;
    },
  });
  return { dispatcher, results, looks, pass: (ms: number) => (at += ms) };
}
const ok: SendResult = { outcome: 'delivered', answer: '' };

test('a channel with a backlog gives its place to those that wait, and comes back', async () => {
  const backlog = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`busy ${i}`, 200]));
  const { dispatcher, results } = setUp({ ...backlog, single: 1 }, () => ok);
  dispatcher.wake();
  await eventually(() => expect(results).toHaveLength(8 * 200 + 1));
  expect(results.findIndex(({ id }) => id === 'single')).toBeLessThan(8 * 51);
  await dispatcher.stop(0);
});

test('what waits is sent however old the clock says that it is', async () => {
  const { dispatcher, results } = setUp({ c: 1 }, () => ok);
  dispatcher.wake();
  await eventually(() => expect(results).toEqual([{ id: 'c', state: 'delivered', answer: '' }]));
  await dispatcher.stop(0);
});

test('a slow channel gives its place up after 20 seconds', async () => {
  const slow = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`slow ${i}`, 10]));
  const { dispatcher, results, pass } = setUp({ ...slow, single: 1 }, (id) => {
    if (id !== 'single') pass(14_000);
    return ok;
  });
  dispatcher.wake();
  await eventually(() => expect(results).toHaveLength(81));
  expect(results.findIndex(({ id }) => id === 'single')).toBeLessThan(20);
  await dispatcher.stop(0);
});

test('of what a channel refuses the first fails at once, the next ones after several attempts', async () => {
  const send = vi.fn((): SendResult => ({ outcome: 'failed', answer: 'answered 400' }));
  const { dispatcher, results } = setUp({ c: 3 }, send);
  dispatcher.wake();
  await eventually(() => expect(results).toHaveLength(3));
  expect(send).toHaveBeenCalledTimes(1 + 4 + 4);
  expect(results.every(({ state, isRefused }) => state === 'failed' && isRefused)).toBe(true);
  await dispatcher.stop(0);
});

test('what has nobody to go to fails at once, also while the channel is failing', async () => {
  const send = vi.fn((): SendResult => ({ outcome: 'failed', answer: 'no device', isFinal: true }));
  const { dispatcher, results } = setUp({ c: 3 }, send);
  dispatcher.wake();
  await eventually(() => expect(results).toHaveLength(3));
  expect(send).toHaveBeenCalledTimes(3);
  await dispatcher.stop(0);
});

test('a notification of one tenant makes it look at that tenant alone', async () => {
  const { dispatcher, looks } = setUp({ c: 1 }, () => ok);
  dispatcher.wake(1);
  await eventually(() => expect(looks.length).toBeGreaterThan(1));
  expect(looks).toEqual(looks.map(() => [1]));
  await dispatcher.stop(0);
});

test('what was delivered while the server stops is recorded', async () => {
  const { promise, resolve } = Promise.withResolvers<SendResult>();
  const send = vi.fn(() => promise);
  const { dispatcher, results } = setUp({ c: 1 }, send);
  dispatcher.wake();
  await eventually(() => expect(send).toHaveBeenCalled());
  const stopped = dispatcher.stop(0);
  setTimeout(() => resolve(ok), 20);
  await stopped;
  expect(results).toMatchObject([{ state: 'delivered' }]);
});
