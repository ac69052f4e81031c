import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseSecret } from '#core/people/secrets.ts';
import { eventually } from '../support/eventually.ts';
import { RawConnection } from '../support/raw-http.ts';
import { TestServer } from '../support/server.ts';
import { readExposition, samplesOf } from './metrics-format.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());

async function newTenant() {
  const { tenant, token, key } = await server.newTenant();
  const get = (accept?: string) =>
    server.call('GET', '/tenant-metrics', { token, headers: accept === undefined ? {} : { accept } });
  const samples = async () => samplesOf(readExposition((await get()).text));
  const send = (json: object = {}, as = token) => server.notify(as, { title: 't', message: 'm', ...json });
  return { tenant, token, key, get, samples, send };
}

/** Every name of the interface, with its type and the labels it has. */
const names: Record<string, [string, string[]]> = {
  belfry_notifications_received_total: ['counter', ['level']],
  belfry_notifications_rejected_total: ['counter', ['reason']],
  belfry_notifications_unrouted_total: ['counter', []],
  belfry_notifications_muted_total: ['counter', []],
  belfry_deliveries_total: ['counter', ['outcome']],
  belfry_delivery_latency_seconds: ['histogram', ['le']],
  belfry_intake_duration_seconds: ['histogram', ['le']],
  belfry_panels: ['gauge', ['state']],
  belfry_rate_limited_total: ['counter', ['scope']],
  belfry_history_notifications: ['gauge', []],
  belfry_history_bytes: ['gauge', []],
  belfry_tokens: ['gauge', ['state']],
  belfry_attention_refused_total: ['counter', ['kind']],
  belfry_channel_deliveries_total: ['counter', ['outcome']],
  belfry_channel_deliveries_pending: ['gauge', []],
};

