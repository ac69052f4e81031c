import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSecret } from '#core/people/secrets.ts';
import { IntakeDesk } from '../support/intake.ts';
import { limitMs } from '../support/patience.ts';
import type { SseReader } from '../support/sse-client.ts';

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off' });
});
afterAll(() => desk.close());

const idOf = (text: string) => parseSecret(text)?.id as string;
const send = async (token: string) => (await desk.server.notify(token, { title: 'T', message: 'M' })).status;
const list = async (key: string) => (await desk.server.call('GET', '/api/levels', { token: key })).status;

/** As another process does it: written to the database, and this server is told nothing. */
async function revokeElsewhere(text: string): Promise<void> {
  const kind = text.startsWith('bfk') ? 'key' : 'token';
  const tenant = await desk.server.tenant();
  await desk.server.running.directory.credentials.revoke(tenant, kind, idOf(text), 'cli', Date.now());
}

/** Asks until the answer is 401, and gives how long that took. */
async function refusedAfter(ask: () => Promise<number>): Promise<number> {
  const began = performance.now();
  while ((await ask()) !== 401) if (performance.now() - began > limitMs(2_000)) break;
  return performance.now() - began;
}

async function endedAfter(...streams: SseReader[]): Promise<number> {
  const began = performance.now();
  await Promise.all(streams.map(({ ended }) => ended));
  return performance.now() - began;
}

describe('a token revoked by another process', () => {
  it('gets 401 within a second', async () => {
    const token = await desk.server.token();
    expect(await send(token)).toBe(200);
    await revokeElsewhere(token);
    expect(await refusedAfter(() => send(token))).toBeLessThan(limitMs(1_000));
    expect(await send(token)).toBe(401);
  });

  it('that is a key gets 401 within a second', async () => {
    const key = await desk.server.key();
    expect(await list(key)).toBe(200);
    await revokeElsewhere(key);
    expect(await refusedAfter(() => list(key))).toBeLessThan(limitMs(1_000));
  });

  it('has its open streams closed within two seconds, and no other’s', async () => {
    const [token, other, key] = [
      await desk.server.token(),
      await desk.server.token(),
      await desk.server.key(),
    ];
    const first = await desk.server.panel(token, 'lobby');
    const second = await desk.server.panel(token, 'hall');
    const kept = await desk.server.panel(other, 'lobby');
    const tail = await desk.server.stream('/api/history/stream', key);
    await tail.next(({ event }) => event === 'ready');
    await Promise.all([revokeElsewhere(token), revokeElsewhere(key)]);
    expect(await endedAfter(first.stream, second.stream, tail)).toBeLessThan(limitMs(2_000));
    const { json } = await desk.post({ json: { title: 'T', message: 'M' } });
    await kept.stream.next(({ data }) => data.id === json.id);
    kept.stream.close();
  });
});

describe('a token revoked through the API', () => {
  it('gets 401 at once', async () => {
    const { json } = await desk.server.call('POST', '/api/tokens', {
      token: desk.key,
      json: { name: 'short' },
    });
    expect(await send(json.token)).toBe(200);
    expect((await desk.server.call('DELETE', `/api/tokens/${json.id}`, { token: desk.key })).status).toBe(
      204,
    );
    expect(await send(json.token)).toBe(401);
  });

  it('among 50 requests in flight lets none in that came after the answer', async () => {
    const token = await desk.server.token();
    await send(token);
    const racing = Array.from({ length: 50 }, () => send(token));
    await desk.server.call('DELETE', `/api/tokens/${idOf(token)}`, { token: desk.key });
    const after = await Promise.all(Array.from({ length: 50 }, () => send(token)));
    expect(new Set(after)).toEqual(new Set([401]));
    for (const status of await Promise.all(racing)) expect([200, 401]).toContain(status);
  });

  it('has its open streams closed within two seconds', async () => {
    const token = await desk.server.token();
    const { stream } = await desk.server.panel(token, 'stairs');
    await desk.server.call('DELETE', `/api/tokens/${idOf(token)}`, { token: desk.key });
    expect(await endedAfter(stream)).toBeLessThan(limitMs(2_000));
  });

  it('cannot resume its stream', async () => {
    const token = await desk.server.token();
    const { id, stream } = await desk.server.panel(token, 'cellar');
    const cursor = stream.messages.at(-1)?.id;
    stream.close();
    await desk.server.call('DELETE', `/api/tokens/${idOf(token)}`, { token: desk.key });
    const again = await desk.server.stream(`/api/panels/${id}/events`, token, cursor);
    expect(again.response.status).toBe(401);
    again.close();
  });
});

describe('a token whose expiry passes', () => {
  it('gets 401 from that moment on, and its stream is closed within two seconds', async () => {
    const token = await desk.server.token();
    expect(await send(token)).toBe(200);
    const { stream } = await desk.server.panel(token, 'roof');
    // The server must get this change before then, however slow the machine is.
    const expiresAt = Date.now() + 5_000;
    const json = { expiresAt: new Date(expiresAt).toISOString() };
    const path = `/api/tokens/${idOf(token)}`;
    expect((await desk.server.call('PATCH', path, { token: desk.key, json })).status).toBe(200);
    await refusedAfter(() => send(token));
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt);
    expect(Date.now()).toBeLessThan(expiresAt + limitMs(500));
    expect(await endedAfter(stream)).toBeLessThan(limitMs(2_000));
  });

  it('that has passed already is a 401', async () => {
    expect(await send(await desk.server.token({ expiresAt: Date.now() - 1 }))).toBe(401);
  });
});

describe('a token made by another process', () => {
  it('works at once, even if it was tried before it was there', async () => {
    const before = await desk.server.token();
    const after = await desk.server.token();
    expect([await send(before), await send(after)]).toEqual([200, 200]);
  });
});

describe('a token that loses what its stream needs', () => {
  it.each([
    ['the panel scope', { scopes: ['notify'] }],
    ['its address', { allowFrom: ['10.0.0.0/8'] }],
  ] as const)('%s: has its open streams closed within two seconds', async (_, patch) => {
    const token = await desk.server.token();
    const { stream } = await desk.server.panel(token, 'foyer');
    const tenant = await desk.server.tenant();
    await desk.server.running.directory.credentials.update(tenant, 'token', idOf(token), patch, 'cli', 1);
    expect(await endedAfter(stream)).toBeLessThan(limitMs(2_000));
  });
});
