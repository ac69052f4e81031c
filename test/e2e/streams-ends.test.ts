import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseSecret } from '#core/people/secrets.ts';
import { limitMs } from '../support/patience.ts';
import { TestServer } from '../support/server.ts';
import type { SseReader } from '../support/sse-client.ts';

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_TENANT: 'off' });
  key = await server.key('admin');
});
afterAll(() => server.stop());

const idOf = (secret: string) => parseSecret(secret)?.id as string;
/** How long a stream takes to end. */
async function settlesWithin(stream: SseReader, ms: number): Promise<number> {
  const began = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`still open after ${ms} ms`)), ms);
  });
  await Promise.race([stream.ended, late]).finally(() => clearTimeout(timer));
  return performance.now() - began;
}
const revokedMs = limitMs(2_000);

test('a token that is revoked is refused at once, and its streams end within 2 s; those of others go on', async () => {
  const [token, other] = [await server.token({ scopes: ['panel', 'notify'] }), await server.token()];
  const [{ id, stream }, kept] = [await server.panel(token, 'Revoked'), await server.panel(other, 'Kept')];
  expect((await server.call('DELETE', `/api/tokens/${idOf(token)}`, { token: key })).status).toBe(204);
  expect((await server.call('GET', `/api/panels/${id}`, { token })).status).toBe(401);
  await settlesWithin(stream, revokedMs);
  const cursor = stream.messages.findLast(({ id: each }) => each !== undefined)?.id;
  expect(
    (
      await server.call('GET', `/api/panels/${id}/events`, {
        token,
        headers: { 'last-event-id': cursor as string },
      })
    ).status,
  ).toBe(401);
  const sent = (await server.notify(other, { title: 't', message: 'm' })).json.id;
  await kept.stream.next(({ data }) => data.id === sent);
  expect(stream.messages.some(({ data }) => data.id === sent)).toBe(false);
  kept.stream.close();
});

test('a token that another process revoked in the database is refused, and its streams end, within 2 s', async () => {
  const token = await server.token();
  const { stream } = await server.panel(token, 'Elsewhere');
  await server.running.directory.credentials.revoke(
    await server.tenant(),
    'token',
    idOf(token),
    'cli',
    Date.now(),
  );
  await settlesWithin(stream, revokedMs);
  expect((await server.call('GET', '/api/panels', { token })).status).toBe(401);
});

test('the streams of a key end with it, those of history too', async () => {
  const viewer = await server.key('viewer');
  const { id, stream: bystander } = await server.panel(await server.token(), 'Viewed');
  const streams = [
    await server.stream(`/api/panels/${id}/events`, viewer),
    await server.stream('/api/history/stream', viewer),
  ];
  for (const stream of streams) await stream.next(({ event }) => event === 'ready');
  expect((await server.call('DELETE', `/api/keys/${idOf(viewer)}`, { token: key })).status).toBe(204);
  await Promise.all(streams.map((stream) => settlesWithin(stream, revokedMs)));
  bystander.close();
});

test('a stream ends when its token expires', async () => {
  const token = await server.token({ expiresAt: Date.now() + 4_000 });
  const { stream } = await server.panel(token, 'Expires');
  await settlesWithin(stream, 4_000 + revokedMs);
  expect((await server.call('GET', '/api/panels', { token })).status).toBe(401);
});

test('a token that loses the panel scope, or may no longer come from here, loses its stream', async () => {
  const narrowed = { scopes: ['notify'] };
  const moved = { allowFrom: ['203.0.113.0/24'] };
  const lost = [narrowed, moved].map(async (json, i) => {
    const token = await server.token();
    const { stream } = await server.panel(token, `Loses ${i}`);
    const answer = await server.call('PATCH', `/api/tokens/${idOf(token)}`, { token: key, json });
    expect(answer.status).toBe(200);
    await settlesWithin(stream, revokedMs);
    return (await server.call('GET', '/api/panels', { token })).status;
  });
  expect(await Promise.all(lost)).toEqual([403, 401]);
});

test('streams that end under a flood of notifications take nothing with them', async () => {
  const token = await server.token();
  const kept = await server.panel(token, 'Bystander');
  const doomed = await Promise.all(Array.from({ length: 20 }, (_, i) => server.panel(token, `Doomed ${i}`)));
  let sent = 0;
  let stop = false;
  const flood = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!stop)
        if ((await server.notify(token, { title: 'flood', message: 'm'.repeat(2_000) })).status === 200)
          sent += 1;
    }),
  );
  for (const { id } of doomed) await server.call('DELETE', `/api/panels/${id}`, { token: key });
  await Promise.all(doomed.map(({ stream }) => settlesWithin(stream, revokedMs)));
  stop = true;
  await flood;
  const last = (await server.notify(token, { title: 'flood', message: 'last' })).json.id;
  await kept.stream.next(({ data }) => data.id === last);
  expect(kept.stream.messages.filter(({ data }) => data.title === 'flood')).toHaveLength(sent + 1);
  kept.stream.close();
});

test('a panel that is deleted while its stream begins has no stream afterwards', async () => {
  const token = await server.token();
  for (let i = 0; i < 25; i++) {
    const { json: panel } = await server.call('POST', '/api/panels', { token, json: { name: `Brief ${i}` } });
    const [stream] = await Promise.all([
      server.stream(panel.events, token),
      server.call('DELETE', `/api/panels/${panel.id}`, { token: key }),
    ]);
    expect([200, 404]).toContain(stream.response.status);
    await settlesWithin(stream, revokedMs);
  }
});

test("a server that stops says goodbye, with a time to come back that is each panel's own, and panels resume where they were", async () => {
  let own = await TestServer.start();
  const token = await own.token();
  const walls = await Promise.all(Array.from({ length: 10 }, (_, i) => own.panel(token, `Wall ${i}`)));
  const send = async () => (await own.notify(token, { title: 't', message: 'm', level: 'error' })).json.id;
  const first = await send();
  for (const { stream } of walls) await stream.next(({ data }) => data.id === first);
  const stopping = own.stop({ keep: true });
  const byes = await Promise.all(walls.map(({ stream }) => stream.next(({ event }) => event === 'bye')));
  await Promise.all(walls.map(({ stream }) => stream.ended));
  await stopping;
  for (const { stream } of walls) expect(stream.messages.at(-1)?.event).toBe('bye');
  const waits: number[] = byes.map(({ data }) => data.reconnectMs);
  for (const wait of waits) expect(wait).toBeGreaterThan(0);
  expect(new Set(waits).size).toBeGreaterThan(1);
  own = await TestServer.start({}, own.folder);
  const second = await send();
  for (const { id, stream } of walls) {
    const cursor = stream.messages.findLast(({ id: each }) => each !== undefined)?.id as string;
    const resumed = await own.stream(`/api/panels/${id}/events`, token, cursor);
    await resumed.next(({ data }) => data.id === second);
    expect(resumed.messages[0]?.data.resume).toBe('replayed');
    expect(
      resumed.messages.filter(({ event }) => event === 'notification').map(({ data }) => data.id),
    ).toEqual([second]);
    resumed.close();
  }
  await own.stop();
});
