import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let token: string;
let key: string;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_RATE_TENANT: 'off' });
  [token, key] = [await server.token(), await server.key('admin')];
});
afterAll(() => server.stop());

const sendCommand = (id: string, command: string, as = key) =>
  server.call('POST', `/api/panels/${id}/${command}`, { token: as });

describe('a command', () => {
  test.each([
    ['identify', { durationMs: 5_000 }],
    ['reload', {}],
    ['test', { durationMs: 20_000 }],
  ])('%s is sent to every screen of that panel, and to no other', async (command, data) => {
    const [one, other] = [await server.panel(token, `one ${command}`), await server.panel(token, 'other')];
    const twin = await server.panel(token, `one ${command}`);
    expect(await sendCommand(one.id, command)).toMatchObject({
      status: 200,
      json: { ok: true, reached: true },
    });
    for (const { stream } of [one, twin]) {
      const received = await stream.next(({ event }) => event === command);
      // No id: it is no entry of the log, and does not come again.
      expect([received.data, received.id]).toEqual([data, undefined]);
    }
    await server.notify(token, { title: 'after it', message: 'm' });
    await other.stream.next(({ event }) => event === 'notification');
    expect(other.stream.messages.map(({ event }) => event)).not.toContain(command);
    for (const { stream } of [one, twin, other]) stream.close();
  });

  test('to a panel that is not connected reaches none, and is not sent later', async () => {
    const { json } = await server.call('POST', '/api/panels', { token, json: { name: 'dark' } });
    expect((await sendCommand(json.id, 'identify')).json).toEqual({ ok: true, reached: false });
    const { stream } = await server.panel(token, 'dark');
    await stream.next(({ event }) => event === 'heartbeat');
    expect(stream.messages.map(({ event }) => event)).not.toContain('identify');
    stream.close();
  });

  test('may be given by members, not by viewers and not by tokens', async () => {
    const { id, stream } = await server.panel(token, 'guarded');
    expect((await sendCommand(id, 'test', await server.key('viewer'))).status).toBe(403);
    expect((await sendCommand(id, 'test', token)).status).toBe(403);
    expect((await sendCommand(id, 'test', await server.key('member', 'other'))).status).toBe(404);
    expect((await sendCommand(id, 'test', await server.key('member'))).status).toBe(200);
    stream.close();
  });
});

describe('what a panel is showing', () => {
  const showing = async (id: string, as = key) =>
    (await server.call('GET', `/api/panels/${id}/showing`, { token: as })).json;

  test('is what is routed to it and live, the highest first, then the newest, with what a throttle counted', async () => {
    const tenant = 'shown';
    const [sender, owner] = [await server.token({ tenant }), await server.key('admin', tenant)];
    const register = async (name: string, tags: string[]) =>
      (await server.call('POST', '/api/panels', { token: sender, json: { name, tags } })).json.id as string;
    const [noc, floor] = [await register('noc', ['noc']), await register('floor', [])];
    const rule = {
      name: 'db to the noc',
      when: { host: ['db-*'] },
      then: { panels: { tags: ['noc'] }, throttle: { by: ['host'], perMs: 60_000 } },
    };
    await server.call('POST', '/api/rules', { token: owner, json: rule });
    for (const [title, level, host] of [
      ['old error', 'error', null],
      ['critical', 'critical', 'db-01'],
      ['counted', 'critical', 'db-01'],
      ['new error', 'error', null],
      ['warning', 'warning', null],
    ] as const) {
      await server.notify(sender, { title, message: 'm', level, host, ttl: 0 });
    }
    const titles = async (id: string) =>
      (await showing(id, owner)).notifications.map((each: { title: string }) => each.title);
    expect(await titles(noc)).toEqual(['critical', 'new error', 'old error', 'warning']);
    expect((await showing(noc, owner)).notifications[0]).toMatchObject({ count: 1, level: 'critical' });
    expect(await titles(floor)).toEqual(['new error', 'old error', 'warning']);
    await server.call('PATCH', `/api/panels/${floor}`, {
      token: owner,
      json: { display: { minLevel: 'error' } },
    });
    expect(await titles(floor)).toEqual(['new error', 'old error']);
    expect((await server.call('GET', `/api/panels/${noc}/showing`, { token: key })).status).toBe(404);
  });

  test('is fifty at most, and how many more there are', async () => {
    const sender = await server.token({ tenant: 'many' });
    for (let i = 0; i < 53; i++) await server.notify(sender, { title: 't', message: 'm', ttl: 0 });
    const { json } = await server.call('POST', '/api/panels', { token: sender, json: { name: 'full' } });
    const { notifications, more } = await showing(json.id, await server.key('viewer', 'many'));
    expect([notifications.length, more]).toEqual([50, 3]);
  });
});
