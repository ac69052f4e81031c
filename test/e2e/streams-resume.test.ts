import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';
import type { SseMessage, SseReader } from '../support/sse-client.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

/** A tenant of its own with a panel, so that its log begins at 1. */
async function newWall() {
  const { token, key, send } = await server.newTenant();
  const { json: panel } = await server.call('POST', '/api/panels', {
    token,
    json: { name: 'P', tags: ['noc'] },
  });
  const open = (cursor?: string, query = '') => server.stream(`${panel.events}${query}`, token, cursor);
  const clear = (id: string) => server.call('POST', `/api/notifications/${id}/clear`, { token });
  const probe = await open();
  const { epoch } = (await probe.next(({ event }) => event === 'ready')).data;
  probe.close();
  return { token, key, panel, open, send, clear, at: (position: number) => `${epoch}-${position}` };
}
/** Resolves with everything up to and with position `last`. */
async function upTo(stream: SseReader, last: number): Promise<SseMessage[]> {
  const found = await stream.next(({ data }) => data.position === last);
  stream.close();
  return stream.messages.slice(0, stream.messages.indexOf(found) + 1);
}
const linesOf = (messages: readonly SseMessage[]) =>
  messages.map(({ event, data }) => `${event} ${data.resume ?? data.position ?? data.head}`);

describe('with a cursor', () => {
  test('everything after it is replayed, each once, in order, then what comes', async () => {
    const { open, send, at } = await newWall();
    for (let i = 0; i < 5; i++) await send();
    const stream = await open(at(2));
    await stream.next(({ data }) => data.position === 5);
    await send();
    expect(linesOf(await upTo(stream, 6))).toEqual([
      'ready replayed',
      'notification 3',
      'notification 4',
      'notification 5',
      'notification 6',
    ]);
  });

  test('of the head, nothing is sent again', async () => {
    const { open, send, at } = await newWall();
    await send();
    await send();
    const stream = await open(at(2));
    await stream.next(({ event }) => event === 'ready');
    await send();
    expect(linesOf(await upTo(stream, 3))).toEqual(['ready replayed', 'notification 3']);
  });

  test('of 0, everything is', async () => {
    const { open, send, at } = await newWall();
    await send();
    await send();
    expect(linesOf(await upTo(await open(at(0)), 2))).toEqual([
      'ready replayed',
      'notification 1',
      'notification 2',
    ]);
  });

  test('it may stand in the query, where a page cannot set headers, and the header goes before it', async () => {
    const { open, send, at } = await newWall();
    for (let i = 0; i < 3; i++) await send();
    expect(linesOf(await upTo(await open(undefined, `?last_event_id=${at(1)}`), 3))).toEqual([
      'ready replayed',
      'notification 2',
      'notification 3',
    ]);
    expect(linesOf(await upTo(await open(at(2), `?last_event_id=${at(0)}`), 3))).toEqual([
      'ready replayed',
      'notification 3',
    ]);
  });

  test('a panel that was away hears of what was cleared and replaced meanwhile', async () => {
    const { open, send, clear, at } = await newWall();
    const [cleared, down] = [await send(), await send({ key: 'db', title: 'down' })];
    await clear(cleared);
    const up = await send({ key: 'db', title: 'up' });
    const messages = await upTo(await open(at(2)), 5);
    expect(linesOf(messages)).toEqual(['ready replayed', 'clear 3', 'clear 4', 'notification 5']);
    expect(messages[1]).toMatchObject({
      id: at(3),
      data: { id: cleared, position: 3, reason: 'cleared', by: 'token token' },
    });
    expect(messages[2]).toMatchObject({
      id: at(4),
      data: { id: down, position: 4, reason: 'replaced', by: up },
    });
  });

  test('what has expired meanwhile is skipped', async () => {
    const { open, send, token, at } = await newWall();
    const short = await send({ ttl: 1 });
    await send();
    await eventually(
      async () =>
        expect((await server.call('GET', `/api/notifications/${short}`, { token })).json.state).toBe(
          'expired',
        ),
      { interval: 5 },
    );
    expect(linesOf(await upTo(await open(at(0)), 2))).toEqual(['ready replayed', 'notification 2']);
  });

  test('what was not routed to this panel is skipped', async () => {
    const { open, send, key, at } = await newWall();
    const rule = (name: string, host: string, then: object) =>
      server.call('POST', '/api/rules', { token: key, json: { name, when: { host: [host] }, then } });
    await rule('elsewhere', 'elsewhere', { panels: { tags: ['elsewhere'] } });
    await rule('noc', 'noc', { panels: { tags: ['noc'] } });
    await rule('muted', 'muted', { mute: true });
    for (const host of ['elsewhere', 'noc', 'muted', 'plain']) await send({ host });
    expect(linesOf(await upTo(await open(at(0)), 4))).toEqual([
      'ready replayed',
      'notification 2',
      'notification 4',
    ]);
  });

  test.each([
    ['of another epoch', () => 'anotherepoch-1'],
    ['ahead of the head', (at: (position: number) => string) => at(99)],
  ])('%s, what is shown is to be dropped, and the live set follows', async (_, cursor) => {
    const { open, send, clear, at } = await newWall();
    const [gone] = [await send(), await send()];
    await clear(gone);
    const stream = await open(cursor(at));
    const closing = await stream.next(({ event }) => event === 'heartbeat');
    expect(closing.id).toBe(at(3));
    expect(linesOf(stream.messages)).toEqual(['ready reset', 'notification 2', 'heartbeat 3']);
    stream.close();
  });
});

test('panels that are cut off again and again while four senders send miss nothing, and get nothing twice or out of order', async () => {
  const { open, send, at } = await newWall();
  const total = 400;
  const follow = async (cutAfter: number) => {
    const positions: number[] = [];
    const cuts = { count: 0 };
    while ((positions.at(-1) ?? 0) < total) {
      const cursor = at(positions.at(-1) ?? 0);
      const stream = await open(cursor);
      const enough = (positions.at(-1) ?? 0) + cutAfter;
      await stream.next(({ data }) => data.position >= Math.min(enough, total));
      stream.close();
      for (const { event, data, id } of stream.messages) {
        if (event !== 'notification') continue;
        expect(id).toBe(at(data.position));
        positions.push(data.position);
      }
      cuts.count += 1;
    }
    return { positions, cuts: cuts.count };
  };
  const senders = Array.from({ length: 4 }, async () => {
    for (let i = 0; i < total / 4; i++) await send();
  });
  const panels = [follow(10), follow(37), follow(90)];
  await Promise.all(senders);
  for (const { positions, cuts } of await Promise.all(panels)) {
    expect(positions).toEqual(Array.from({ length: total }, (_, i) => i + 1));
    expect(cuts).toBeGreaterThanOrEqual(4);
  }
});
