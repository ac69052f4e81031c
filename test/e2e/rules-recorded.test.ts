import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';
import { append, seededFolder } from './history-seed.ts';

const dayMs = 86_400_000;
let server: TestServer;
beforeAll(async () => {
  // Before the server begins: 3 of ten days ago, 2 of three days ago.
  const now = Date.now();
  const folder = await seededFolder(async (history, tenant) => {
    await append(history, tenant, 3, () => ({
      receivedAt: now - 10 * dayMs,
      host: 'old',
      title: 'ten days old',
    }));
    await append(history, tenant, 2, () => ({
      receivedAt: now - 3 * dayMs,
      host: 'old',
      title: 'three days old',
    }));
  });
  server = await TestServer.start({}, folder);
});
afterAll(() => server.stop());

let tenants = 0;
async function newTenant(tenant = `recorded-${++tenants}`) {
  const [token, key] = [await server.token({ tenant, name: 'ci' }), await server.key('admin', tenant)];
  const ask = async (method: string, path: string, json?: unknown) =>
    (await server.call(method, path, { token: key, json })).json;
  const rule = (name: string, json: object) => ask('POST', '/api/rules', { name, ...json });
  const send = async (json: object = {}) =>
    (await server.notify(token, { title: 't', message: 'm', ...json })).json.id as string;
  const detail = (id: string) => ask('GET', `/api/notifications/${id}`);
  return { token, key, ask, rule, send, detail };
}

test('a notification is explained for ever by the rules that held when it came', async () => {
  const { ask, rule, send, detail } = await newTenant();
  const first = await rule('first', { when: { host: ['db'] }, then: { setTtl: 600_000 }, continue: true });
  const off = await rule('off', { then: { mute: true }, enabled: false });
  await rule('ends', { when: { host: ['d*'] }, then: { panels: 'all' } });
  const last = await rule('behind the end', { then: { mute: true } });
  const id = await send({ host: 'db' });
  const before = await detail(id);
  expect(before.trace).toMatchObject([
    { id: first.id, name: 'first', outcome: 'matched' },
    { id: off.id, name: 'off', outcome: 'disabled' },
    { name: 'ends', outcome: 'matched' },
    { id: last.id, name: 'behind the end', outcome: 'not-tried' },
  ]);
  await ask('PATCH', `/api/rules/${first.id}`, { name: 'renamed', when: { host: ['other'] } });
  await ask('PATCH', `/api/rules/${off.id}`, { enabled: true });
  await ask('DELETE', `/api/rules/${last.id}`);
  await ask('PUT', '/api/rules/order', {
    ids: (await ask('GET', '/api/rules')).rules.map(({ id: each }: { id: string }) => each).toReversed(),
  });
  expect(await detail(id)).toEqual(before);
  expect((await detail(await send({ host: 'db' }))).trace.map(({ name }: { name: string }) => name)).toEqual([
    'ends',
    'off',
    'renamed',
  ]);
});

test('a notification has the instructions of the rules that matched it, as they are now', async () => {
  const { ask, rule, send, detail, token } = await newTenant();
  const text = 'Look at the gate.\n<b>Then</b> call https://plant.example.org.';
  const gate = await rule('gate', { when: { host: ['gate'] }, then: { instructions: text }, continue: true });
  await rule('other', { when: { host: ['x'] }, then: { instructions: 'Never.' }, continue: true });
  const all = await rule('all', { then: { panels: 'all', instructions: 'Write it down.' } });
  const id = await send({ host: 'gate' });
  const refs = [
    { rule: { id: gate.id, name: 'gate' }, text },
    { rule: { id: all.id, name: 'all' }, text: 'Write it down.' },
  ];
  expect((await detail(id)).instructions).toEqual(refs);
  expect((await detail(id)).trace[0].reason).toBe('has instructions; later rules are checked too');
  const { notifications } = await ask('GET', '/api/history?limit=1');
  expect(notifications[0]).not.toHaveProperty('instructions');
  const own = await server.call('GET', `/api/notifications/${id}`, { token });
  expect(own.json.instructions).toEqual([]);
  await ask('PATCH', `/api/rules/${gate.id}`, { name: 'renamed', then: { instructions: 'New.' } });
  await ask('DELETE', `/api/rules/${all.id}`);
  expect((await detail(id)).instructions).toEqual([{ rule: { id: gate.id, name: 'renamed' }, text: 'New.' }]);
});

