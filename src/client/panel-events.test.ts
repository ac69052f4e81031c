import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test, vi } from 'vitest';
import { encodeSse } from '#contract/panels/sse.ts';
import { ApiError } from './call.ts';
import { createClient } from './client.ts';
import type { Connection } from './event-stream.ts';
import type { PanelEvent, PanelEventsOptions } from './panel-events.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  vi.restoreAllMocks();
});

/** A server that answers its first request with the first handler, and so on; the last answers all that follow. */
async function serve(...handlers: Handler[]): Promise<{ url: string; requests: IncomingMessage[] }> {
  const requests: IncomingMessage[] = [];
  server = createServer((request, response) => {
    requests.push(request);
    handlers[Math.min(requests.length, handlers.length) - 1]?.(request, response);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

const ready = (heartbeatMs = 15_000) =>
  encodeSse({
    event: 'ready',
    retryMs: 10,
    data: { heartbeatMs, resume: 'live', serverTime: '2026-11-20T10:00:00.000Z', levels: [] },
  });
const note = (position: number) =>
  encodeSse({ event: 'notification', id: `e-${position}`, data: { id: `n${position}`, position } });

/** Sends the frames, and ends the stream unless it is to stay open. */
function stream(frames: string[], { open = false } = {}): Handler {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(frames.join(''));
    if (!open) response.end();
  };
}

const refuse =
  (status: number, headers: Record<string, string> = {}): Handler =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify({ error: `refused with ${status}` }));
  };

/** Reads until `count` events came, the stream failed or `until` was heard of the connection. */
async function read(
  url: string,
  {
    count = Number.POSITIVE_INFINITY,
    until,
    ...options
  }: PanelEventsOptions & { count?: number; until?: (connection: Connection) => boolean } = {},
): Promise<{ events: PanelEvent[]; connections: Connection[]; error: unknown }> {
  const abort = new AbortController();
  const events: PanelEvent[] = [];
  const connections: Connection[] = [];
  let error: unknown;
  const onConnection = (connection: Connection) => {
    connections.push(connection);
    if (until?.(connection)) abort.abort();
  };
  try {
    const all = { retryMs: 10, signal: abort.signal, onConnection, ...options };
    for await (const event of createClient({ url, token: 't' }).panelEvents('p 1', all)) {
      events.push(event);
      if (events.length >= count) break;
    }
  } catch (thrown) {
    error = thrown;
  }
  return { events, connections, error };
}

const positions = (events: PanelEvent[]) =>
  events.flatMap(({ type, data }) => (type === 'notification' ? [data.position] : []));

test('a stream that ends is made again, after the last event that was handed out', async () => {
  const { url, requests } = await serve(
    stream([ready(), note(1), note(2)]),
    stream([ready(), note(3)]),
    stream([ready()]),
  );
  const { events, error } = await read(url, { count: 6 });
  expect(error).toBeUndefined();
  expect(positions(events)).toEqual([1, 2, 3]);
  expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, 'e-2', 'e-3']);
  expect(requests[0]?.url).toBe('/api/panels/p%201/events');
  expect(requests[0]?.headers.authorization).toBe('Bearer t');
});

test('a frame that was cut in the middle is not handed out, and comes again', async () => {
  const { url, requests } = await serve(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`${ready()}${note(1)}${note(2).slice(0, -5)}`, () => response.destroy());
    },
    stream([ready(), note(2)], { open: true }),
  );
  const { events } = await read(url, { count: 4 });
  expect(positions(events)).toEqual([1, 2]);
  expect(requests[1]?.headers['last-event-id']).toBe('e-1');
});

test('silence for two and a half heartbeats is a dead line', async () => {
  const { url, requests } = await serve(
    stream([ready(40)], { open: true }),
    stream([ready(), note(1)], { open: true }),
  );
  const began = performance.now();
  const { events, connections } = await read(url, { count: 3 });
  expect(performance.now() - began).toBeGreaterThanOrEqual(99);
  expect(positions(events)).toEqual([1]);
  expect(requests).toHaveLength(2);
  expect(connections).toContainEqual(
    expect.objectContaining({ state: 'waiting', reason: 'the connection fell silent' }),
  );
});

test('what a proxy sends to keep the line open is no sign of life', async () => {
  const { url } = await serve(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(ready(40));
      const timer = setInterval(() => response.write(': still here\n\n'), 10);
      response.once('close', () => clearInterval(timer));
    },
    stream([ready(), note(1)], { open: true }),
  );
  const { events } = await read(url, { count: 3 });
  expect(positions(events)).toEqual([1]);
});

