import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '#test/support/eventually.ts';
import { appHeaders, subscribe } from '#test/support/ntfy-client.ts';
import { TestServer } from '#test/support/server.ts';
import { RawStream } from './streams-raw-client.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

/** 8 MiB of messages: more than the system buffers. */
const many = 2_000;
const message = 'x'.repeat(4_000);
const handshake = [
  ...['upgrade: websocket', 'connection: upgrade', 'sec-websocket-version: 13'],
  'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
];
const titles = (text: string) => [...text.matchAll(/"title":"(\d+)"/g)].map(([, title]) => Number(title));

test('phones that do not read delay nobody, hold one chunk, and get all of it when they do', async () => {
  const { tenant, send } = await server.newTenant();
  const phone = await server.token({ tenant, scopes: ['panel'] });
  const begun = '"event":"open"';
  const stalled = [
    await RawStream.open(server.url, '/ntfy/a/json', phone, begun),
    await RawStream.open(server.url, '/ntfy/b/ws', phone, begun, handshake),
    await RawStream.open(server.url, '/gotify/stream', phone, 'Sec-WebSocket-Accept', handshake),
  ];
  const reader = await subscribe(`${server.url}/ntfy/c/json`, appHeaders(phone));
  for (let i = 0; i < many - 1; i += 20) {
    const some = Array.from({ length: Math.min(20, many - 1 - i) }, (_, j) => i + j);
    await Promise.all(some.map((title) => send({ title: String(title), message })));
  }
  await send({ title: String(many - 1), message });
  await reader.next(({ title }) => title === String(many - 1));
  const all = titles(reader.text());
  expect(all.toSorted((a, b) => a - b)).toEqual(Array.from({ length: many }, (_, i) => i));
  reader.close();
  await eventually(() => {
    for (const stream of stalled) expect(stream.bytesHeldByServer).toBeGreaterThan(0);
  });
  for (const stream of stalled) expect(stream.bytesHeldByServer).toBeLessThan(100_000);
  for (const stream of stalled) {
    await stream.until(`"title":"${many - 1}"`);
    expect(titles(stream.text)).toEqual(all);
    stream.close();
  }
});
