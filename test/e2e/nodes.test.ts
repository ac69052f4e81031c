/** What several servers on one PostgreSQL share. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { Alertmanager, missingAlertmanager } from '../support/alertmanager.ts';
import { eventually } from '../support/eventually.ts';
import { appHeaders, basic, subscribe } from '../support/ntfy-client.ts';
import { limitMs, patienceMs } from '../support/patience.ts';
import { makePerson, password, TestBrowser } from '../support/person.ts';
import { createDatabase } from '../support/postgres.ts';
import { TestServer } from '../support/server.ts';
import { endServers, ServerProcess } from '../support/server-process.ts';
import { skipReason } from '../support/skip-reason.ts';
import { TelegramBotApi } from '../support/telegram-bot-api.ts';
import { describeWithOwnPostgres } from '../support/with-postgres.ts';

/** Every change is on every node within this time. */
const soon = { timeout: limitMs(1_000), interval: 20 };

describeWithOwnPostgres('nodes on one PostgreSQL', {}, (postgres) => {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-nodes-'));
  afterAll(async () => {
    await endServers();
    rmSync(folder, { recursive: true });
  });
  const newSettings = async () => ({
    BELFRY_DATABASE_URL: await createDatabase(postgres().url),
    BELFRY_KEY_FILE: join(folder, 'belfry.key'),
  });

  describe.each([
    ['with LISTEN and NOTIFY', {}],
    ['with a bus that is silent', { BELFRY_BUS_URL: 'in-process' }],
  ])('%s', (_, own) => {
    let one: TestServer;
    let two: TestServer;
    beforeAll(async () => {
      const env = { ...(await newSettings()), ...own };
      one = await TestServer.start(env);
      two = await TestServer.start(env);
    });
    afterAll(() => Promise.all([one?.stop(), two?.stop()]));

    test('the set-up link of each node works on the other one, once', async () => {
      const { setUpSecret } = one.running;
      expect(setUpSecret).toMatch(/^[0-9A-Za-z]{32}$/);
      expect(two.running.setUpSecret).toBe(setUpSecret);
      const setUp = (node: TestServer, secret: string | undefined) =>
        new TestBrowser(node).post('/api/setup', {
          ...{ secret, email: 'a@example.org', name: 'A', password: 'four plain boxes', tenantTitle: 'T' },
        });
      expect((await setUp(two, `${setUpSecret}x`)).status).toBe(403);
      expect((await setUp(two, setUpSecret)).status).toBe(200);
      for (const node of [one, two]) expect((await setUp(node, setUpSecret)).status).toBe(409);
    });

    test('an iPhone that read from one node is woken once by a message that the other one takes', async () => {
      const asked: string[] = [];
      const upstream = createServer((request, response) => {
        asked.push(String(request.headers['x-poll-id']));
        response.end('{}');
      });
      await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void upstream.close());
      const { port } = upstream.address() as AddressInfo;
      const env = {
        ...{ ...(await newSettings()), ...own, BELFRY_BASE_URL: 'https://belfry.example.org' },
        ...{ BELFRY_NTFY_UPSTREAM: `http://127.0.0.1:${port}`, BELFRY_OUTBOUND_ALLOW: '127.0.0.1' },
      };
      const nodes = [await TestServer.start(env), await TestServer.start(env)] as const;
      onTestFinished(async () => void (await Promise.all(nodes.map((node) => node.stop()))));
      const { tenant, token } = await nodes[0].newTenant();
      const phone = await nodes[0].token({ tenant, scopes: ['panel'], name: 'phone' });
      const headers = { ...basic(phone), 'user-agent': 'ntfy/1.8.0 (build 1; iOS 18.5.0)' };
      const poll = (query: string) => nodes[0].call('GET', `/ntfy/ada/json?poll=1&${query}`, { headers });
      expect((await poll('since=all')).status).toBe(200);
      for (const title of ['one', 'two'])
        expect((await nodes[1].notify(token, { title, message: 'm', level: 'error' })).status).toBe(200);
      await expect.poll(() => asked.length, { timeout: patienceMs }).toBe(2);
      expect(new Set(asked).size).toBe(2);
      expect(JSON.parse((await poll(`id=${asked[1]}`)).text)).toMatchObject({ title: 'two' });
      expect(asked).toHaveLength(2);
    });

    test('a person who confirms their identity on one node changes how they sign in on the other', async () => {
      const anna = await makePerson(one, 'owner');
      const browser = new TestBrowser(one);
      expect((await browser.post('/api/session', { email: anna.email, password })).status).toBe(200);
      const onTwo = new TestBrowser(two);
      onTwo.keep(browser.cookie);
      const hers = [{ column: 'person', operator: '=', value: anna.id }] as const;
      await one.running.accounts.rows.update('sessions', hers, { created_at: Date.now() - 11 * 60_000 });
      const addOnTwo = () => onTwo.post('/api/account/passkeys/options', undefined);
      expect((await addOnTwo()).status).toBe(403);
      expect((await browser.post('/api/account/proof', { password })).status).toBe(204);
      expect((await onTwo.get('/api/account/proof')).json.proven).toBe(true);
      expect((await addOnTwo()).status).toBe(200);
    });

    const world = async (tenant: string) => ({
      token: await one.token({ tenant, scopes: ['notify', 'panel'] }),
      key: await one.key('admin', tenant),
    });
    const panelsOn = async (node: TestServer, key: string) =>
      (await node.call('GET', '/api/panels', { token: key })).json.panels;

    test('what somebody makes on one node can be named on the other one by their next request', async () => {
      const { key } = await world('next-request');
      const call = async (node: TestServer, method: string, path: string, json?: object) => {
        const answer = await node.call(method, path, { token: key, ...(json && { json }) });
        expect([path, answer.status, answer.text]).toEqual([path, expect.toBeOneOf([200, 201]), answer.text]);
        return answer.json;
      };
      // Both have the tenant in memory.
      for (const node of [one, two]) await call(node, 'GET', '/api/rules');
      const rule = (name: string, more: object) => call(two, 'POST', '/api/rules', { name, ...more });
      await call(one, 'PUT', '/api/levels/deploy', { rank: 25 });
      await rule('level', { when: { level: ['deploy'] }, then: { panels: 'all' } });
      const { id } = await call(one, 'POST', '/api/panels', { name: 'desk' });
      await rule('panel', { then: { panels: { ids: [id] } } });
      const channel = { name: 'ops', kind: 'ntfy', settings: { topic: 'ops' } };
      const { id: channelId } = await call(one, 'POST', '/api/channels', channel);
      await rule('channel', { then: { channels: [channelId], panels: 'none' } });
      const { id: hall } = await call(one, 'POST', '/api/panels', { name: 'hall' });
      await call(two, 'GET', `/api/panels/${hall}/showing`);
      await call(one, 'PUT', '/api/levels/late', { rank: 26 });
      await call(two, 'PATCH', `/api/panels/${hall}`, { display: { minLevel: 'late' } });
      const { id: door } = await call(one, 'POST', '/api/panels', { name: 'door' });
      const { code } = await call(one, 'POST', '/api/pairings');
      await call(two, 'POST', `/api/pairings/${code}/approve`, { panelId: door });
    });

    test('a phone that comes back to another node after its last id gets each message once', async () => {
      const { token, key } = await world('phone');
      let since = 'none';
      const got: (string | undefined)[] = [];
      for (let i = 0; i < 6; i++) {
        const [node, other] = i % 2 === 0 ? [one, two] : [two, one];
        const url = `${node.url}/ntfy/on-call/json?since=${since}`;
        const stream = await subscribe(url, appHeaders(token));
        await stream.next(({ event }) => event === 'open');
        await eventually(
          async () => expect(await panelsOn(other, key)).toMatchObject([{ online: true }]),
          soon,
        );
        await other.notify(token, { title: String(i), message: 'm' });
        since = (await stream.next(({ title }) => title === String(i))).id;
        got.push(...stream.events.filter(({ event }) => event === 'message').map(({ title }) => title));
        stream.close();
        await other.notify(token, { title: `missed ${i}`, message: 'm' });
      }
      expect(got).toEqual(
        Array.from({ length: 6 }, (_, i) => (i === 0 ? ['0'] : [`missed ${i - 1}`, String(i)])).flat(),
      );
      expect(await panelsOn(one, key)).toMatchObject([{ topic: 'on-call', kind: 'phone' }]);
    });

    test.each([
      ['identify', { durationMs: 5_000 }],
      ['reload', {}],
      ['test', { durationMs: 20_000 }],
    ])('the command %s reaches a screen on the other node, once', async (command, data) => {
      const { token, key } = await world(`command-${command}`);
      const { id, stream } = await two.panel(token, 'wall');
      await eventually(async () => expect(await panelsOn(one, key)).toMatchObject([{ online: true }]), soon);
      const { json } = await one.call('POST', `/api/panels/${id}/${command}`, { token: key });
      expect(json).toEqual({ ok: true, reached: true });
      const got = await stream.next(({ event }) => event === command, soon.timeout);
      expect(got.data).toEqual(data);
      await one.notify(token, { title: 'after it', message: 'm' });
      await stream.next(({ event }) => event === 'notification');
      expect(stream.messages.filter(({ event }) => event === command)).toHaveLength(1);
      stream.close();
    });

    test('a panel is online on both nodes, without lag, and offline on both once it has gone', async () => {
      const { token, key } = await world('online');
      const { id, stream } = await two.panel(token, 'wall');
      await one.notify(token, { title: 't', message: 'm' });
      await stream.next(({ event }) => event === 'notification');
      for (const node of [one, two]) {
        await eventually(
          async () => expect(await panelsOn(node, key)).toMatchObject([{ id, online: true, lag: 0 }]),
          soon,
        );
        const { json } = await node.call('GET', '/api/overview', { token: key });
        expect(json.panels).toEqual({ online: 1, total: 1, behind: 0 });
      }
      stream.close();
      for (const node of [one, two])
        await eventually(
          async () => expect(await panelsOn(node, key)).toMatchObject([{ online: false }]),
          soon,
        );
      const { json } = await one.call('POST', `/api/panels/${id}/identify`, { token: key });
      expect(json).toEqual({ ok: true, reached: false });
    });

    test('a panel that has just registered on one node connects to the other', async () => {
      const { token } = await world('registers');
      // Both nodes have read the tenant before.
      for (const node of [one, two]) (await node.panel(token, 'before')).stream.close();
      for (let i = 0; i < 5; i++) {
        const { json } = await one.call('POST', '/api/panels', { token, json: { name: `wall ${i}` } });
        const stream = await two.stream(`/api/panels/${json.id}/events`, token);
        await stream.next(({ event }) => event === 'ready');
        stream.close();
      }
    });

    test('a panel that moves between nodes stays one panel, and goes on where it was', async () => {
      const { token, key } = await world('moves');
      const first = await one.panel(token, 'wall');
      await one.notify(token, { title: 'T1', message: 'm' });
      const { id: cursor } = await first.stream.next(({ event }) => event === 'notification');
      first.stream.close();
      await one.notify(token, { title: 'T2', message: 'm' });
      const { stream } = await two.panel(token, 'wall', { cursor: cursor ?? '' });
      await one.notify(token, { title: 'T3', message: 'm' });
      await stream.next(({ data }) => data.title === 'T3');
      const titles = stream.messages
        .filter(({ event }) => event === 'notification')
        .map(({ data }) => data.title);
      expect(titles).toEqual(['T2', 'T3']);
      for (const node of [one, two])
        await eventually(
          async () => expect(await panelsOn(node, key)).toMatchObject([{ online: true, lag: 0 }]),
          soon,
        );
      stream.close();
    });

    test('receipts that a panel gives to one node stand with the notification on the other', async () => {
      const { token, key } = await world('receipts');
      const { id: panel, stream } = await two.panel(token, 'wall');
      const { json } = await one.notify(token, { title: 't', message: 'm' });
      await stream.next(({ event }) => event === 'notification');
      const at = '2026-11-02T10:00:00.000Z';
      await two.call('POST', `/api/panels/${panel}/receipts`, {
        token,
        json: [{ id: json.id, state: 'shown', at }],
      });
      await eventually(async () => {
        const { json: found } = await one.call('GET', `/api/notifications/${json.id}`, { token: key });
        expect(found.deliveries).toMatchObject([{ online: true, sent: true, shownAt: at }]);
      }, soon);
      stream.close();
    });

    test('rules, levels and the tenant reach the other node', async () => {
      const { token, key } = await world('config');
      await two.notify(token, { title: 'known there', message: 'm' });
      const rule = { name: 'mute', when: { host: ['quiet-*'] }, then: { mute: true } };
      expect((await one.call('POST', '/api/rules', { token: key, json: rule })).status).toBe(201);
      await eventually(async () => {
        const { json } = await two.notify(token, { title: 't', message: 'm', host: 'quiet-1' });
        const { json: found } = await two.call('GET', `/api/notifications/${json.id}`, { token: key });
        expect(found.state).toBe('muted');
      }, soon);
      const { stream } = await two.panel(token, 'wall');
      await one.call('PATCH', '/api/tenant', { token: key, json: { title: 'Renamed' } });
      await stream.next(
        ({ event, data }) => event === 'settings' && data.tenant.title === 'Renamed',
        soon.timeout,
      );
      await one.call('PUT', '/api/levels/alarm', {
        token: key,
        json: { rank: 45 },
      });
      const hasAlarm = ({ data }: { data: { levels?: { name: string }[] } }) =>
        data.levels?.some(({ name }) => name === 'alarm') ?? false;
      await stream.next((message) => message.event === 'settings' && hasAlarm(message), soon.timeout);
      stream.close();
    });

    test('settings of a panel reach its screen on the other node, and its removal ends the stream there', async () => {
      const { token, key } = await world('panels');
      const { id, stream } = await two.panel(token, 'wall');
      await one.call('PATCH', `/api/panels/${id}`, { token: key, json: { location: 'hall' } });
      await stream.next(
        ({ event, data }) => event === 'settings' && data.panel.location === 'hall',
        soon.timeout,
      );
      const began = performance.now();
      await one.call('DELETE', `/api/panels/${id}`, { token: key });
      await stream.ended;
      expect(performance.now() - began).toBeLessThan(soon.timeout);
    });

    test('a token that is revoked on one node is refused by the other, and its streams there end', async () => {
      const { token, key } = await world('revoked');
      const { stream } = await two.panel(token, 'wall');
      const { json } = await one.call('GET', '/api/tokens', { token: key });
      await one.call('DELETE', `/api/tokens/${json.tokens[0].id}`, { token: key });
      await eventually(
        async () => expect((await two.notify(token, { title: 'T', message: 'M' })).status).toBe(401),
        soon,
      );
      await stream.ended;
    });
  });

  test('panels of a node that was killed are offline once its lease is over', async () => {
    const env = await newSettings();
    const one = await TestServer.start(env);
    onTestFinished(() => one.stop());
    const other = await ServerProcess.start({ folder, env });
    const token = await one.token({ scopes: ['notify', 'panel'] });
    const key = await one.key();
    const { json } = await one.call('POST', '/api/panels', { token, json: { name: 'wall' } });
    const stream = await fetch(`${other.url}/api/panels/${json.id}/events`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const online = async () => (await one.call('GET', `/api/panels/${json.id}`, { token: key })).json.online;
    await eventually(async () => expect(await online()).toBe(true), soon);
    await other.end('SIGKILL');
    await stream.body?.cancel().catch(() => undefined);
    await eventually(async () => expect(await online()).toBe(false));
    expect((await one.call('POST', `/api/panels/${json.id}/identify`, { token: key })).json.reached).toBe(
      false,
    );
  });

  test('one node fetches the presses of Telegram, each node shows why none come, and the other goes on after it', async () => {
    const api = await TelegramBotApi.start('1:x');
    const env = { ...(await newSettings()), BELFRY_OUTBOUND_ALLOW: '127.0.0.1' };
    const [one, two] = [await TestServer.start(env), await TestServer.start(env)];
    const running = new Set([one, two]);
    onTestFinished(async () => {
      for (const node of running) await node.stop();
      await api.close();
    });
    const key = await one.key('admin');
    const settings = { url: api.url, chat: '-100', polling: 'on' };
    const json = { name: 'ops', kind: 'telegram', settings, secrets: { token: '1:x' } };
    await one.call('POST', '/api/channels', { token: key, json });
    const errorOn = async (node: TestServer): Promise<string | null> =>
      (await node.call('GET', '/api/channels', { token: key })).json.channels[0].state.answersError;
    await eventually(() => expect(api.isPolled('1:x')).toBe(true));
    api.setWebhook('1:x', 'https://example.org');
    for (const node of [one, two])
      await eventually(async () => expect(await errorOn(node)).toMatch(/^Telegram answered 409/));
    api.setWebhook('1:x', '');
    for (const node of [one, two]) await eventually(async () => expect(await errorOn(node)).toBeNull());
    await eventually(() => expect(api.isPolled('1:x')).toBe(true));
    // The first one to have read the channel, or not.
    running.delete(one);
    await one.stop();
    await eventually(() => expect(api.isPolled('1:x')).toBe(true));
    expect(await errorOn(two)).toBeNull();
  });

  test.skipIf(skipReason(missingAlertmanager()))(
    'a silence is followed by one node, and by the other one after it',
    async () => {
      const manager = await Alertmanager.start();
      const env = { ...(await newSettings()), BELFRY_OUTBOUND_ALLOW: '127.0.0.1' };
      const [one, two] = [await TestServer.start(env), await TestServer.start(env)];
      const running = new Set([one, two]);
      onTestFinished(async () => {
        for (const node of running) await node.stop();
        await manager.stop();
      });
      const key = await one.key('admin');
      const json = { name: 'am', kind: 'alertmanager', settings: { url: manager.url } };
      expect((await one.call('POST', '/api/channels', { token: key, json })).status).toBe(201);
      const rule = { name: 'am', then: { channels: ['am'] } };
      await one.call('POST', '/api/rules', { token: key, json: rule });
      const sent = { title: 'Disk full', message: 'm', level: 'error', key: 'disk' };
      const { id } = (await one.notify(await one.token(), sent)).json;
      const alarmOn = async (node: TestServer) =>
        (await node.call('GET', `/api/alarms/${id}`, { token: key })).json;
      await eventually(async () => expect(await manager.alerts()).toHaveLength(1));
      const silence = await manager.silence('alarm=disk');
      for (const node of running)
        await eventually(async () =>
          expect(await alarmOn(node)).toMatchObject({ shelved: { by: 'Ann (am)' } }),
        );
      running.delete(one);
      await one.stop();
      await manager.amtool('silence', 'expire', silence);
      await eventually(async () => expect((await alarmOn(two)).state).toBe('open'));
      expect((await alarmOn(two)).events).toHaveLength(2);
    },
  );

  test('after PostgreSQL has lost what nodes reported, they report it anew', async () => {
    const env = await newSettings();
    const [one, two] = [await TestServer.start(env), await TestServer.start(env)];
    onTestFinished(() => Promise.all([one.stop(), two.stop()]).then(() => undefined));
    const [token, key] = [await one.token({ scopes: ['notify', 'panel'] }), await one.key()];
    const { id, stream } = await two.panel(token, 'wall');
    const online = async () => (await one.call('GET', `/api/panels/${id}`, { token: key })).json.online;
    await eventually(async () => expect(await online()).toBe(true));
    await postgres().restart(async () => undefined);
    await eventually(async () => expect(await online()).toBe(true), { timeout: limitMs(5_000) });
    stream.close();
  });
});
