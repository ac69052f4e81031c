import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { TenantId } from '#core/log/route.ts';
import { PayloadTurns } from '#http/intake/overload.ts';
import { eventually } from '../support/eventually.ts';
import { IntakeDesk } from '../support/intake.ts';

let desk: IntakeDesk;
let admin: string;
beforeAll(async () => {
  desk = await IntakeDesk.open({ BELFRY_RATE_AUTH: 'off' });
  admin = await desk.server.key('admin');
});
afterAll(() => desk?.close());

const call = (method: string, path: string, json?: unknown, token = admin) =>
  desk.server.call(method, path, { token, ...(json !== undefined && { json }) });
const send = (json: unknown, name = 'ups', token = desk.token) =>
  call('POST', `/api/integrations/custom/${name}`, json, token);
const mapping = {
  items: '/events',
  fields: {
    title: '{^/device}: {/what}',
    level: '{/sev}',
    host: '{^/device}',
    key: 'ups:{/id}',
    identity: '{/sev}',
  },
  labels: { site: '{^/device}' },
  levels: { high: 'critical', '*': 'warning' },
};
const payload = (sev: string) => ({ device: 'ups-1', events: [{ id: 1, what: 'On battery', sev }] });

it('reads what is sent to it, keeps the last payload for those who edit, and is taken at once when it changes', async () => {
  expect((await send(payload('high'))).status).toBe(404);
  const put = await call('PUT', '/api/mappings/ups', mapping);
  expect([put.status, put.json]).toMatchObject([200, { name: 'ups', ...mapping }]);
  expect((await call('GET', '/api/mappings/ups/capture')).status).toBe(404);
  const answer = await send(payload('high'));
  expect(answer.status).toBe(200);
  const id = answer.json.items[0].id;
  expect(await desk.find(id)).toMatchObject({
    title: 'ups-1: On battery',
    level: 'critical',
    host: 'ups-1',
    key: 'ups:1',
    labels: { site: 'ups-1' },
  });
  expect((await send(payload('high'))).json.items[0].id).toBe(id);
  expect((await send(payload('odd'))).json.items[0].id).not.toBe(id);
  const capture = await call('GET', '/api/mappings/ups/capture');
  expect(capture.json).toMatchObject({ payload: JSON.stringify(payload('odd')), problem: null });

  expect((await send({ device: 'x' })).status).toBe(400);
  const failed = (await call('GET', '/api/mappings/ups/capture')).json;
  expect(failed).toMatchObject({ payload: '{"device":"x"}', problem: expect.stringContaining('events') });
  const tooLarge = { ...payload('high'), note: 'x'.repeat(70_000) };
  expect((await send(tooLarge)).status).toBe(200);
  expect((await call('GET', '/api/mappings/ups/capture')).json.payload).toBe('{"device":"x"}');

  await call('PUT', '/api/mappings/ups', { fields: { title: 'now {/device}' } });
  expect(await desk.find((await send({ device: 'x' })).json.items[0].id)).toMatchObject({
    title: 'now x',
    level: 'info',
  });
  expect(
    (await call('GET', '/api/mappings')).json.mappings.map(({ name }: { name: string }) => name),
  ).toEqual(['ups']);
  expect((await call('DELETE', '/api/mappings/ups')).status).toBe(204);
  expect((await call('DELETE', '/api/mappings/ups')).status).toBe(404);
  for (const path of ['/api/integrations/custom/ups', '/api/integrations/custom/%00'])
    expect((await call('POST', path, {}, desk.token)).status).toBe(404);
  expect((await call('GET', '/api/mappings/ups/capture')).status).toBe(404);
});

it('belongs to one tenant, with its payloads', async () => {
  await call('PUT', '/api/mappings/mine', { fields: { title: '{/t}' } });
  await send({ t: 'mine' }, 'mine');
  const [theirAdmin, theirToken] = [
    await desk.server.key('admin', 'theirs'),
    await desk.server.token({ tenant: 'theirs' }),
  ];
  expect((await send({ t: 'x' }, 'mine', theirToken)).status).toBe(404);
  expect((await call('GET', '/api/mappings/mine/capture', undefined, theirAdmin)).status).toBe(404);
  expect((await call('GET', '/api/mappings', undefined, theirAdmin)).json).toEqual({ mappings: [] });
  const member = await desk.server.key('member');
  for (const [method, path, json] of [
    ['GET', '/api/mappings', undefined],
    ['GET', '/api/mappings/mine/capture', undefined],
    ['PUT', '/api/mappings/mine', mapping],
    ['DELETE', '/api/mappings/mine', undefined],
    ['POST', '/api/mappings/preview', { mapping, payload: '{}' }],
  ] as const)
    expect([path, (await call(method, path, json, member)).status]).toEqual([path, 403]);
});