test('every name of the interface is there, of its type, with help and its labels and no others', async () => {
  const { get, send } = await newTenant();
  await send({ host: 'canary-host', ip: '10.11.12.13', title: 'canary title', key: 'canary-key' });
  const { headers, text } = await get();
  expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(headers.get('cache-control')).toBe('no-store');
  const families = readExposition(text);
  expect([...families.keys()].toSorted()).toEqual(Object.keys(names).toSorted());
  for (const [name, { type, help, samples }] of families) {
    expect([name, type]).toEqual([name, names[name]?.[0]]);
    expect(help.length).toBeGreaterThan(10);
    const labels = new Set(
      [...samples.keys()].flatMap((key) => [...key.matchAll(/([a-z_]+)="/g)].map(([, label]) => label)),
    );
    expect([name, [...labels]]).toEqual([name, names[name]?.[1]]);
  }
  expect(text).not.toMatch(/canary|10\.11\.12\.13/);
});

test('OpenMetrics is sent when it is requested, and is as strict as it must be', async () => {
  const { get, samples, send } = await newTenant();
  await send({ level: 'error' });
  const { headers, text } = await get(
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
  );
  expect(headers.get('content-type')).toMatch(/^application\/openmetrics-text; version=1\.0\.0/);
  expect(headers.get('vary')).toMatch(/accept/i);
  const families = readExposition(text, { openMetrics: true });
  expect([...families.keys()].toSorted()).toEqual(
    Object.keys(names)
      .map((name) => name.replace(/_total$/, ''))
      .toSorted(),
  );
  expect(samplesOf(families)).toEqual(await samples());
});

test.each([
  [undefined, 'text/plain'],
  ['*/*', 'text/plain'],
  ['application/*', 'application/openmetrics-text'],
  ['image/png', 'text/plain'],
  ['text/plain;q=0.5, application/json', 'application/json'],
  ['text/plain, application/json;q=0.5', 'text/plain'],
  ['application/json, text/plain, */*', 'application/json'],
  ['application/json;q=0, */*', 'text/plain'],
  ['application/openmetrics-text;q=0.2, text/plain;version=0.0.4;q=0.9', 'text/plain'],
  [
    'application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2',
    'application/openmetrics-text',
  ],
])('what is sent follows the q-values: Accept: %s', async (accept, type) => {
  const { get } = await newTenant();
  expect((await get(accept)).headers.get('content-type')).toMatch(new RegExp(`^${type};`));
});

test('JSON is sent on Accept: application/json', async () => {
  const { get, send } = await newTenant();
  await send({ level: 'error' });
  const { headers, json } = await get('application/json');
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  expect(json.map(({ name }: { name: string }) => name).toSorted()).toEqual(Object.keys(names).toSorted());
  const received = json.find(({ name }: { name: string }) => name === 'belfry_notifications_received_total');
  expect(received).toMatchObject({ type: 'counter', values: [{ value: 1, labels: { level: 'error' } }] });
});

test('what is received, muted and unrouted is counted, and what history holds is shown', async () => {
  const { key, samples, send } = await newTenant();
  const rule = (name: string, then: object) =>
    server.call('POST', '/api/rules', { token: key, json: { name, when: { host: [name] }, then } });
  await rule('mute', { mute: true });
  await rule('void', { panels: 'none' });
  await rule('loud', { setLevel: 'critical' });
  for (const json of [
    {},
    {},
    { level: 'error' },
    { host: 'mute' },
    { host: 'void' },
    { host: 'loud' },
    { level: 'deploy' },
  ])
    await send(json);
  expect(await samples()).toMatchObject({
    'belfry_notifications_received_total{level="info"}': 5,
    'belfry_notifications_received_total{level="error"}': 1,
    'belfry_notifications_received_total{level="deploy"}': 1,
    belfry_notifications_muted_total: 1,
    belfry_notifications_unrouted_total: 1,
    belfry_history_notifications: 7,
    belfry_history_bytes: expect.toSatisfy((bytes: number) => bytes > 7 * 100),
    belfry_intake_duration_seconds_count: 7,
    'belfry_intake_duration_seconds_bucket{le="+Inf"}': 7,
  });
});

test('a notification that is sent again with its retry key is received once', async () => {
  const { samples, token } = await newTenant();
  for (let i = 0; i < 3; i++)
    await server.notify(token, { title: 't', message: 'm' }, { 'idempotency-key': 'k' });
  expect(await samples()).toMatchObject({
    'belfry_notifications_received_total{level="info"}': 1,
    belfry_history_notifications: 1,
  });
});

test('what is refused is counted by its reason', async () => {
  const { tenant, samples, send, token } = await newTenant();
  const slow = await server.token({ tenant, rate: { perSecond: 0.001, burst: 1 } });
  await send({ title: '' });
  await send({ ttl: -1 });
  await send({}, await server.token({ tenant, scopes: ['panel'] }));
  await server.call('POST', '/api/notify', {
    token,
    body: 'x'.repeat(70_000),
    headers: { 'content-type': 'text/plain', 'x-title': 't' },
  });
  await server.call('POST', '/api/notify', {
    token,
    body: '<x/>',
    headers: { 'content-type': 'application/xml' },
  });
  await server.notify(token, { title: 'a', message: 'm' }, { 'idempotency-key': 'k' });
  await server.notify(token, { title: 'b', message: 'm' }, { 'idempotency-key': 'k' });
  for (let i = 0; i < 3; i++) await send({}, slow);
  expect(await samples()).toMatchObject({
    'belfry_notifications_rejected_total{reason="invalid"}': 2,
    'belfry_notifications_rejected_total{reason="forbidden"}': 1,
    'belfry_notifications_rejected_total{reason="too-large"}': 1,
    'belfry_notifications_rejected_total{reason="unsupported-type"}': 1,
    'belfry_notifications_rejected_total{reason="conflict"}': 1,
    'belfry_notifications_rejected_total{reason="rate-limited"}': 2,
    'belfry_notifications_rejected_total{reason="unavailable"}': 0,
    'belfry_rate_limited_total{scope="token"}': 2,
    'belfry_rate_limited_total{scope="tenant"}': 0,
    'belfry_notifications_received_total{level="info"}': 2,
  });
});

test('a sender who goes away in the middle of a body is not counted as refused', async () => {
  const { samples, send, token } = await newTenant();
  const connection = await RawConnection.open(server.url);
  const head = `POST /api/notify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Length: 100\r\n\r\n`;
  await connection.write(`${head}{"title":`);
  // The server has read the head once it answers somebody who came later.
  await send();
  connection.reset();
  await send();
  const isRefused = ([name, value]: [string, unknown]) => name.includes('_rejected_total') && value !== 0;
  expect(Object.entries(await samples()).filter(isRefused)).toEqual([]);
});

test("a tenant's own limit is counted as such", async () => {
  const { key, samples, send } = await newTenant();
  await server.call('PATCH', '/api/tenant', { token: key, json: { rate: { perSecond: 0.001, burst: 2 } } });
  for (let i = 0; i < 5; i++) await send();
  expect(await samples()).toMatchObject({
    'belfry_rate_limited_total{scope="tenant"}': 3,
    'belfry_rate_limited_total{scope="token"}': 0,
    'belfry_notifications_rejected_total{reason="rate-limited"}': 3,
  });
});

test('deliveries count each notification for each panel once, and what panels report', async () => {
  const { token, samples, send } = await newTenant();
  const panels = [await server.panel(token, 'A'), await server.panel(token, 'B')];
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push((await send({ level: 'error' })).json.id);
  await server.call('POST', `/api/notifications/${ids[0]}/clear`, { token });
  for (const { stream } of panels) await stream.next(({ event }) => event === 'clear');
  const [a, b] = panels.map(({ id }) => `/api/panels/${id}/receipts`);
  const say = (path: string | undefined, state: string, id: string | undefined) =>
    server.call('POST', path as string, { token, json: [{ id, state, at: Date.now() }] });
  await say(a, 'shown', ids[0]);
  await say(a, 'shown', ids[0]);
  await say(b, 'shown', ids[0]);
  await say(a, 'cleared', ids[0]);
  await say(a, 'expired', ids[1]);
  const found = await samples();
  expect(found).toMatchObject({
    'belfry_deliveries_total{outcome="sent"}': 6,
    'belfry_deliveries_total{outcome="shown"}': 2,
    'belfry_deliveries_total{outcome="cleared"}': 1,
    'belfry_deliveries_total{outcome="expired"}': 1,
    belfry_delivery_latency_seconds_count: 2,
    'belfry_delivery_latency_seconds_bucket{le="+Inf"}': 2,
  });
  expect(found.belfry_delivery_latency_seconds_sum).toBeGreaterThan(0);
  expect(found.belfry_delivery_latency_seconds_sum).toBeLessThan(60);
  for (const { stream } of panels) stream.close();
});

test('panels and tokens are counted by their state', async () => {
  const { tenant, token, key, samples } = await newTenant();
  const { stream } = await server.panel(token, 'On');
  await server.call('POST', '/api/panels', { token, json: { name: 'Off' } });
  await server.token({ tenant, expiresAt: Date.now() - 1 });
  const doomed = await server.token({ tenant });
  await server.call('DELETE', `/api/tokens/${parseSecret(doomed)?.id}`, { token: key });
  expect(await samples()).toMatchObject({
    'belfry_panels{state="online"}': 1,
    'belfry_panels{state="offline"}': 1,
    'belfry_tokens{state="active"}': 1,
    'belfry_tokens{state="expired"}': 1,
    'belfry_tokens{state="revoked"}': 1,
  });
  stream.close();
  await eventually(
    async () =>
      expect(await samples()).toMatchObject({
        'belfry_panels{state="online"}': 0,
        'belfry_panels{state="offline"}': 2,
      }),
    { interval: 20 },
  );
});

test('a tenant gets its own metrics only', async () => {
  const [a, b] = [await newTenant(), await newTenant()];
  const before = await b.samples();
  await server.call('POST', '/api/panels', { token: a.token, json: { name: 'P' } });
  for (let i = 0; i < 5; i++) await a.send({ level: 'canary' });
  await a.send({ title: '' });
  expect(await b.samples()).toEqual(before);
  expect(before).not.toHaveProperty('belfry_notifications_received_total{level="canary"}');
});

test('the metrics scope is needed and enough, and keys do not have it', async () => {
  const { tenant, key } = await newTenant();
  const status = async (token?: string) => (await server.call('GET', '/tenant-metrics', { token })).status;
  expect(await status(await server.token({ tenant, scopes: ['metrics'] }))).toBe(200);
  expect(await status(await server.token({ tenant, scopes: ['notify', 'panel'] }))).toBe(403);
  expect(await status(key)).toBe(403);
  expect(await status()).toBe(401);
});
