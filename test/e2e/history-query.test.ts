import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';
import { append, seededFolder } from './history-seed.ts';

let server: TestServer;
let key: string;
const hourMs = 3_600_000;
/** Two were received earlier; the rest comes over HTTP. */
const weekAgo = Date.now() - 8 * 24 * hourMs;
const yesterday = Date.now() - 25 * hourMs;
const iso = (at: number) => new Date(at).toISOString();

beforeAll(async () => {
  const folder = await seededFolder(async (history, tenant) => {
    await append(history, tenant, 1, () => ({
      title: 'week ago',
      level: 'info',
      rank: 20,
      receivedAt: weekAgo,
      ttl: 1_000,
      expiresAt: weekAgo + 1_000,
    }));
    await append(history, tenant, 1, () => ({
      title: 'yesterday',
      level: 'info',
      rank: 20,
      receivedAt: yesterday,
      ttl: 1_000,
      expiresAt: yesterday + 1_000,
    }));
  });
  server = await TestServer.start({ BELFRY_TRUSTED_PROXIES: '127.0.0.1' }, folder);
  key = await server.key('admin');
  const [ci, cron] = [await server.token({ name: 'ci' }), await server.token({ name: 'Backup job' })];
  const admin = (path: string, json: unknown) => server.call('POST', path, { token: key, json });
  const panels = await Promise.all(
    [
      ['lobby', ['front']],
      ['NOC wall', ['noc']],
    ].map(
      async ([name, tags]) =>
        (await server.call('POST', '/api/panels', { token: ci, json: { name, tags } })).json,
    ),
  );
  await admin('/api/rules', { name: 'night mute', when: { host: ['noisy'] }, then: { mute: true } });
  await admin('/api/rules', {
    name: 'to the NOC',
    when: { host: ['db-*'] },
    then: { panels: { tags: ['noc'] } },
  });
  await admin('/api/rules', { name: 'nowhere', when: { host: ['void'] }, then: { panels: 'none' } });
  await admin('/api/rules', {
    name: 'calm',
    when: { host: ['often'] },
    then: { throttle: { by: ['host'], perMs: 3_600_000 } },
  });
  const send = async (json: object, by = ci, headers = {}) =>
    (await server.notify(by, { message: 'nothing', level: 'error', ...json }, headers)).json.id;
  await send({
    title: 'db full',
    message: 'volume /data is at 97 percent',
    host: 'DB-01',
    ip: '10.0.0.5',
    key: 'disk/1',
  });
  await send(
    { title: 'db fine', host: 'db-02', ip: '10.9.0.1', level: 'success', ttl: 0, key: 'disk/2' },
    cron,
    { 'x-forwarded-for': '203.0.113.9' },
  );
  await send(
    { title: 'link slow', message: 'Überlast am Uplink', ip: '2001:db8::5', level: 'warning', ttl: 0 },
    cron,
  );
  const cleared = await send({ title: 'was cleared', level: 'critical' });
  await server.call('POST', `/api/notifications/${cleared}/clear`, { token: ci });
  await send({ title: 'muted one', host: 'noisy' });
  await send({ title: 'to nobody', host: 'void' });
  const seen = await send({ title: 'often one', host: 'often' });
  await send({ title: 'often two', host: 'often' });
  await server.call('POST', `/api/panels/${panels[0].id}/receipts`, {
    token: ci,
    json: [{ id: seen, state: 'shown', at: Date.now() }],
  });
});
afterAll(() => server.stop());

const everything = [
  'week ago',
  'yesterday',
  'db full',
  'db fine',
  'link slow',
  'was cleared',
  'muted one',
  'to nobody',
  'often one',
  'often two',
];
const but = (...titles: string[]) => everything.filter((title) => !titles.includes(title));