test('instructions are a text of at most 4,000 characters', async () => {
  const { ask, rule } = await newTenant();
  const then = (instructions: unknown) => ({ name: 'x', then: { instructions } });
  for (const wrong of ['', ' \n', 'x'.repeat(4_001), 7])
    expect((await ask('POST', '/api/rules', then(wrong))).error).toContain('then.instructions');
  const longest = 'ä'.repeat(4_000);
  expect((await rule('long', { then: { instructions: longest } })).then.instructions).toBe(longest);
});

test('a notification of a time whose rules are deleted has no trace, and the rest as before', async () => {
  const { ask, rule, send, detail } = await newTenant();
  const first = await rule('first', { then: { setTtl: 600_000 } });
  const id = await send();
  const before = await detail(id);
  expect(before.trace).toHaveLength(1);
  await ask('PATCH', `/api/rules/${first.id}`, { name: 'renamed' });
  const { rules } = server.running.directory;
  const tenant = await server.tenant(`recorded-${tenants}`);
  await rules.prune(tenant, (await rules.set(tenant)).revision);
  expect(await detail(id)).toEqual({ ...before, trace: null });
});

test('a trace names the condition that failed, and why', async () => {
  const { rule, send, detail } = await newTenant();
  await rule('host', { when: { host: ['db-*'] }, then: { mute: true } });
  await rule('not ip', { when: { not: { ip: ['10.0.0.0/8'] } }, then: { mute: true } });
  const { trace } = await detail(await send({ host: 'web-1', ip: '10.1.2.3' }));
  expect(trace).toMatchObject([
    { name: 'host', outcome: 'failed', condition: 'host', reason: expect.stringContaining('web-1') },
    { name: 'not ip', outcome: 'failed', condition: 'not.ip', reason: expect.stringContaining('10.1.2.3') },
  ]);
});

test("explaining a recorded notification asks today's rules, or a draft, as if it came as it was sent", async () => {
  const { ask, rule, send, detail } = await newTenant();
  await rule('louder', { when: { host: ['db'] }, then: { setLevel: 'critical', setTtl: 1_000 } });
  const id = await send({ host: 'db', level: 'warning', ttl: 7_000 });
  expect(await detail(id)).toMatchObject({ level: 'critical', ttl: 1_000 });
  const [{ id: ruleId }] = (await ask('GET', '/api/rules')).rules;
  await ask('PATCH', `/api/rules/${ruleId}`, { then: { setLevel: 'error' } });
  expect(await ask('POST', '/api/rules/explain', { notification: id })).toMatchObject({
    level: 'error',
    ttl: 7_000,
    muted: false,
    throttled: false,
    rules: [{ name: 'louder', outcome: 'matched' }],
  });
  const draft = [
    { name: 'only warnings', when: { level: ['warning'] }, then: { mute: true } },
    { name: 'rest', then: { panels: 'all' } },
  ];
  expect(await ask('POST', '/api/rules/explain', { notification: id, rules: draft })).toMatchObject({
    level: 'warning',
    ttl: 7_000,
    muted: true,
    rules: [{ outcome: 'matched' }, { outcome: 'not-tried' }],
  });
});

