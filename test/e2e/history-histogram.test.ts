import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';
import { append, seededFolder } from './history-seed.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** Long enough ago that nothing else is there, at an odd second. */
const first = Date.UTC(2026, 5, 1, 10, 0, 30);
const count = 2_000;

let server: TestServer;
let key: string;
beforeAll(async () => {
  const folder = await seededFolder((history, tenant) =>
    append(history, tenant, count, (i) => ({
      receivedAt: first + (i - 1) * minuteMs,
      level: i % 10 === 0 ? 'error' : 'info',
      host: i % 4 === 0 ? 'db-01' : null,
      title: i % 5 === 0 ? 'Disk full' : 'All well',
    })),
  );
  server = await TestServer.start({ BELFRY_RETENTION_DAYS: 'off', BELFRY_RETENTION_COUNT: 'off' }, folder);
  key = await server.key('viewer');
});
afterAll(async () => {
  await server.stop();
  rmSync(server.folder, { recursive: true, force: true });
});

const ask = (query: Record<string, string>) =>
  server.call('GET', `/api/history/histogram?${new URLSearchParams(query)}`, { token: key });
/** Asks again while the count is partial: on a busy machine even a small one can run out of its time. */
const askForWhole = (query: Record<string, string>) =>
  eventually(async () => {
    const answer = await ask(query);
    expect(answer.json.searchedTo).toBeNull();
    return answer;
  });
const iso = (at: number) => new Date(at).toISOString();
const day = { after: iso(first - 30_000), before: iso(first - 30_000 + 24 * hourMs) };

test('a day in 24 buckets is one an hour, none left out, by level', async () => {
  const { json } = await askForWhole({ ...day, buckets: '24' });
  expect(json).toMatchObject({ bucketMs: hourMs, total: 1440 });
  expect(json.buckets).toHaveLength(24);
  expect(json.buckets[0]).toEqual({ at: '2026-06-01T10:00:00.000Z', counts: { info: 54, error: 6 } });
  expect(json.buckets[23].at).toBe('2026-06-02T09:00:00.000Z');
});

test.each([
  ['', 1440],
  ['level:error', 144],
  ['level:>=error', 144],
  ['-level:error', 1296],
  ['host:db-*', 360],
  ['disk', 288],
  ['dis*', 288],
  ['host:db-01 disk', 72],
  ['is:live', 1440],
  ['is:cleared', 0],
  ['is:unseen host:db-01', 360],
  ['disk OR host:db-01', 288 + 360 - 72],
])('%s is counted as it is found', async (q, total) => {
  const { status, json } = await askForWhole({ ...day, q });
  expect([status, json.total]).toEqual([200, total]);
});

test('only what lies within the times counts, to the millisecond, whatever the buckets', async () => {
  for (const [after, before, total] of [
    [first, first + 1, 1],
    [first + 1, first + minuteMs, 0],
    [first + 1, first + minuteMs + 1, 1],
    [first, first + 100 * minuteMs + 1, 101],
  ] as const) {
    for (const buckets of ['1', '7', '200']) {
      const { json } = await ask({ after: iso(after), before: iso(before), buckets });
      expect([after, buckets, json.total]).toEqual([after, buckets, total]);
      expect(json.buckets.length).toBeLessThanOrEqual(Number(buckets));
    }
  }
});

test('without times it is those of the query', async () => {
  const { json } = await ask({ q: 'after:2026-06-01T10:00Z before:2026-06-01T11:00Z' });
  expect(json).toMatchObject({ bucketMs: minuteMs, total: 60 });
  expect(json.buckets).toHaveLength(60);
});

test('without any times it is the last 24 hours, up to this moment', async () => {
  await server.notify(await server.token(), { title: 'now', message: 'm', level: 'warning' });
  const { json } = await ask({ q: 'now' });
  expect(json.total).toBe(1);
  expect(json.buckets.at(-1).counts).toEqual({ warning: 1 });
  expect(json.bucketMs).toBe(hourMs / 2);
});

describe('is refused with what would be right', () => {
  test.each([
    [{ buckets: '0' }, 'buckets must be a whole number from 1 to 200'],
    [{ buckets: '201' }, 'buckets must be a whole number from 1 to 200'],
    [{ buckets: 'many' }, 'buckets must be a whole number from 1 to 200'],
    [{ after: 'yesterday' }, 'after must be a time, as in 2026-'],
    [{ after: '2026-06-30T23:59:60Z' }, 'after must be a time that exists'],
    [{ after: '2026-06-02T00:00:00Z', before: '2026-06-01T00:00:00Z' }, 'after must be earlier than before'],
    [{ q: 'levl:error' }, 'level'],
  ])('%j', async (query, message) => {
    const { status, json } = await ask(query);
    expect(status).toBe(400);
    expect(json.error).toContain(message);
  });
});