it('is previewed on a payload, and stores nothing; what is wrong is named', async () => {
  const head = await desk.head();
  const preview = (wanted: unknown, text: string) =>
    call('POST', '/api/mappings/preview', { mapping: wanted, payload: text });
  const many = {
    device: 'ups-1',
    events: Array.from({ length: 30 }, (_, id) => ({ id, what: 'w', sev: 'high' })),
  };
  const tooMany = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`l${i}`, 'x']));
  const { json } = await preview(mapping, JSON.stringify(many));
  expect([json.count, json.items.length, json.items[1]]).toEqual([
    30,
    20,
    {
      title: 'ups-1: w',
      message: 'ups-1: w',
      level: 'critical',
      host: 'ups-1',
      ip: null,
      key: 'ups:1',
      url: null,
      labels: { site: 'ups-1' },
    },
  ]);
  for (const [wanted, text, error] of [
    [mapping, '{', 'payload: it is not valid JSON'],
    [mapping, '{}', 'events must be a list'],
    [{ fields: { title: '{/none}' } }, '{}', 'neither a title nor a message'],
    [{ fields: { title: '{/a~2}' } }, '{}', 'fields.title: '],
    [{ fields: {} }, '{}', 'title'],
    [{ fields: { title: 'x', more: 'x' } }, '{}', 'more'],
    [{ fields: { title: 'x' }, levels: { a: 'not a level!' } }, '{}', 'levels'],
    [{ fields: { title: 'x' }, labels: { 'a b': 'x' } }, '{}', 'labels'],
    [{ fields: { title: 'x' }, labels: tooMany }, '{}', 'labels'],
    [{ fields: { title: 'x' }, labels: { a: '{/a~2}' } }, '{}', 'labels.a: '],
    [{ fields: { title: 'x'.repeat(1_001) } }, '{}', 'title'],
  ] as const) {
    const answer = await preview(wanted, text);
    expect([answer.status, answer.json.error]).toEqual([400, expect.stringContaining(error)]);
    const isItsOwn = !error.startsWith('payload') && !error.startsWith('neither') && wanted !== mapping;
    if (isItsOwn) expect((await call('PUT', '/api/mappings/wrong', wanted)).status).toBe(400);
  }
  expect(await desk.head()).toBe(head);
});

it.each(['[1', 'null', '"x"', '[]', '{"events":{}}', '['.repeat(50_000)])(
  'a hostile payload is refused, and nothing is stored: %#',
  async (body) => {
    await call('PUT', '/api/mappings/hostile', mapping);
    const head = await desk.head();
    const headers = { 'content-type': 'application/json' };
    const answer = await desk.server.call('POST', '/api/integrations/custom/hostile', {
      token: desk.token,
      body,
      headers,
    });
    expect(answer.status).toBe(400);
    expect(await desk.head()).toBe(head);
  },
);

it('an expensive payload is paid by the rate of its token, whether it is stored or refused', async () => {
  const tenant = await desk.server.token({ tenant: 'expensive', rate: { perSecond: 0.01, burst: 20 } });
  const other = await desk.server.key('admin', 'expensive');
  const put = (name: string, fields: object) =>
    call('PUT', `/api/mappings/${name}`, { items: '/events', fields }, other);
  await put('usual', { title: '{/t}' });
  await put('hostile', { title: 'x', message: '{^/pad}'.repeat(20) });
  const events = Array.from({ length: 1_000 }, () => ({ t: 'x' }));
  const refused = await send({ pad: ' '.repeat(20_000), events }, 'hostile', tenant);
  expect([refused.status, refused.text]).toMatchObject([400, expect.stringContaining('fewer items at once')]);
  expect((await send({ events: [{ t: 'small' }] }, 'usual', tenant)).status).toBe(429);
});

it('a preview refuses JSON that is nested too deeply', async () => {
  const answer = await call('POST', '/api/mappings/preview', {
    mapping: { fields: { title: 'x' } },
    payload: '['.repeat(1_000),
  });
  expect([answer.status, answer.text]).toMatchObject([400, expect.stringContaining('more than 100 levels')]);
});

it('a preview waits for its turn, as the payloads of senders do', async () => {
  await call('PUT', '/api/mappings/waiting', mapping);
  const spy = vi.spyOn(PayloadTurns.prototype, 'run');
  expect((await send(payload('high'), 'waiting')).status).toBe(200);
  const [turns] = spy.mock.contexts as PayloadTurns[];
  spy.mockRestore();
  const other = Promise.withResolvers<void>();
  const held = turns?.run(-1 as TenantId, 1, () => other.promise);
  let isAnswered = false;
  const json = { mapping, payload: JSON.stringify(payload('high')) };
  const preview = call('POST', '/api/mappings/preview', json);
  void preview.then(() => {
    isAnswered = true;
  });
  // Each of these is answered at once, so a preview that does not wait is answered among them.
  for (let i = 0; i < 5; i++) expect((await call('GET', '/api/mappings')).status).toBe(200);
  expect(isAnswered).toBe(false);
  // Twenty more of a tenant wait, and no more.
  let refused = 0;
  const more = Array.from({ length: 25 }, async () => {
    const { status } = await call('POST', '/api/mappings/preview', json);
    if (status === 429) refused += 1;
    return status;
  });
  await eventually(() => expect(refused).toBe(5));
  other.resolve();
  await held;
  expect((await preview).json).toMatchObject({ count: 1 });
  expect((await Promise.all(more)).filter((status) => status === 200)).toHaveLength(20);
});
