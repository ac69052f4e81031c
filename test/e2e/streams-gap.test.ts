import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseCursor } from '#contract/panels/sse.ts';
import { TestServer } from '../support/server.ts';
import type { SseReader } from '../support/sse-client.ts';
import { append, seededFolder } from './history-seed.ts';

/** Positions up to here were pruned; those up to the middle have expired; the last three are shown. */
const pruned = 100;
const total = 10_200;
let server: TestServer;
let token: string;
beforeAll(async () => {
  const now = Date.now();
  const folder = await seededFolder(async (history, tenant) => {
    await append(history, tenant, total - 3, () => ({
      ttl: 1,
      expiresAt: now - 1,
      receivedAt: now - 60_000,
    }));
    await append(history, tenant, 3);
    while ((await history.prune(tenant, { olderThan: null, keep: total - pruned }, now)) > 0);
  });
  server = await TestServer.start({}, folder);
  token = await server.token();
});
afterAll(() => server.stop());

async function open(position: number): Promise<SseReader> {
  const { json: panel } = await server.call('POST', '/api/panels', { token, json: { name: 'P' } });
  const { epoch } = await server.running.directory.changedSince(0);
  return server.stream(panel.events, token, `${epoch}-${position}`);
}
const linesOf = ({ messages }: SseReader) =>
  messages.map(({ event, data }) => `${event} ${data.resume ?? data.position ?? data.head}`);

test.each([
  ['before what retention kept', 99],
  ['of 0, when the log no longer begins at 1', 0],
  ['more than 10,000 entries behind', total - 10_001],
])('a cursor %s is a gap: what is shown is to be dropped, and the live set follows', async (_, position) => {
  const stream = await open(position);
  await stream.next(({ event }) => event === 'heartbeat');
  expect(linesOf(stream)).toEqual([
    'ready gap',
    `notification ${total - 2}`,
    `notification ${total - 1}`,
    `notification ${total}`,
    `heartbeat ${total}`,
  ]);
  expect(parseCursor(stream.messages.at(-1)?.id as string)?.position).toBe(total);
  stream.close();
});

test('a cursor of 10,000 entries behind is replayed, without what has expired', async () => {
  const stream = await open(total - 10_000);
  await stream.next(({ data }) => data.position === total);
  expect(linesOf(stream)).toEqual([
    'ready replayed',
    `notification ${total - 2}`,
    `notification ${total - 1}`,
    `notification ${total}`,
  ]);
  stream.close();
});
