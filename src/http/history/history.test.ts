import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import fastify from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { limits } from '#contract/limits.ts';
import { unavailable } from '#core/errors.ts';
import type { CallOptions, SearchPage } from '#core/ports.ts';
import type { Authenticator } from '../auth.ts';
import { answerError } from '../errors.ts';
import type { App, Services } from '../services.ts';
import { fieldValueRoutes } from './field-values.ts';
import { histogramRoutes } from './histogram.ts';
import { historyRoutes } from './history.ts';

/** A store that is given calls to answer, and with what they were made. */
const calls: CallOptions[] = [];
let answer: (options: CallOptions) => Promise<unknown>;
const call = (options: CallOptions) => {
  calls.push(options);
  return answer(options);
};
const untilAborted = ({ signal }: CallOptions) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));

const warnings: string[] = [];
const logger = { level: 'warn', stream: { write: (line: string) => void warnings.push(line) } };
const app = fastify({ logger }) as unknown as App;
let port: number;
let requests = 0;
const router = (...names: string[]) => ({ rules: names.map((name) => ({ ref: { id: name, name } })) });
const snapshot = { record: { timeZone: 'UTC' }, levels: new Map(), panels: new Map(), router: router() };
const formerNames = vi.fn(async () => [{ id: 'deleted', name: 'deleted' }]);
beforeAll(async () => {
  const services = {
    history: { search: (_tenant: number, _query: unknown, options: CallOptions) => call(options) },
    statistics: {
      count: (_tenant: number, _query: unknown, _times: unknown, options: CallOptions) => call(options),
      values: (_tenant: number, wanted: CallOptions) => call(wanted),
    },
    tenancy: { get: async () => snapshot },
    directory: { rules: { formerNames } },
    now: () => 1_000_000,
  } as unknown as Services;
  app.decorateRequest('principal', { getter: () => ({ tenant: 1 }) as never });
  app.setErrorHandler(answerError);
  app.addHook('onRequest', async (_, reply) => {
    requests += 1;
    reply.raw.once('close', () => {
      requests -= 1;
    });
  });
  historyRoutes(app, services, { watch: () => () => undefined } as unknown as Authenticator);
  histogramRoutes(app, services);
  fieldValueRoutes(app, services);
  // As the server has it: a client may close its side first.
  (app.server as { httpAllowHalfOpen?: boolean }).httpAllowHalfOpen = true;
  await app.listen({ port: 0, host: '127.0.0.1' });
  ({ port } = app.server.address() as AddressInfo);
});
afterAll(() => app.close());
beforeEach(() => {
  calls.length = 0;
});

const request = async (path: string) => {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  await expect.poll(() => calls.length).toBe(1);
  return socket;
};
const paths = [
  '/api/history',
  '/api/history/histogram',
  '/api/history/values?key=host',
  '/api/history/export?format=csv',
];

test('a page whose time is over says how far back it was searched, and where to continue', async () => {
  const page: SearchPage = { records: [], next: 7, searchedTo: Date.UTC(2026, 10, 2), head: 9 };
  answer = async () => page;
  const { statusCode, json } = await app.inject('/api/history?limit=3');
  expect([statusCode, json()]).toEqual([
    200,
    { notifications: [], nextCursor: 'p7', searchedTo: '2026-11-02T00:00:00.000Z' },
  ]);
  expect(calls).toMatchObject([{ limit: 3, timeoutMs: limits.searchMs }]);
  answer = async () => ({ ...page, next: null, searchedTo: null });
  expect((await app.inject('/api/history?cursor=p7')).json()).toMatchObject({
    nextCursor: null,
    searchedTo: null,
  });
  expect(calls[1]).toMatchObject({ before: 7 });
});

test('names of deleted rules are read once while the rules stay the same, and again when that read failed', async () => {
  answer = async () => ({ records: [], next: null, searchedTo: null, head: 0 });
  const search = async (name: string) => (await app.inject(`/api/history?q=rule:${name}`)).statusCode;
  formerNames.mockRejectedValueOnce(unavailable('the disk refused a read'));
  expect(await search('deleted')).toBe(503);
  expect(await Promise.all(['deleted', 'deleted', 'unknown'].map(search))).toEqual([200, 200, 400]);
  expect(formerNames).toHaveBeenCalledTimes(2);
  snapshot.router = router('new');
  expect(await Promise.all(['new', 'deleted'].map(search))).toEqual([200, 200]);
  expect(formerNames).toHaveBeenCalledTimes(3);
});

test('an export goes on where a page ran out of time, to the end', async () => {
  const nexts = [90, 50, null];
  answer = async () => {
    const next = nexts[calls.length - 1] ?? null;
    return { records: [], next, searchedTo: next, head: 100 };
  };
  const response = await fetch(`http://127.0.0.1:${port}/api/history/export`);
  expect([response.status, await response.text()]).toEqual([200, '']);
  expect(calls).toMatchObject([{ timeoutMs: limits.searchMs }, { before: 90 }, { before: 50 }]);
});

test.each(paths)('%s ends its work when its caller has gone', async (path) => {
  answer = untilAborted;
  const socket = await request(path);
  socket.destroy();
  await expect.poll(() => calls[0]?.signal?.aborted).toBe(true);
  await expect.poll(() => requests).toBe(0);
  expect(warnings).toEqual([]);
});

test('a caller that closed only its side is told that the work was ended', async () => {
  answer = untilAborted;
  const socket = await request('/api/history');
  socket.end();
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 .*\{"error":"[^"]+"\}$/s);
});
