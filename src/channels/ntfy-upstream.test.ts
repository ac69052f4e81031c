import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OutboundRequest, OutboundResponse } from '#outbound/outbound.ts';
import { notification } from '#test/support/model-log.ts';
import { routeTo } from '#test/support/notification-draft.ts';
import { NtfyUpstream } from './ntfy-upstream.ts';

type Answer = Partial<OutboundResponse> | Error;

/** An upstream that gives these answers, then 200. Each tenant has the panel `p` with the topic `ada`. */
function worldOf(...answers: Answer[]) {
  const sent: OutboundRequest[] = [];
  const problems: (string | undefined)[] = [];
  const stored: unknown[] = [];
  const panel = { id: 'p', tags: [], display: {} };
  const snapshot = { panels: new Map([['p', panel]]), levels: new Map(), record: { timeZone: 'UTC' } };
  const upstream = new NtfyUpstream({
    ...{ url: 'https://up.example.org', token: 'tk_secret', server: 'https://own.example.org/ntfy' },
    outbound: {
      async request(request: OutboundRequest) {
        sent.push(request);
        const answer = answers.shift() ?? {};
        if (answer instanceof Error) throw answer;
        return { status: 200, headers: {}, body: '', ...answer };
      },
    },
    schedule: {
      put: async (...args: unknown[]) => void stored.push(args),
      dueTimes: {
        find: async () => undefined,
        list: async () => [{ subject: 'p', data: { topics: ['ada'] } }],
      },
    },
    tenancy: { get: async () => snapshot, epoch: 'e1' },
    history: {},
    now: () => Date.now(),
    pause: (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms)),
    onProblem: (problem: string | undefined) => problems.push(problem),
    onError(error: unknown) {
      throw error;
    },
  } as never);
  const store = (tenant: number, ...positions: number[]) =>
    upstream.stored(
      tenant,
      positions.map((position) => notification(position)),
    );
  const ids = () => sent.map(({ headers }) => headers?.['x-poll-id']);
  return { upstream, store, sent, ids, problems, stored };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a failing upstream is asked again, and is reported once, without the token', async () => {
  const { store, sent, problems } = worldOf(new Error('refused'), { status: 503, body: 'tk_secret' }, {});
  store(1, 1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(sent).toHaveLength(3);
  expect(new Set(sent.map(({ headers }) => headers?.['x-poll-id'])).size).toBe(1);
  expect(problems).toEqual(['refused', undefined]);
});

test('an upstream that asks for a pause of no seconds is asked again, after a short one', async () => {
  const { store, ids } = worldOf({ status: 429, headers: { 'retry-after': '0' } });
  store(1, 1);
  await vi.advanceTimersByTimeAsync(900);
  expect(ids()).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(100);
  expect(ids()).toHaveLength(2);
});

test('what waits for too long does not keep out what comes later', async () => {
  const { store, ids } = worldOf({ status: 429, headers: { 'retry-after': '900' } });
  for (let position = 1; position <= 300; position += 1) store(1, position);
  await vi.advanceTimersByTimeAsync(700_000);
  store(1, 1_000);
  await vi.advanceTimersByTimeAsync(201_000);
  expect(ids()).toHaveLength(2);
  expect(String(ids()[1])).toMatch(/0G8$/);
});

test('what goes to other panels wakes nobody, and is not read', async () => {
  const { upstream, sent } = worldOf();
  upstream.stored(1, [notification(1, { route: routeTo({ ids: ['other'] }) })]);
  await settle();
  expect(sent).toEqual([]);
});

test('what the upstream refuses for good is not sent again', async () => {
  const { store, sent, problems } = worldOf({ status: 403, body: 'no tk_secret' });
  store(1, 1);
  await vi.advanceTimersByTimeAsync(600_000);
  expect(sent).toHaveLength(1);
  expect(problems).toEqual(['answered 403: no …']);
});

test('what has waited for ten minutes is given up, and what comes later is sent', async () => {
  const { store, ids } = worldOf({ status: 429, headers: { 'retry-after': '900' } });
  store(1, 1, 2);
  await settle();
  await vi.advanceTimersByTimeAsync(901_000);
  expect(ids()).toHaveLength(1);
  store(1, 3);
  await settle();
  expect(ids()).toHaveLength(2);
});

test('a tenant with many messages has at most 200 that wait, and tenants take turns', async () => {
  const { store, sent } = worldOf({ status: 429, headers: { 'retry-after': '60' } });
  const many = Array.from({ length: 300 }, (_, i) => i + 1);
  for (const position of many) store(1, position);
  await settle();
  store(2, 1_000);
  await vi.advanceTimersByTimeAsync(60_000);
  await settle();
  expect(sent.length).toBeLessThanOrEqual(203);
  expect(sent.length).toBeGreaterThan(200);
  expect(sent.slice(1, 4).some(({ headers }) => String(headers?.['x-poll-id']).endsWith('0G8'))).toBe(true);
});

test('it is stored once a day that an iPhone reads a topic', async () => {
  const { upstream, stored } = worldOf();
  await upstream.readBy(1, 'p', 'ada');
  await upstream.readBy(1, 'p', 'ada');
  expect(stored).toHaveLength(1);
  vi.setSystemTime(Date.now() + 25 * 3_600_000);
  await upstream.readBy(1, 'p', 'ada');
  expect(stored).toHaveLength(2);
});
