import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { RawConnection, rawRequest } from '../support/raw-http.ts';
import { type Answer, TestServer } from '../support/server.ts';

let server: TestServer;
let admin: string;
let token: string;
let lobby: string;
beforeAll(async () => {
  server = await TestServer.start();
  admin = await server.key('admin');
  token = await server.token({ name: 'ci' });
  lobby = (await server.call('POST', '/api/panels', { token, json: { name: 'Lobby', tags: ['noc'] } })).json
    .id;
  await rule({
    name: 'db to the NOC',
    when: { host: ['db-*'] },
    then: { panels: { tags: ['noc'] }, setTtl: 5_000 },
  });
  await rule({ name: 'rest nowhere', when: {}, then: { panels: 'none' } });
});
afterAll(() => server.stop());

const rule = (json: object) => server.call('POST', '/api/rules', { token: admin, json });
const explain = (json: unknown, key = admin) =>
  server.call('POST', '/api/rules/explain', { token: key, json });
const replay = (json: unknown, key = admin) => server.call('POST', '/api/rules/replay', { token: key, json });

describe('explain', () => {
  test('runs twice at a time in a tenant, whoever asks; a third gets 429 and Retry-After', async () => {
    const viewer = await server.key('viewer', 'drafts');
    const elsewhere = await server.key('viewer', 'drafts-elsewhere');
    const rules = Array.from({ length: 4_000 }, (_, i) => ({
      name: `draft ${i}`,
      when: { host: [`web-${i}*`], message: { regex: `^disk${i}.*full$` } },
      then: { mute: true },
    }));
    const notification = { title: 'disk', host: 'db-01' };
    const ask = (key: string, more: object = {}) => explain({ notification, ...more }, key);
    const [storm, other] = await Promise.all([
      Promise.all([...Array.from({ length: 7 }, () => ask(viewer, { rules })), ask(viewer)]),
      ask(elsewhere, { rules }),
    ]);
    const refused = storm.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length).toBeLessThanOrEqual(6);
    for (const { status, headers, json } of refused)
      expect([status, headers.get('retry-after'), json]).toEqual([
        429,
        '1',
        { error: 'this tenant has 2 explains running, the most at once: try again when one has ended' },
      ]);
    expect(other.status).toBe(200);
    expect((await ask(viewer, { rules })).status).toBe(200);
    // What is refused for a reason of its own leaves room too.
    for (let i = 0; i < 4; i++)
      expect((await ask(viewer, { rules: [{ name: 'x', then: {} }] })).status).toBe(400);
  });

  test('by a draft ends when its caller goes away, who may ask anew at once', async () => {
    const viewer = await server.key('viewer', 'left');
    const elsewhere = await server.key('viewer', 'left-elsewhere');
    const draftOf = (count: number, word: string) =>
      Array.from({ length: count }, (_, i) => ({
        name: `draft ${i}`,
        when: { message: { regex: `^${word}${i}.*full$` } },
        then: { mute: true },
      }));
    const leaving = new AbortController();
    const leave = async (word: string) => {
      const body = JSON.stringify({ notification: {}, rules: draftOf(4_000, word) });
      const headers = { authorization: `Bearer ${viewer}`, 'content-type': 'application/json' };
      const init = { method: 'POST', signal: leaving.signal, headers, body };
      // Refused while the question below has the place.
      while ((await fetch(`${server.url}/api/rules/explain`, init)).status === 429);
    };
    const left = Promise.allSettled(['disk', 'load'].map(leave));
    const short = async () => (await explain({ notification: {}, rules: [] }, viewer)).status;
    await expect.poll(short, { timeout: 20_000, interval: 1 }).toBe(429);
    const ended: string[] = [];
    // Half as long, and begun later: it would end before those that were left.
    const other = explain({ notification: {}, rules: draftOf(2_000, 'heat') }, elsewhere);
    const otherEnds = other.finally(() => ended.push('other'));
    leaving.abort();
    expect(await left).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    await expect.poll(short, { timeout: 20_000, interval: 1 }).toBe(200);
    ended.push('free again');
    expect((await otherEnds).status).toBe(200);
    expect(ended).toEqual(['free again', 'other']);
  });

  test('tells of a typed notification what each rule had to do with it, and which panels it reaches', async () => {
    const { json, status } = await explain({
      notification: { title: 'disk', host: 'db-01', level: 'Warning' },
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      level: 'warning',
      ttl: 5_000,
      muted: false,
      throttled: false,
      target: { all: false, ids: [], tags: ['noc'] },
      panels: [{ id: lobby, name: 'Lobby' }],
      panelCount: 1,
      rulesOmitted: 0,
    });
    expect(json.rules.map(({ name, outcome }: { name: string; outcome: string }) => [name, outcome])).toEqual(
      [
        ['db to the NOC', 'matched'],
        ['rest nowhere', 'not-tried'],
      ],
    );
  });

  test('names the condition that failed', async () => {
    const { json } = await explain({ notification: { title: 'disk', host: 'web-01' } });
    expect(json.rules[0]).toMatchObject({ outcome: 'failed', condition: 'host' });
    expect(json).toMatchObject({ panels: [], panelCount: 0 });
  });

  test.each<[object, string]>([
    [{ title: 'x'.repeat(251) }, 'notification.title must have at most 250 characters, not 251'],
    [{ host: 'db 01' }, 'notification.host must have 1 to 253 characters, without white space or control'],
    [{ ip: 'x' }, 'notification.ip must be an IPv4 or IPv6 address'],
    [{ url: 'ftp://x' }, 'notification.url must be an absolute http or https link'],
    [{ level: 'no level' }, 'notification.level must be 1 to 32 of a-z'],
    [{ title: 5 }, 'notification.title must be a string or null'],
    [{ ttl: '5' }, 'notification.ttl must be a whole number or null'],
    [{ token: 5 }, 'notification.token must be a string'],
  ])('refuses %j as /api/notify would, and names the field', async (notification, error) => {
    const answer = await explain({ notification });
    expect([answer.status, answer.json.error]).toEqual([400, expect.stringContaining(error)]);
    expect(answer.headers.get('belfry-error')).toBe(
      `bad-request; pointer="/notification/${Object.keys(notification)[0]}"`,
    );
  });

  test('takes what /api/notify takes, and a recorded notification as it is read from history', async () => {
    const sent = { title: ' disk ', message: 'full', url: 'https://a/', key: 'k', unknown: 1, host: null };
    const typed = await explain({ notification: { ...sent, expectEvery: '5m', expectLevel: 'error' } });
    expect([typed.status, typed.json.error]).toEqual([200, undefined]);
    const { json: stored } = await server.notify(token, { title: 'disk', message: 'full', host: 'db-01' });
    const path = `/api/notifications/${stored.id}`;
    const { json: recorded } = await server.call('GET', path, { token: admin });
    const rules = [{ name: 'by token', when: { token: ['ci'], host: ['db-01'] }, then: { mute: true } }];
    const { status, json } = await explain({ notification: recorded, rules });
    expect([status, json.muted]).toEqual([200, true]);
  });

  test('asks a draft instead, held to what saving it would be held to', async () => {
    const draft = { name: 'by token', when: { token: ['ci'] }, then: { mute: true } };
    const { json } = await explain({ notification: { token: token.split('_')[1] }, rules: [draft] });
    expect(json).toMatchObject({ muted: true, rules: [{ name: 'by token', outcome: 'matched' }] });
    const bad = await explain({
      notification: {},
      rules: [{ name: 'bad', when: { ip: ['nonsense'] }, then: { mute: true } }],
    });
    expect(bad.status).toBe(400);
    expect(bad.json.error).toContain('rule "bad"');
    expect((await explain({ notification: {}, rules: [] })).json).toMatchObject({
      target: { all: true },
      rules: [],
    });
  });

  test('judges windows by the time it is asked for', async () => {
    const windows = [{ days: ['mon'], from: '08:00', until: '09:00' }];
    const rules = [{ name: 'monday', then: { mute: true }, windows, timeZone: 'UTC' }];
    const at = async (time: string) => (await explain({ notification: {}, rules, at: time })).json.muted;
    expect(await at('2026-11-02T08:30:00Z')).toBe(true);
    expect(await at('2026-11-03T08:30:00Z')).toBe(false);
  });

  test('tells of a recorded notification, which must be the tenant’s own', async () => {
    const { json: sent } = await server.notify(token, {
      title: 'recorded',
      message: 'm',
      host: 'db-02',
      level: 'error',
    });
    const { json } = await explain({ notification: sent.id });
    expect(json).toMatchObject({
      level: 'error',
      ttl: 5_000,
      panelCount: 1,
      rules: [{ outcome: 'matched' }, { outcome: 'not-tried' }],
    });
    expect((await explain({ notification: sent.id }, await server.key('owner', 'other'))).status).toBe(404);
    expect((await explain({ notification: '0192f000-0000-7000-8000-000000000000' })).status).toBe(404);
  });

  test.each([
    [{ notification: { ip: '999.1.1.1' } }, 'notification.ip'],
    [{ notification: { sourceIp: 'here' } }, 'notification.sourceIp'],
    [{}, 'notification'],
    [{ notification: {}, at: 'yesterday' }, 'at'],
  ])('%j is refused', async (body, word) => {
    const { status, json } = await explain(body);
    expect(status).toBe(400);
    expect(json.error).toContain(word);
  });
});