test('heartbeats keep a quiet line', async () => {
  const { url, requests } = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(ready(400));
    const beat = encodeSse({
      event: 'heartbeat',
      id: 'e-7',
      data: { serverTime: '2026-11-20T10:00:00.000Z', head: 7 },
    });
    const timer = setInterval(() => response.write(beat), 100);
    response.once('close', () => clearInterval(timer));
  });
  // Longer than a line may be silent.
  const { events } = await read(url, { count: 15 });
  expect(events.filter(({ type }) => type === 'heartbeat')).toHaveLength(14);
  expect(requests).toHaveLength(1);
});

test.each([401, 403, 404])('an answer of %i ends it', async (status) => {
  const { url, requests } = await serve(stream([ready()]), refuse(status, { 'belfry-error': 'forbidden' }));
  const { error } = await read(url);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status, message: `refused with ${status}` });
  expect(requests).toHaveLength(2);
});

test('a server that is away is asked again and again, ever more slowly, at its own pace if it names one', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(1);
  const { url } = await serve(
    refuse(503),
    refuse(500),
    refuse(502),
    (request) => request.socket.destroy(),
    refuse(503, { 'retry-after': '7' }),
  );
  const { connections, error } = await read(url, {
    until: (connection) => connection.state === 'waiting' && connection.retryInMs === 7_000,
  });
  const waits = connections.flatMap((connection) =>
    connection.state === 'waiting' ? [connection.retryInMs] : [],
  );
  expect(waits).toEqual([10, 20, 40, 80, 7_000]);
  expect(error).toBeUndefined();
});

test('a goodbye says when to come back', async () => {
  const { url } = await serve(stream([ready(), encodeSse({ event: 'bye', data: { reconnectMs: 1234 } })]));
  const { connections } = await read(url, { until: ({ state }) => state === 'waiting' });
  expect(connections).toEqual([
    { state: 'connecting' },
    { state: 'online' },
    { state: 'waiting', reason: 'the server ended the stream', answered: true, retryInMs: 1234 },
  ]);
});

test('a cursor that the server cannot read is let go', async () => {
  const { url, requests } = await serve(
    refuse(400, { 'belfry-error': 'cursor.invalid' }),
    stream([ready(), note(1)], { open: true }),
  );
  await read(url, { count: 2, lastEventId: 'nonsense' });
  expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual(['nonsense', undefined]);
});

test('a suspended tenant is no end: it is asked again about once a minute', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const { url } = await serve(refuse(403, { 'belfry-error': 'tenant.suspended' }));
  const { connections, error } = await read(url, {
    until: ({ state }) => state === 'waiting',
  });
  expect(error).toBeUndefined();
  expect(connections.at(-1)).toMatchObject({ state: 'waiting', suspended: true, retryInMs: 60_000 });
});

test('a refusal by something in front of the server ends nothing, and the cursor is kept', async () => {
  const { url, requests } = await serve(refuse(400), refuse(404), stream([ready(), note(1)], { open: true }));
  const { events } = await read(url, { count: 2, lastEventId: 'e-1' });
  expect(events).toHaveLength(2);
  expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual(['e-1', 'e-1', 'e-1']);
});

test('an answer that is no event stream is a failure like any other', async () => {
  const { url } = await serve(
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' });
      response.end('<h1>Please sign in</h1>');
    },
    stream([ready()], { open: true }),
  );
  const { events, connections } = await read(url, { count: 1 });
  expect(events[0]?.type).toBe('ready');
  expect(connections[1]).toMatchObject({
    state: 'waiting',
    reason: expect.stringContaining('no event stream'),
  });
});

test('events of a newer server are passed over', async () => {
  const { url } = await serve(
    stream(
      [
        ready(),
        encodeSse({ event: 'constructor', data: {} }),
        encodeSse({ event: 'brand-new', id: 'e-1', data: {} }),
        note(2),
      ],
      {
        open: true,
      },
    ),
  );
  const { events } = await read(url, { count: 2 });
  expect(events.map(({ type }) => type)).toEqual(['ready', 'notification']);
});

test('who stops listening, or is stopped, closes the connection', async () => {
  const closed: Promise<void>[] = [];
  const { url } = await serve((_request, response) => {
    closed.push(new Promise((resolve) => response.once('close', resolve)));
    stream([ready(), note(1)], { open: true })(_request, response);
  });
  await read(url, { count: 1 });
  const { error } = await read(url, { until: ({ state }) => state === 'online' });
  expect(error).toBeUndefined();
  await Promise.all(closed);
  expect(closed).toHaveLength(2);
});

test('each connection names its screen to the server', async () => {
  const { url, requests } = await serve(
    stream([ready(), note(1)]),
    stream([ready(), note(2)], { open: true }),
  );
  await read(url, { count: 4, screen: 'panel/0.9.0' });
  expect(requests.map(({ headers }) => headers['belfry-client'])).toEqual(['panel/0.9.0', 'panel/0.9.0']);
});
