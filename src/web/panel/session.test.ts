import { beforeEach, expect, test } from 'vitest';
import type { BoardChange, Card } from '#client/board.ts';
import { ApiError } from '#client/call.ts';
import type { Client } from '#client/client.ts';
import type { Connection } from '#client/event-stream.ts';
import type { PanelEvent, PanelEventsOptions } from '#client/panel-events.ts';
import { createElapsedClock } from '#client/timing.ts';
import type { Receipts } from '#contract/panels/panel.ts';
import { cardOf } from '#test/support/card-of.ts';
import { note as noteAt, ready, readyData, start } from '#test/support/panel-events.ts';
import { contactOf, Session, type SessionOptions } from './session.ts';

const note = (id: string): PanelEvent => ({ type: 'notification', data: cardOf({ id }).notification });

/** The clocks of the device: one that can be set, and one that cannot. */
let [wall, ticks] = [start, 0];
const device = { wall: () => wall, ticks: () => ticks };
beforeEach(() => {
  [wall, ticks] = [start, 0];
});

function createSession(client: Client, over: Partial<SessionOptions> = {}): Session {
  return new Session({
    client,
    panelId: 'p',
    screen: 'panel/0.0.0',
    clock: createElapsedClock(device),
    onReturn: () => undefined,
    onCommand: () => undefined,
    onChange: () => undefined,
    ...over,
  });
}

/** A session whose server says `events` and then `end`. */
function sessionOf(events: readonly PanelEvent[], end: () => Promise<void> | void) {
  const receipts: Receipts[number][] = [];
  const kinds: BoardChange['kind'][] = [];
  const commands: string[] = [];
  const client = {
    async *panelEvents() {
      yield* events;
      await end();
    },
    async receipts(_panel: string, batch: Receipts) {
      receipts.push(...batch);
      return batch.length;
    },
  } as unknown as Client;
  const session = createSession(client, {
    onCommand: ({ type }) => commands.push(type),
    onChange: (changes) => kinds.push(...changes.map(({ kind }) => kind)),
  });
  return { session, receipts, kinds, commands };
}

const refuse = (status: number, code: string | undefined) => () => {
  throw new ApiError(status, 'refused', { code });
};

test.each([
  [401, 'unauthorized', 'revoked'],
  [403, 'forbidden', 'refused'],
  [404, 'not-found', 'deleted'],
] as const)('a session ends when the server itself answers %i', async (status, code, reason) => {
  const { session } = sessionOf([], refuse(status, code));
  expect(await session.run(new AbortController().signal)).toBe(reason);
});

test('a suspended tenant ends nothing: the cards stay until it is resumed', async () => {
  const { session } = sessionOf([note('a')], refuse(403, 'tenant.suspended'));
  const stop = new AbortController();
  void session.run(stop.signal);
  await expect.poll(() => session.connection.state).toBe('waiting');
  expect(session.board.cards()).toHaveLength(1);
  stop.abort();
});

test('an answer of something in front of the server ends nothing', async () => {
  const { session } = sessionOf([note('a')], refuse(404, undefined));
  const stop = new AbortController();
  void session.run(stop.signal);
  await expect.poll(() => session.connection.state).toBe('waiting');
  expect(session.board.cards()).toHaveLength(1);
  stop.abort();
});

test('shown is reported once, and what was cleared or replaced is reported as cleared', async () => {
  const stop = new AbortController();
  const { session, receipts, kinds } = sessionOf(
    [
      note('a'),
      note('b'),
      { type: 'clear', data: { id: 'a', position: 3, reason: 'cleared', by: 'x' } },
      { type: 'clear', data: { id: 'b', position: 4, reason: 'replaced', by: 'c' } },
    ],
    () => stop.abort(),
  );
  const a = cardOf({ id: 'a' });
  session.shown([{ cards: [a] }]);
  session.shown([{ cards: [a] }]);
  await session.run(stop.signal);
  expect(kinds).toEqual(['added', 'added', 'cleared', 'replaced']);
  await expect
    .poll(() => receipts.map(({ id, state }) => `${id} ${state}`))
    .toEqual(['a shown', 'a cleared', 'b cleared']);
  expect([session.isKnown('a'), session.isKnown('z')]).toEqual([true, false]);
});