describe('replay', () => {
  test('tells what a draft would have changed in history', async () => {
    const { sent, key } = await tenantWithHistory('replayed', 30);
    const rules = [{ name: 'no disks', when: { title: { contains: 'disk' } }, then: { mute: true } }];
    const { status, json } = await replay({ rules }, key);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      considered: 30,
      changed: 15,
      shownBefore: 30,
      shownAfter: 15,
      complete: true,
    });
    expect(json.examples).toHaveLength(15);
    expect(json.examples[0]).toMatchObject({
      id: sent.findLast(({ title }) => title.startsWith('disk'))?.id,
      before: { muted: false, rules: [] },
      after: { muted: true, rules: ['no disks'] },
    });
    expect((await replay({ rules: [] }, key)).json).toMatchObject({ considered: 30, changed: 0 });
    expect((await replay({ rules, days: 0.000_000_01 }, key)).json).toMatchObject({
      considered: 0,
      complete: true,
    });
  });

  test('runs once at a time in a tenant; a bad draft and a viewer are refused', async () => {
    const { key } = await tenantWithHistory('busy', 1);
    const { credentials } = server.running.directory;
    const list = credentials.list.bind(credentials);
    const { promise: mayContinue, resolve: proceed } = Promise.withResolvers<void>();
    const held = vi
      .spyOn(credentials, 'list')
      .mockImplementation((...of) => mayContinue.then(() => list(...of)));
    const answers: Answer[] = [];
    const replays = [1, 2, 3].map(async () => answers.push(await replay({ rules: [] }, key)));
    await eventually(() => expect(answers).toHaveLength(2));
    proceed();
    held.mockRestore();
    await Promise.all(replays);
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 200]);
    expect(answers.find(({ status }) => status === 429)?.headers.get('retry-after')).toBe('5');
    expect((await replay({ rules: [] }, key)).status).toBe(200);
    expect((await replay({ rules: [{ name: 'x', then: {} }] }, key)).status).toBe(400);
    expect((await replay({ rules: [] }, key)).status).toBe(200);
    expect((await replay({ rules: [] }, await server.key('member', 'busy'))).status).toBe(403);
  });

  test('has room again after a caller who left while the credential was looked up', async () => {
    const key = await server.key('admin', 'left-early');
    const { credentials } = server.running.directory;
    const find = credentials.find.bind(credentials);
    const { promise: mayContinue, resolve: proceed } = Promise.withResolvers<void>();
    const held = vi.spyOn(credentials, 'find').mockImplementation((id) => mayContinue.then(() => find(id)));
    const sockets: Socket[] = [];
    const started = channel('http.server.request.start');
    const note = (message: unknown) => sockets.push((message as { socket: Socket }).socket);
    started.subscribe(note);
    const connection = await RawConnection.open(server.url);
    const headers = [
      ['Authorization', `Bearer ${key}`],
      ['Content-Type', 'application/json'],
    ] as const;
    await connection.write(rawRequest({ path: '/api/rules/replay', headers, body: '{"rules":[]}' }));
    await expect.poll(() => held.mock.calls.length, { timeout: 20_000 }).toBe(1);
    connection.reset();
    await expect.poll(() => sockets.map(({ closed }) => closed), { timeout: 20_000 }).toEqual([true]);
    started.unsubscribe(note);
    proceed();
    held.mockRestore();
    expect((await replay({ rules: [] }, key)).status).toBe(200);
  });

  /** With one panel; the titles are disk and load by turns. */
  async function tenantWithHistory(tenant: string, count: number) {
    const sender = await server.token({ tenant });
    await server.call('POST', '/api/panels', { token: sender, json: { name: 'wall' } });
    const titles = Array.from({ length: count }, (_, i) => `${i % 2 === 0 ? 'disk' : 'load'} ${i}`);
    const sent: { id: string; title: string }[] = [];
    for (const title of titles)
      sent.push({ title, id: (await server.notify(sender, { title, message: 'm' })).json.id });
    return { sent, key: await server.key('admin', tenant) };
  }
});
