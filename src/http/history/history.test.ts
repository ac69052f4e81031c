import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import fastify from 'fastify';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { mapOptionalTexts } from '#contract/history/fields.ts';
import { HistoryPage } from '#contract/history/notification.ts';
import { limits } from '#contract/limits.ts';
import { type AppError, forbidden, unavailable } from '#core/errors.ts';
import { historyView, recordForms } from '#core/log/history-view.ts';
import type { CallOptions, HistoryRecord, SearchPage } from '#core/log/log.ts';
import type { TenantSnapshot } from '#core/tenants/tenancy.ts';
import { labelsTexts } from '#test/support/arbitrary-labels.ts';
import type { Authenticator } from '../callers/auth.ts';
import { answerError } from '../errors.ts';
import { lazyCompilers, serializerOf } from '../openapi/lazy-compilers.ts';
import type { App, Services } from '../services.ts';
import { fieldValueRoutes, histogramRoutes, historyRoutes } from './history.ts';

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
const app = fastify({ logger, schemaController: { compilersFactory: lazyCompilers } }) as unknown as App;
let port: number;
/** Ends the credential of the newest export. */
let refuse: ((refusal: AppError) => void) | undefined;
let requests = 0;
const router = (...names: string[]) => ({ rules: names.map((name) => ({ ref: { id: name, name } })) });
const panels = new Map(
  ['p1', 'p2', 'p3'].map((id) => [id, { id, name: `"${id}"`, tags: id === 'p1' ? [] : ['noc'] }]),
);
const snapshot = { record: { timeZone: 'UTC' }, levels: new Map(), panels, router: router() };
const formerNames = vi.fn(async () => [{ id: 'deleted', name: 'deleted' }]);
const deletedLevels = vi.fn(async () => [{ name: 'deleted', rank: 5 }]);
beforeAll(async () => {
  const services = {
    history: { search: (_tenant: number, _query: unknown, options: CallOptions) => call(options) },
    statistics: {
      count: (_tenant: number, _query: unknown, _times: unknown, options: CallOptions) => call(options),
      values: (_tenant: number, wanted: CallOptions) => call(wanted),
    },
    tenancy: { get: async () => snapshot, current: async () => snapshot },
    directory: { rules: { formerNames }, levels: { deleted: deletedLevels } },
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
  const watch: Authenticator['watch'] = (_, onRefused) => {
    refuse = onRefused;
    return () => undefined;
  };
  historyRoutes(app, services, { watch } as Authenticator);
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

const word = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('"\\\n', '\u2028', '\ud800', '磁盘'));
const time = fc.nat({ max: 2_000_000 });
const given = fc.record({ at: time, by: word });
const record: fc.Arbitrary<HistoryRecord> = fc.record({
  kind: fc.constant('notification'),
  id: fc.uuid(),
  ...{ position: time, receivedAt: time, rank: time, ttl: time, throttleCount: time },
  ...{
    title: word,
    message: word,
    level: word,
    sentLevel: word,
    sourceIp: word,
    tokenId: word,
    tokenName: word,
  },
  ...{ ...mapOptionalTexts(() => fc.option(word)), labels: labelsTexts },
  ...{ sentTtl: fc.option(time), expiresAt: fc.option(time), throttledOn: fc.option(fc.uuid(), { freq: 1 }) },
  route: fc.record(
    {
      revision: time,
      rules: fc.array(fc.record({ id: word, name: word, more: time }), { maxLength: 2 }),
      muted: fc.boolean(),
      target: fc.record({
        all: fc.boolean(),
        ids: fc.subarray(['p1', 'gone\n']),
        tags: fc.subarray(['noc']),
      }),
      group: fc.subarray(['title', 'label:env'] as const, { minLength: 1 }),
    },
    { requiredKeys: ['revision', 'rules', 'muted', 'target'] },
  ),
  cleared: fc.option(
    fc.tuple(given, fc.constantFrom('cleared', 'replaced')).map(([by, reason]) => ({ ...by, reason })),
  ),
  alarm: fc.constant(null),
  acknowledged: fc.option(fc.tuple(given, fc.option(word)).map(([by, note]) => ({ ...by, note }))),
  receipts: fc.record({ shown: time, expired: time, cleared: time }),
});

test('a page is byte for byte what its schema makes of the records and of the panels that they reach now', async () => {
  const now = 1_000_000;
  const schema = serializerOf(HistoryPage);
  const property = fc.asyncProperty(fc.array(record, { maxLength: 4 }), async (records) => {
    answer = async () => {
      const lines = records.map((each) => recordForms.lines(each, now));
      return { records: lines, next: null, searchedTo: null, head: 9 };
    };
    const { headers, body } = await app.inject('/api/history');
    const views = records.map((each) => historyView(each, snapshot as unknown as TenantSnapshot, now));
    expect(body).toBe(schema({ notifications: views, nextCursor: null, searchedTo: null }));
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });
  await fc.assert(property);
  expect(calls[0]).toMatchObject({ form: 'lines' });
});

test('names of deleted rules and levels are read once while the others stay the same, and again when that read failed', async () => {
  answer = async () => ({ records: [], next: null, searchedTo: null, head: 0 });
  const find = async (q: string) => (await app.inject(`/api/history?q=${q}`)).statusCode;
  const search = (name: string) => find(`rule:${name}`);
  formerNames.mockRejectedValueOnce(unavailable('the disk refused a read'));
  expect(await search('deleted')).toBe(503);
  expect(await Promise.all(['deleted', 'deleted', 'unknown'].map(search))).toEqual([200, 200, 400]);
  expect(formerNames).toHaveBeenCalledTimes(2);
  snapshot.router = router('new');
  expect(await Promise.all(['new', 'deleted'].map(search))).toEqual([200, 200]);
  expect(formerNames).toHaveBeenCalledTimes(3);
  const byLevel = ['level:deleted', 'level:deleted', 'level:unknown'];
  expect(await Promise.all(byLevel.map(find))).toEqual([200, 200, 400]);
  expect(deletedLevels).toHaveBeenCalledTimes(1);
  snapshot.levels = new Map();
  expect(await find('level:deleted')).toBe(200);
  expect(deletedLevels).toHaveBeenCalledTimes(2);
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

test('an export whose credential ends before its first byte is answered with the refusal', async () => {
  answer = untilAborted;
  const response = fetch(`http://127.0.0.1:${port}/api/history/export`);
  await expect.poll(() => calls.length).toBe(1);
  refuse?.(forbidden());
  const { status, headers } = await response;
  expect([status, headers.get('content-disposition')]).toEqual([403, null]);
});

test.each(paths)('%s ends its work when its caller has gone', async (path) => {
  answer = untilAborted;
  const socket = await request(path);
  socket.destroy();
  await expect.poll(() => calls[0]?.signal?.aborted).toBe(true);
  await expect.poll(() => requests).toBe(0);
  expect(warnings).toEqual([]);
});

test('a caller that closed only its side gets the answer that the work was ended', async () => {
  answer = untilAborted;
  const socket = await request('/api/history');
  socket.end();
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 408 .*\{"error":"[^"]+"\}$/s);
});
