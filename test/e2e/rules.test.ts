import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let admin: string;
beforeAll(async () => {
  server = await TestServer.start();
  admin = await server.key('admin');
});
afterAll(() => server.stop());

const call = (method: string, path: string, json?: unknown, token = admin) =>
  server.call(method, `/api/rules${path}`, { token, ...(json !== undefined && { json }) });
const create = async (over: object) =>
  (await call('POST', '', { name: 'rule', when: { host: ['nobody'] }, then: { mute: true }, ...over })).json;
const names = async (token = admin) =>
  (await call('GET', '', undefined, token)).json.rules.map(({ name }: { name: string }) => name);
/** A tenant without rules, and its admin. */
let tenants = 0;
const fresh = () => server.key('admin', `rules-${++tenants}`);

describe('rules', () => {
  test('a rule that names a level or a token that does not exist is refused, new and as a change', async () => {
    const key = await fresh();
    const level = {
      when: { not: { level: ['info', 'eror'] } },
      error:
        'rule "x": when.not.level[1]: no level is named "eror"; did you mean "error"? To use a new level, create it first: PUT /api/levels/eror',
      pointer: '/when/not/level/1',
    };
    const token = {
      when: { token: ['nobody'] },
      error:
        'rule "x": when.token[0]: no token is named "nobody". To use a new token, create it first: POST /api/tokens',
      pointer: '/when/token/0',
    };
    const { json: good } = await call('POST', '', { name: 'x', then: { mute: true } }, key);
    for (const { when, error, pointer } of [level, token])
      for (const answer of [
        await call('POST', '', { name: 'x', when, then: { mute: true } }, key),
        await call('PATCH', `/${good.id}`, { when }, key),
      ]) {
        expect([answer.status, answer.json]).toEqual([400, { error }]);
        expect(answer.headers.get('Belfry-Error')).toContain(pointer);
      }
    // A draft contains the stored rules too, so it may name what is gone.
    const rules = [level, token].map(({ when }) => ({ name: 'x', when, then: { mute: true } }));
    const draft = { notification: { title: 't', message: 'm' }, rules };
    expect((await call('POST', '/explain', draft, key)).status).toBe(200);
    expect((await call('POST', '/replay', { rules }, key)).status).toBe(200);
    expect(await names(key)).toEqual(['x']);
    await server.call('PUT', '/api/levels/eror', { token: key, json: { rank: 41 } });
    expect((await call('POST', '', { name: 'y', when: level.when, then: { mute: true } }, key)).status).toBe(
      201,
    );
  });

  test('a rule whose level or token has ended warns, and can still be changed', async () => {
    const tenant = 'rules-with-warnings';
    const key = await server.key('admin', tenant);
    const { json: token } = await server.call('POST', '/api/tokens', { token: key, json: { name: 'ci' } });
    await server.call('PUT', '/api/levels/eror', { token: key, json: { rank: 41 } });
    const when = { level: ['eror'], token: ['ci'] };
    const made = await call('POST', '', { name: 'x', when, then: { mute: true } }, key);
    expect(made.json).not.toHaveProperty('warnings');
    await server.call('DELETE', `/api/tokens/${token.id}`, { token: key });
    // The API deletes no level that a rule names.
    await server.running.directory.levels.remove(await server.tenant(tenant), 'eror', 'test', Date.now());
    const revoked = 'when.token[0]: the token "ci" is revoked, so it matches nothing';
    const short = 'when.level[0]: no level is named "eror"';
    const listed = async () => (await call('GET', '', undefined, key)).json.rules;
    await expect.poll(listed).toMatchObject([{ warnings: [short, revoked] }]);
    // Only the answer about one rule says what may be meant.
    const warnings = [`${short}; did you mean "error"?`, revoked];
    const change = async (patch: object) => (await call('PATCH', `/${made.json.id}`, patch, key)).json;
    expect(await change({ note: 'y' })).toMatchObject({ note: 'y', warnings });
    expect(await change({ when: { ...when, host: ['db'] }, enabled: false })).toMatchObject({ warnings });
    expect(await change({ when: { level: ['eror', 'worse'] } })).toEqual({
      error: expect.stringContaining('when.level[1]: no level is named "worse"'),
    });
    expect(await change({ when: { level: ['error'] } })).not.toHaveProperty('warnings');
  });

  test('a rule needs a name and a deed; the rest has defaults', async () => {
    const { status, json } = await call(
      'POST',
      '',
      { name: ' all quiet ', then: { mute: true } },
      await fresh(),
    );
    expect(status).toBe(201);
    expect(json).toMatchObject({
      name: 'all quiet',
      enabled: true,
      when: {},
      then: { mute: true },
      continue: false,
      activeFrom: null,
      activeUntil: null,
      windows: [],
      timeZone: 'UTC',
      note: '',
      hits: 0,
      lastHitAt: null,
    });
    expect(json.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
  });

  test('a rule with everything comes back as it was sent', async () => {
    const token = await server.token({ scopes: ['panel'] });
    const { json: panel } = await server.call('POST', '/api/panels', { token, json: { name: 'rules wall' } });
    await server.token({ name: 'ci' });
    const sent = {
      name: 'db to the NOC',
      enabled: false,
      when: {
        host: ['db-*'],
        minLevel: 'warning',
        title: { regex: '^disk' },
        message: { contains: ['full', 'slow'] },
        not: { ip: ['10.9.0.0/16'], token: ['ci'] },
      },
      then: {
        panels: { ids: [panel.id] },
        setLevel: 'error',
        setTtl: 5_000,
        throttle: { by: ['host'], perMs: 60_000 },
      },
      continue: true,
      activeFrom: '2026-01-01T00:00:00.000Z',
      activeUntil: '2027-01-01T00:00:00.000Z',
      windows: [{ days: ['mon', 'sun'], from: '22:00', until: '06:00' }],
      timeZone: 'Europe/Berlin',
      note: 'why',
    };
    const { json } = await call('POST', '', sent);
    expect(json).toMatchObject(sent);
    expect((await call('GET', '')).json.rules).toContainEqual(json);
    await call('DELETE', `/${json.id}`);
  });

  test('a new rule takes the time zone of its tenant', async () => {
    const key = await fresh();
    await server.call('PATCH', '/api/tenant', { token: key, json: { timeZone: 'Asia/Tokyo' } });
    expect((await call('POST', '', { name: 'x', then: { mute: true } }, key)).json.timeZone).toBe(
      'Asia/Tokyo',
    );
  });

  test('a rule holds from the answer on, is counted, and its end holds too', async () => {
    const token = await server.token();
    const { stream } = await server.panel(token, 'live wall');
    const rule = await create({ name: 'quiet', when: { host: ['noisy'] } });
    await server.notify(token, { title: 'muted', message: 'm', host: 'noisy' });
    await call('PATCH', `/${rule.id}`, { enabled: false });
    await server.notify(token, { title: 'shown', message: 'm', host: 'noisy' });
    const { data } = await stream.next(({ event }) => event === 'notification');
    expect(data).toMatchObject({ title: 'shown' });
    const counted = async () =>
      (await call('GET', '')).json.rules.find(({ id }: { id: string }) => id === rule.id).hits;
    await expect.poll(counted).toBe(1);
    await call('DELETE', `/${rule.id}`);
  });

  test('a patch changes what it names, and keeps place and creation', async () => {
    const key = await fresh();
    const make = async (name: string) => (await call('POST', '', { name, then: { mute: true } }, key)).json;
    const [a] = [await make('a'), await make('b')];
    const { json, status } = await call('PATCH', `/${a.id}`, { name: 'a2', when: { level: ['info'] } }, key);
    expect(status).toBe(200);
    expect(json).toMatchObject({
      ...a,
      name: 'a2',
      when: { level: ['info'] },
      updatedAt: expect.any(String),
    });
    expect(await names(key)).toEqual(['a2', 'b']);
    expect((await call('PATCH', `/${a.id}`, {}, key)).json).toMatchObject({ name: 'a2' });
  });

  test('the order is what was put; a new rule stands at the position it names, or last', async () => {
    const key = await fresh();
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c'])
      ids.push((await call('POST', '', { name, then: { mute: true } }, key)).json.id);
    const { status, json } = await call('PUT', '/order', { ids: ids.toReversed() }, key);
    expect(status).toBe(200);
    expect(json.rules.map(({ name }: { name: string }) => name)).toEqual(['c', 'b', 'a']);
    await call('POST', '', { name: 'd', then: { mute: true } }, key);
    expect(await names(key)).toEqual(['c', 'b', 'a', 'd']);
    const { json: second } = await call('POST', '', { name: 'e', then: { mute: true }, position: 2 }, key);
    expect(second).not.toHaveProperty('position');
    expect(await names(key)).toEqual(['c', 'e', 'b', 'a', 'd']);
    ids.push(second.id);
    for (const wrong of [ids, [...ids, 'nobody'], []]) {
      const refused = await call('PUT', '/order', { ids: wrong }, key);
      expect(refused.status).toBe(400);
      expect(refused.json.error).toContain('every rule');
    }
  });

  test.each([
    [{ then: {} }, 'then'],
    [{ when: { ip: ['10.0.0.0/99'] } }, 'ip'],
    [{ when: { title: { regex: '(a)\\1' } } }, 'title'],
    [{ when: { title: { regex: '(' } } }, 'title'],
    [{ when: { title: { contains: 'a', glob: 'b' } } }, 'title'],
    [{ when: { minLevel: 'no-such-level' } }, 'minLevel'],
    [{ then: { setLevel: 'no-such-level' } }, 'setLevel'],
    [{ then: { panels: { ids: ['no-such-panel'] } } }, 'panel'],
    [{ timeZone: 'Mars/Olympus' }, 'timeZone'],
    [{ activeFrom: '2027-01-01T00:00:00Z', activeUntil: '2026-01-01T00:00:00Z' }, 'activeUntil'],
    [{ windows: [{ days: ['mon'], from: '25:00', until: '26:00' }] }, 'windows'],
    [{ name: '' }, 'name'],
    [{ nane: 'typo' }, 'nane'],
  ])('%j cannot work and is refused, new and as a change', async (over, word) => {
    const refused = await call('POST', '', { name: 'x', when: {}, then: { mute: true }, ...over });
    expect(refused.status).toBe(400);
    expect(refused.json.error).toContain(word);
    const good = await create({});
    const patched = await call('PATCH', `/${good.id}`, over);
    expect(patched.status).toBe(400);
    expect((await call('GET', '')).json.rules).toContainEqual(good);
    await call('DELETE', `/${good.id}`);
  });

  test('another tenant’s rules are not there', async () => {
    const rule = await create({});
    const foreign = await server.key('owner', 'other');
    expect(await names(foreign)).toEqual([]);
    for (const id of [rule.id, 'nobody']) {
      const answers = [
        await call('PATCH', `/${id}`, { name: 'stolen' }, foreign),
        await call('DELETE', `/${id}`, undefined, foreign),
      ];
      for (const { status, text } of answers)
        expect(`${status} ${text}`).toBe('404 {"error":"rule not found"}');
    }
    expect((await call('PUT', '/order', { ids: [rule.id] }, foreign)).status).toBe(400);
    await call('DELETE', `/${rule.id}`);
    expect((await call('DELETE', `/${rule.id}`)).status).toBe(404);
  });

  test('a viewer reads rules and changes none', async () => {
    const viewer = await server.key('viewer');
    expect((await call('GET', '', undefined, viewer)).status).toBe(200);
    expect((await call('POST', '', { name: 'x', then: { mute: true } }, viewer)).status).toBe(403);
    expect((await call('PUT', '/order', { ids: [] }, viewer)).status).toBe(403);
  });
});

test('changes of different fields of one rule at the same time all hold', async () => {
  const token = await fresh();
  const { id } = (await call('POST', '', { name: 'one', then: { mute: true } }, token)).json;
  const patches = [
    { name: 'two' },
    { note: 'noted' },
    { continue: true },
    { enabled: false },
    { timeZone: 'Europe/Berlin' },
    { when: { host: ['db'] } },
    { then: { setTtl: 5 } },
    { activeUntil: '2031-01-01T00:00:00Z' },
  ];
  const answers = await Promise.all(patches.map((patch) => call('PATCH', `/${id}`, patch, token)));
  expect(answers.map(({ status }) => status)).toEqual(patches.map(() => 200));
  const [rule] = (await call('GET', '', undefined, token)).json.rules;
  expect(rule).toMatchObject(Object.assign({}, ...patches));
});