test('the receipt of a notification that a group shows says so', async () => {
  const stop = new AbortController();
  const { session, receipts } = sessionOf([], () => stop.abort());
  const [a, b, c] = ['a', 'b', 'c'].map((id) => cardOf({ id })) as [Card, Card, Card];
  session.shown([{ cards: [a, b] }, { cards: [c] }]);
  session.shown([{ cards: [a] }]);
  await session.run(stop.signal);
  await expect
    .poll(() => receipts)
    .toMatchObject([
      { id: 'a', inGroup: true },
      { id: 'b', inGroup: true },
      { id: 'c', state: 'shown' },
    ]);
  expect(receipts[2]).not.toHaveProperty('inGroup');
});

test('of many cards each is acknowledged in turn, and the outcome counts those that failed', async () => {
  const answers = new Map([
    ['b', new ApiError(404, 'it is on no panel')],
    ['d', new ApiError(0, 'no answer')],
  ]);
  const requested: string[] = [];
  const client = {
    async acknowledge(id: string) {
      requested.push(id);
      const error = answers.get(id);
      if (error) throw error;
    },
  } as unknown as Client;
  const session = createSession(client);
  const cards = (ids: string) => [...ids].map((id) => cardOf({ id }));
  expect(await session.acknowledge(cards('ac'))).toEqual({ failed: 0, reason: '' });
  expect(await session.acknowledge(cards('abc'))).toEqual({ failed: 1, reason: 'it is on no panel' });
  requested.length = 0;
  // Where the server does not answer, the others would wait in vain.
  expect(await session.acknowledge(cards('cdef'))).toEqual({ failed: 3, reason: 'no answer' });
  expect(requested).toEqual(['c', 'd']);
});

test('a command for the screen is passed on, and changes nothing that it shows', async () => {
  const events: PanelEvent[] = [
    note('a'),
    { type: 'identify', data: { durationMs: 5_000 } },
    { type: 'reload', data: {} },
    { type: 'test', data: { durationMs: 20_000 } },
  ];
  const { session, kinds, commands } = sessionOf(events, refuse(401, 'unauthorized'));
  await session.run(new AbortController().signal);
  expect(commands).toEqual(['identify', 'reload', 'test']);
  expect(kinds).toEqual(['added']);
});

test.each([
  ['ahead', 86_400_000],
  ['back', -86_400_000],
])('a clock that is set %s expires no card and hides no silence', async (_, step) => {
  const { session, receipts, kinds } = sessionOf(
    [ready(), noteAt(1, { remainingMs: 60_000 })],
    () => new Promise(() => undefined),
  );
  void session.run(new AbortController().signal);
  await expect.poll(() => kinds).toEqual(['added']);
  session.shown([{ cards: [cardOf({ id: 'n1' })] }]);
  wall += step;
  ticks += 30_000;
  session.expire();
  expect(kinds).toEqual(['added']);
  expect(session.contact).toEqual({ state: 'lost', silentMs: 30_000 });
  ticks += 30_000;
  session.expire();
  expect(kinds).toEqual(['added', 'expired']);
  expect(session.contact).toEqual({ state: 'stale', silentMs: 60_000 });
  await expect
    .poll(() => receipts)
    .toEqual([
      { id: 'n1', state: 'shown', at: start },
      { id: 'n1', state: 'expired', at: start + 60_000 },
    ]);
});

