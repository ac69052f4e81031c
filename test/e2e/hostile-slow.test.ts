import { channel } from 'node:diagnostics_channel';
import type { Server } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectError, IntakeDesk } from '../support/intake.ts';
import { RawConnection } from '../support/raw-http.ts';

let desk: IntakeDesk;
let http: Server;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off', BELFRY_RATE_TENANT: 'off' });
  http = await serverOf(desk.server.url);
});
afterAll(() => desk.close());

/** Node's server behind a URL, as Node itself tells of it. */
async function serverOf(url: string): Promise<Server> {
  const started = channel('http.server.request.start');
  const seen: Server[] = [];
  const hear = (message: unknown) => seen.push((message as { server: Server }).server);
  started.subscribe(hear);
  await fetch(`${url}/healthz`);
  started.unsubscribe(hear);
  return seen[0] as Server;
}

const head = () =>
  `POST /api/notify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${desk.token}\r\nX-Title: slow\r\n`;

it('a client has 10 seconds for the head, 15 for the whole request, and 75 between two', () => {
  expect(http.headersTimeout).toBe(10_000);
  expect(http.requestTimeout).toBe(15_000);
  expect(http.keepAliveTimeout).toBe(75_000);
});

describe('a client that takes longer', () => {
  beforeAll(() => {
    // What was promised is checked above; here their passing is what counts.
    http.headersTimeout = 300;
    http.requestTimeout = 500;
  });

  it.concurrent.each<[string, () => string, string]>([
    ['the head', () => `${head()}X-Message: `, 'x'],
    ['the name of a header', () => head(), 'x'],
    ['the body', () => `${head()}Content-Type: text/plain\r\nContent-Length: 1000\r\n\r\n`, 'x'],
    [
      'the chunks',
      () => `${head()}Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n`,
      '1\r\nx\r\n',
    ],
    ['the first byte', () => '', ''],
  ])('for %s gets a 408 and stores nothing', async (_, begin, drip) => {
    const connection = await RawConnection.open(desk.server.url);
    await connection.write(begin());
    const dripping = setInterval(() => void connection.write(drip), 50);
    const answers = await connection.all().finally(() => clearInterval(dripping));
    expect(answers).toHaveLength(1);
    expectError(answers[0] ?? { status: 0, body: '' }, 408);
    expect(await desk.head()).toBe(0);
  });

  it.concurrent('to read a stream is not cut off: the request was whole', async () => {
    const key = await desk.server.key();
    const tail = await desk.server.stream('/api/history/stream', key);
    await tail.next(({ event }) => event === 'ready');
    // As long as another takes to be cut off.
    await (await RawConnection.open(desk.server.url)).all();
    const stillOpen = Symbol('still open');
    expect(await Promise.race([tail.ended, Promise.resolve(stillOpen)])).toBe(stillOpen);
    tail.close();
  });
});