test('what explaining a typed notification says is what sending it does', async () => {
  const { ask, rule, send, detail, token } = await newTenant();
  for (const [name, tags] of [
    ['lobby', ['front']],
    ['noc', ['noc']],
  ])
    await server.call('POST', '/api/panels', { token, json: { name, tags } });
  await rule('quiet', { when: { title: { regex: '^test' } }, then: { mute: true } });
  await rule('ci', {
    when: { token: ['ci'], minLevel: 'warning' },
    then: { panels: { tags: ['noc'] }, setTtl: 5_000 },
  });
  await rule('key', { when: { key: ['db/*'] }, then: { setLevel: 'critical' } });
  for (const sent of [
    { title: 'test 1' },
    { title: 'x', level: 'error' },
    { title: 'x', key: 'db/1' },
    { title: 'x', level: 'unheard-of', host: 'h', ip: '10.0.0.1' },
  ]) {
    const explained = await ask('POST', '/api/rules/explain', {
      notification: { message: 'm', ...sent, token: 'ci' },
    });
    const done = await detail(await send(sent));
    for (const field of ['level', 'rank', 'ttl', 'target', 'panels', 'panelCount'] as const) {
      expect([sent, field, explained[field]]).toEqual([sent, field, done[field]]);
    }
    expect(explained.muted).toBe(done.state === 'muted');
    expect(explained.rules).toEqual(done.trace);
  }
});

test('a replay shows what a draft would have changed, and changes nothing', async () => {
  const { ask, rule, send, detail, token } = await newTenant();
  await server.call('POST', '/api/panels', { token, json: { name: 'wall', tags: ['noc'] } });
  const muting = await rule('muting', { when: { host: ['noisy'] }, then: { mute: true } });
  const noisy = [await send({ host: 'noisy', title: 'n1' }), await send({ host: 'noisy', title: 'n2' })];
  const db = await send({ host: 'db', title: 'd', level: 'error' });
  const plain = await send({ title: 'p' });
  const unchanged = await ask('POST', '/api/rules/replay', {
    rules: [{ name: 'same', when: { host: ['noisy'] }, then: { mute: true } }],
  });
  expect(unchanged).toMatchObject({
    considered: 4,
    changed: 0,
    shownBefore: 2,
    shownAfter: 2,
    complete: true,
    examples: [],
  });
  const draft = [
    {
      name: 'one in a while',
      when: { host: ['noisy'] },
      then: { throttle: { by: ['host'], perMs: 60_000 } },
    },
    { name: 'db to nobody', when: { host: ['db'] }, then: { panels: 'none', setLevel: 'warning' } },
  ];
  const { examples, ...counts } = await ask('POST', '/api/rules/replay', { rules: draft });
  expect(counts).toMatchObject({ considered: 4, changed: 3, shownBefore: 2, shownAfter: 2, complete: true });
  expect(counts.changes).toMatchObject({ throttled: 1, 'newly-shown': 1, 'no-longer-shown': 1 });
  expect(examples.map(({ id }: { id: string }) => id)).toEqual([db, noisy[1], noisy[0]]);
  const none = { all: false, ids: [], tags: [] };
  expect(examples[0]).toMatchObject({
    title: 'd',
    host: 'db',
    before: { level: 'error', muted: false, target: { all: true }, rules: [] },
    after: { level: 'warning', muted: false, target: none, rules: ['db to nobody'] },
  });
  expect(examples[1]).toMatchObject({
    before: { muted: true, rules: ['muting'] },
    after: { muted: false, throttled: true, rules: ['one in a while'] },
  });
  expect(examples[2]).toMatchObject({ before: { muted: true }, after: { muted: false, throttled: false } });
  expect((await ask('GET', '/api/rules')).rules).toMatchObject([{ id: muting.id, name: 'muting' }]);
  expect((await detail(plain)).state).toBe('live');
  expect((await detail(noisy[0] as string)).state).toBe('muted');
});

test('a replay goes back as many days as given, 7 by default', async () => {
  const { ask } = await newTenant('default');
  const considered = async (days?: number) => {
    const json = {
      rules: [{ name: 'mute', when: { host: ['old'] }, then: { mute: true } }],
      ...(days !== undefined && { days }),
    };
    const { considered: scanned, changed } = await ask('POST', '/api/rules/replay', json);
    return [scanned, changed];
  };
  expect(await considered()).toEqual([2, 2]);
  expect(await considered(1)).toEqual([0, 0]);
  expect(await considered(30)).toEqual([5, 5]);
});
