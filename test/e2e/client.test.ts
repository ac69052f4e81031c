/** `belfry/client` as the package has it, against a server. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PanelEvent } from '#client/published-types.d.ts';
import { ensureBuilt } from '#scripts/build.mjs';
import { TestServer } from '../support/server.ts';
import { root } from '../support/server-process.ts';
import { TcpProxy } from '../support/tcp-proxy.ts';

type Published = typeof import('#client/published.ts');

let server: TestServer;
let proxy: TcpProxy;
let published: Published;
beforeAll(async () => {
  await ensureBuilt('client', root, process.execPath, process.env);
  server = await TestServer.start({ BELFRY_HEARTBEAT_MS: '500' });
  proxy = await TcpProxy.start({ port: Number(new URL(server.url).port) });
  published = (await import(pathToFileURL(join(root, 'dist/client/client.js')).href)) as Published;
});
afterAll(async () => {
  await proxy.close();
  await server.stop();
});

test('sends again with the same key while the server is away or busy, and stores it once', async () => {
  const token = await server.token({ tenant: 'sent' });
  const answers = [503, 429, 'lost', 'cut'];
  const keys = new Set<string | null>();
  const client = published.createClient({
    url: server.url,
    token,
    fetch: async (input, init) => {
      keys.add(new Headers(init?.headers).get('idempotency-key'));
      const next = answers.shift();
      if (next === 'cut') throw new TypeError('fetch failed');
      if (typeof next === 'number')
        return new Response('{}', { status: next, headers: { 'retry-after': '0' } });
      const answer = await fetch(input, init);
      if (next === 'lost') throw new TypeError('fetch failed');
      return answer;
    },
  });
  const { id } = await client.send({ title: 'Disk full', message: '/var', level: 'error', host: 'db-1' });
  expect(keys.size).toBe(1);
  const key = await server.key('viewer', 'sent');
  const { json } = await server.call('GET', '/api/history', { token: key });
  expect(json.notifications).toMatchObject([{ id, title: 'Disk full', level: 'error', host: 'db-1' }]);
});

test('what the server refuses is an ApiError with its code, at once', async () => {
  const token = await server.token();
  const client = published.createClient({ url: server.url, token });
  const refused = client.send({ title: '', message: 'm' });
  await expect(refused).rejects.toBeInstanceOf(published.ApiError);
  await expect(refused).rejects.toMatchObject({
    status: 400,
    code: 'bad-request',
    message: 'title is required',
  });
  const unknown = published.createClient({ url: server.url, token: 'bfy_nobody' });
  await expect(unknown.send({ title: 't', message: 'm' })).rejects.toMatchObject({ code: 'unauthorized' });
  await expect(unknown.subscribe({ panel: 'x' }).next()).rejects.toMatchObject({ status: 401 });
  const gone = published.createClient({ url: 'http://127.0.0.1:1', token });
  const sending = gone.send({ title: 't', message: 'm' }, { retryMs: 0 });
  await expect(sending).rejects.toMatchObject({ status: 0, code: undefined });
  const stop = AbortSignal.abort(new Error('enough'));
  await expect(client.send({ title: 't', message: 'm' }, { signal: stop })).rejects.toThrow('enough');
});

/** The next notification, whatever comes before it. */
async function nextShown(events: AsyncGenerator<PanelEvent, void, void>) {
  for (;;) {
    const { done, value } = await events.next();
    if (done) throw new Error('the subscription ended');
    if (value.type === 'notification') return { title: value.data.title, id: value.id };
  }
}

test('a subscription survives broken connections, and another one resumes by its cursor', async () => {
  const token = await server.token({ tenant: 'followed' });
  const through = published.createClient({ url: proxy.through(server.url), token });
  const direct = published.createClient({ url: server.url, token });
  const send = (n: number) => direct.send({ title: `n${n}`, message: 'm' });
  const states: string[] = [];
  const stop = new AbortController();
  const events = through.subscribe({
    panel: 'bot',
    signal: stop.signal,
    onConnection: ({ state }) => states.push(state),
  });
  expect(await events.next()).toMatchObject({ value: { type: 'ready', data: { panel: { name: 'bot' } } } });
  await send(1);
  expect((await nextShown(events)).title).toBe('n1');
  proxy.cut();
  await send(2);
  proxy.mend();
  const second = await nextShown(events);
  expect(second.title).toBe('n2');
  expect(states).toContain('waiting');
  stop.abort();
  await send(3);
  await send(4);
  const resumed = direct.subscribe({ panel: 'bot', cursor: second.id ?? '' });
  expect((await nextShown(resumed)).title).toBe('n3');
  expect((await nextShown(resumed)).title).toBe('n4');
  await resumed.return();
});

test('history goes on over the pages, for as long as it is read', async () => {
  const token = await server.token({ tenant: 'read' });
  const send = (n: number) => server.notify(token, { title: `t${n}`, message: 'm', host: `h${n % 2}` });
  for (let n = 0; n < 450; n += 50) await Promise.all(Array.from({ length: 50 }, (_, i) => send(n + i)));
  const reader = published.createClient({ url: server.url, token: await server.key('viewer', 'read') });
  const ids = new Set<string>();
  for await (const { id, host } of reader.history({ q: 'host:h1' })) {
    expect(host).toBe('h1');
    ids.add(id);
  }
  expect(ids.size).toBe(225);
  for await (const { position } of reader.history()) {
    expect(position).toBe(450);
    break;
  }
  const wrong = reader.history({ q: 'hots:x' }).next();
  await expect(wrong).rejects.toMatchObject({ code: 'query.unknown-key', place: { nearest: ['host'] } });
});

test('alarms go on over the pages, in the states that are asked for, and many are changed in one call', async () => {
  const token = await server.token({ tenant: 'standing' });
  const desk = published.createClient({ url: server.url, token: await server.key('member', 'standing') });
  const send = (n: number) =>
    server.notify(token, { title: `t${n}`, message: 'm', ttl: 0, host: `h${n % 2}` });
  for (let n = 0; n < 250; n += 50) await Promise.all(Array.from({ length: 50 }, (_, i) => send(n + i)));
  expect(await desk.actOnAlarms({ action: 'shelve', q: 'host:h1', forMs: 3_600_000 })).toEqual({
    ...{ done: 125, failed: [] },
  });
  const count = async (query: Parameters<typeof desk.alarms>[0]) => {
    const ids = new Set<string>();
    for await (const { id } of desk.alarms(query)) ids.add(id);
    return ids.size;
  };
  expect(await count({})).toBe(125);
  expect(await count({ states: ['open', 'shelved'] })).toBe(250);
  expect(await count({ q: 'host:h1', states: ['shelved'] })).toBe(125);
});