const queries: Record<string, [string, string[]][]> = {
  'free words, with and without quotes, prefixes and negation': [
    ['', everything],
    ['full', ['db full']],
    ['FULL', ['db full']],
    ['percent', ['db full']],
    ['uberlast', ['link slow']],
    ['db', ['db full', 'db fine']],
    ['db fine', ['db fine']],
    ['"is at 97"', ['db full']],
    ['"at is 97"', []],
    ['perc*', ['db full']],
    ['perc', []],
    ['-db', but('db full', 'db fine')],
    ['-"db full" db', ['db fine']],
    ['title:nothing', []],
    ['message:nothing title:slow', []],
    ['message:nothing title:fine', ['db fine']],
  ],
  'OR and parentheses': [
    ['full OR slow', ['db full', 'link slow']],
    ['(full OR fine) level:error', ['db full']],
    ['full OR fine level:success', ['db full', 'db fine']],
    ['-(full OR fine OR often)', but('db full', 'db fine', 'often one', 'often two')],
  ],
  ip: [
    ['ip:10.0.0.5', ['db full']],
    ['ip:10.0.0.0/8', ['db full', 'db fine']],
    ['ip:10.0.0.1-10.0.0.9', ['db full']],
    ['ip:2001:db8::/32', ['link slow']],
    ['ip:10.0.0.5,2001:db8::5', ['db full', 'link slow']],
    ['-ip:0.0.0.0/0', but('db full', 'db fine')],
  ],
  host: [
    ['host:db-01', ['db full']],
    ['host:DB-01', ['db full']],
    ['host:db-*', ['db full', 'db fine']],
    ['host:db-0?', ['db full', 'db fine']],
    ['host:void,noisy', ['muted one', 'to nobody']],
    ['-host:*', ['week ago', 'yesterday', 'link slow', 'was cleared']],
  ],
  level: [
    ['level:critical', ['was cleared']],
    ['level:success,warning', ['db fine', 'link slow']],
    ['level:>=error', but('week ago', 'yesterday', 'db fine', 'link slow')],
    ['level:<warning', ['week ago', 'yesterday', 'db fine']],
    ['level:>error', ['was cleared']],
    ['level:<=success', ['db fine']],
  ],
  source: [
    ['source:203.0.113.0/24', ['db fine']],
    ['source:203.0.113.9', ['db fine']],
    ['-source:127.0.0.1', ['db fine']],
  ],
  token: [
    ['token:"Backup job"', ['db fine', 'link slow']],
    ['token:ci -level:>=error', []],
    ['token:"backup *"', ['db fine', 'link slow']],
  ],
  panel: [
    ['panel:lobby', but('db full', 'db fine', 'muted one', 'to nobody')],
    ['panel:"NOC wall"', but('muted one', 'to nobody')],
    ['panel:"NOC wall" -panel:lobby', ['db full', 'db fine']],
  ],
  rule: [
    ['rule:"night mute"', ['muted one']],
    ['rule:"to the NOC",nowhere', ['db full', 'db fine', 'to nobody']],
  ],
  key: [
    ['key:disk/1', ['db full']],
    ['key:disk/*', ['db full', 'db fine']],
    ['key:"disk/2"', ['db fine']],
  ],
  is: [
    ['is:muted', ['muted one']],
    ['is:live', ['db full', 'db fine', 'link slow', 'often one']],
    ['is:expired', ['week ago', 'yesterday']],
    ['is:cleared', ['was cleared']],
    ['is:unseen', but('muted one', 'to nobody', 'often one', 'often two')],
    ['is:throttled', ['often two']],
    ['is:unrouted', ['to nobody']],
    ['is:muted,cleared', ['was cleared', 'muted one']],
  ],
  'since, after and before': [
    ['since:2h', but('week ago', 'yesterday')],
    ['since:2d', but('week ago')],
    ['since:1w', but('week ago')],
    ['since:30d', everything],
    [`after:${iso(yesterday)}`, but('week ago')],
    [`after:${iso(yesterday + 1)}`, but('week ago', 'yesterday')],
    [`before:${iso(yesterday)}`, ['week ago']],
    [`before:${iso(yesterday + 1)}`, ['week ago', 'yesterday']],
    [
      `after:${iso(weekAgo + 24 * hourMs).slice(0, 10)} before:${iso(yesterday + hourMs).slice(0, 16)}Z`,
      ['yesterday'],
    ],
  ],
};