test('what the settings hide is reported neither to the page nor to the server', async () => {
  const { panel } = readyData();
  const stop = new AbortController();
  const { session, receipts, kinds } = sessionOf(
    [
      ready({ panel: { ...panel, display: { minLevel: 'warning' } } }),
      noteAt(1, { rank: 20 }),
      { type: 'clear', data: { id: 'n1', position: 3, reason: 'cleared', by: 'x' } },
      noteAt(4, { rank: 30, level: 'warning' }),
      { type: 'clear', data: { id: 'n4', position: 5, reason: 'cleared', by: 'x' } },
    ],
    () => stop.abort(),
  );
  await session.run(stop.signal);
  expect(kinds).toEqual(['added', 'cleared']);
  await expect.poll(() => receipts.map(({ id, state }) => `${id} ${state}`)).toEqual(['n4 cleared']);
});

test('when few of more than five hundred are left, the live set is asked for again', async () => {
  const many = Array.from({ length: 501 }, (_, n) => noteAt(n + 1, { remainingMs: n < 2 ? null : 1_000 }));
  const stop = new AbortController();
  const connections = [
    [ready(), ...many],
    [ready(), ...many.slice(0, 2)],
  ];
  let connected = 0;
  const client = {
    async *panelEvents() {
      connected += 1;
      yield* connections.shift() ?? [];
      ticks += 1_000;
      session.expire();
      yield { type: 'heartbeat', data: { serverTime: new Date(start + 1_000).toISOString(), head: 501 } };
      stop.abort();
    },
    receipts: async () => 0,
  } as unknown as Client;
  const session = createSession(client);
  await session.run(stop.signal);
  expect(connected).toBe(2);
  expect(session.board.cards().map(({ notification }) => notification.id)).toEqual(['n2', 'n1']);
  expect(session.board.isPartial).toBe(false);
});

const line = {
  connection: { state: 'online' },
  heartbeatMs: 15_000,
  lastContactAt: 1_000,
  lostAt: undefined,
} as const;

test('a screen is stale when two and a half heartbeats have not come', () => {
  expect(contactOf(line, 38_499)).toEqual({ state: 'lost', silentMs: 37_499 });
  expect(contactOf(line, 38_500)).toEqual({ state: 'stale', silentMs: 37_500 });
});

test('contact is lost when a heartbeat is five seconds late', () => {
  expect(contactOf(line, 20_999).state).toBe('fresh');
  expect(contactOf(line, 21_000).state).toBe('lost');
});

test('contact is lost when the connection has been closed for three seconds, whatever came before', () => {
  const closed = { ...line, connection: { state: 'connecting' }, lostAt: 2_000 } as const;
  expect(contactOf(closed, 4_999).state).toBe('fresh');
  expect(contactOf(closed, 5_000).state).toBe('lost');
  expect(contactOf({ ...closed, heartbeatMs: 1_000 }, 5_000).state).toBe('stale');
});

test('attempts that fail do not put off that contact is lost, and a new connection ends it', async () => {
  let reconnect = () => {};
  const client = {
    async *panelEvents(_panel: string, { onConnection }: PanelEventsOptions) {
      onConnection?.({ state: 'connecting' });
      onConnection?.({ state: 'online' });
      yield ready();
      const waiting = { state: 'waiting', reason: 'the connection broke', answered: false, retryInMs: 1_000 };
      onConnection?.(waiting as Connection);
      ticks += 2_000;
      onConnection?.({ state: 'connecting' });
      ticks += 1_000;
      await new Promise<void>((resolve) => {
        reconnect = resolve;
      });
      onConnection?.({ state: 'online' });
      yield ready();
      await new Promise(() => undefined);
    },
  } as unknown as Client;
  const session = createSession(client);
  void session.run(new AbortController().signal);
  await expect.poll(() => session.contact).toEqual({ state: 'lost', silentMs: 3_000 });
  reconnect();
  await expect.poll(() => session.contact).toEqual({ state: 'fresh', silentMs: 0 });
});

test('a screen that never heard anything has nothing to be stale', () => {
  expect(contactOf({ ...line, lastContactAt: undefined, lostAt: 0 }, 1e9).state).toBe('never');
});
