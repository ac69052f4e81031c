import { expect, test, vi } from 'vitest';
import { encodeSse } from '#contract/panels/sse.ts';
import { createClient } from './published.ts';

const json = (status: number, body: unknown, headers = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });

/** A client whose server gives these answers, one after the other; an error is a connection that fails. */
function clientOf(...answers: (Response | Error)[]) {
  const paths: string[] = [];
  const client = createClient({
    url: 'http://belfry.test',
    token: 'bfy_x',
    fetch: async (input) => {
      paths.push(String(input).replace('http://belfry.test', ''));
      const answer = answers.shift();
      if (answer instanceof Response) return answer;
      throw answer;
    },
  });
  return { client, paths };
}

const ready = encodeSse({ event: 'ready', data: { heartbeatMs: 15_000 } });

test('a subscription waits for a server that is away when it begins', async () => {
  vi.useFakeTimers();
  try {
    const { client, paths } = clientOf(
      new TypeError('fetch failed'),
      json(503, { error: 'busy' }, { 'belfry-error': 'unavailable', 'retry-after': '2' }),
      json(404, { error: 'a proxy knows no such page' }),
      json(200, { id: 'p1' }),
      new Response(ready, { headers: { 'content-type': 'text/event-stream' } }),
    );
    const states: string[] = [];
    const events = client.subscribe({ panel: 'bot', onConnection: ({ state }) => states.push(state) });
    const first = events.next();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await first).toMatchObject({ value: { type: 'ready' } });
    expect(paths).toEqual([...Array(4).fill('/api/panels'), '/api/panels/p1/events']);
    const attempt = ['connecting', 'waiting'];
    expect(states).toEqual([...attempt, ...attempt, ...attempt, 'connecting', 'connecting', 'online']);
    await events.return();
  } finally {
    vi.useRealTimers();
  }
});

test('a signal ends a subscription that waits for its server', async () => {
  const stop = new AbortController();
  const { client } = clientOf(new TypeError('fetch failed'));
  const events = client.subscribe({
    panel: 'bot',
    signal: stop.signal,
    onConnection: ({ state }) => state === 'waiting' && stop.abort(),
  });
  expect(await events.next()).toEqual({ done: true, value: undefined });
});

test("a cursor that is no event's id is an error, not a new beginning", async () => {
  const { client } = clientOf(json(400, { error: 'no' }, { 'belfry-error': 'cursor.invalid' }));
  const events = client.subscribe({ panelId: 'p1', cursor: 'nonsense' });
  await expect(events.next()).rejects.toMatchObject({ status: 400, code: 'cursor.invalid' });
});