describe.each(Object.entries(queries))('the query language: %s', (_, cases) => {
  test.each(cases)('%s', async (q, expected) => {
    const { json } = await server.call('GET', `/api/history?limit=200&q=${encodeURIComponent(q)}`, {
      token: key,
    });
    expect(json.notifications?.map(({ title }: { title: string }) => title) ?? json).toEqual(
      expected.toReversed(),
    );
    expect(json.nextCursor).toBeNull();
  });
});

test('a notification in history tells all that is known of it', async () => {
  const { json } = await server.call('GET', '/api/history?q=host:often&limit=2', { token: key });
  const [two, one] = json.notifications;
  expect(one).toMatchObject({
    title: 'often one',
    message: 'nothing',
    level: 'error',
    rank: 40,
    host: 'often',
    state: 'live',
    sourceIp: '127.0.0.1',
    token: { id: expect.any(String), name: 'ci' },
    rules: [{ id: expect.any(String), name: 'calm' }],
    target: { all: true, ids: [], tags: [] },
    panels: [{ name: 'NOC wall' }, { name: 'lobby' }],
    panelCount: 2,
    receipts: { shown: 1, expired: 0, cleared: 0 },
    throttledOn: null,
    cleared: null,
  });
  expect(two).toMatchObject({
    title: 'often two',
    state: 'throttled',
    throttledOn: one.id,
    panels: [],
    panelCount: 0,
  });
});

test('a time without a zone is in the zone of the tenant', async () => {
  const at = iso(yesterday).slice(0, 16);
  const found = async () =>
    (await server.call('GET', `/api/history?q=before:${at}`, { token: key })).json.notifications.map(
      ({ title }: { title: string }) => title,
    );
  expect(await found()).toEqual(['week ago']);
  // The same wall clock is five hours later in New York.
  await server.call('PATCH', '/api/tenant', { token: key, json: { timeZone: 'America/New_York' } });
  expect(await found()).toEqual(['yesterday', 'week ago']);
  await server.call('PATCH', '/api/tenant', { token: key, json: { timeZone: 'UTC' } });
});

test('what was deleted is searched by the name it had: a level, a panel, a rule', async () => {
  const admin = (method: string, path: string, json?: unknown) =>
    server.call(method, path, { token: key, ...(json !== undefined && { json }) });
  const sender = await server.token({ name: 'for a while' });
  await admin('PUT', '/api/levels/outage', { rank: 45 });
  const { json: panel } = await server.call('POST', '/api/panels', {
    token: sender,
    json: { name: 'cellar' },
  });
  const { json: rule } = await admin('POST', '/api/rules', {
    name: 'old rule',
    when: { host: ['gone'] },
    then: { panels: { ids: [panel.id] } },
  });
  const { id } = (await server.notify(sender, { title: 'T', message: 'M', host: 'gone', level: 'outage' }))
    .json;
  for (const path of [`/api/rules/${rule.id}`, `/api/panels/${panel.id}`, '/api/levels/outage'])
    expect((await admin('DELETE', path)).status).toBe(204);
  for (const q of ['level:outage', 'level:>=outage host:gone', 'panel:cellar host:gone', 'rule:"old rule"']) {
    const { status, json } = await server.call('GET', `/api/history?q=${encodeURIComponent(q)}`, {
      token: key,
    });
    expect([q, status, json.notifications?.map((each: { id: string }) => each.id)]).toEqual([q, 200, [id]]);
  }
  const { status, json } = await server.call('GET', '/api/history?q=panel:celar', { token: key });
  expect([status, json.error]).toEqual([400, expect.stringContaining('did you mean "cellar"?')]);
});
