import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let key: string;
let saved: { id: string };
beforeAll(async () => {
  server = await TestServer.start();
  key = await server.key('admin');
  saved = (
    await server.call('POST', '/api/rules', {
      token: key,
      json: { name: 'saved', when: { host: ['x'] }, then: { mute: true } },
    })
  ).json;
});
afterAll(() => server.stop());

const then = { mute: true };
const unknownId = '01890000-0000-7000-8000-000000000000';

/** What cannot work, with what the error must name. */
const bad: [object, ...string[]][] = [
  [{ when: { ip: ['10.0.0.0/33'] } }, 'ip', '10.0.0.0/33'],
  [{ when: { ip: ['10.0.0'] } }, 'ip', '10.0.0'],
  [{ when: { ip: ['10.0.0.9-10.0.0.1'] } }, 'ip', '10.0.0.9'],
  [{ when: { ip: ['10.0.0.1', '2001:db8::/129'] } }, 'ip', '2001:db8::/129'],
  [{ when: { sourceIp: ['localhost'] } }, 'sourceIp', 'localhost'],
  [{ when: { not: { ip: ['1.2.3.4/x'] } } }, 'not.ip', '1.2.3.4/x'],
  [{ when: { title: { regex: '(a)\\1' } } }, 'title', '\\1'],
  [{ when: { title: { regex: '(?=a)b' } } }, 'title'],
  [{ when: { message: { regex: '(' } } }, 'message'],
  [{ when: { message: { regex: ['fine', '[z-a]'] } } }, 'message'],
  [{ when: { not: { title: { regex: '*' } } } }, 'not.title'],
  [{ when: { title: { regex: 'a', glob: 'a' } } }, 'title'],
  [{ when: { title: {} } }, 'title'],
  [{ when: { title: 'disk' } }, 'title'],
  [{ when: { title: { contains: [] } } }, 'title'],
  [{ when: { host: [] } }, 'host'],
  [{ when: { host: 'db-*' } }, 'host'],
  [{ when: { labels: {} } }, 'when.labels'],
  [{ when: { labels: { env: [] } } }, 'when.labels.env'],
  [{ when: { labels: { env: 'prod' } } }, 'when.labels.env'],
  [{ when: { labels: { '9x': ['prod'] } } }, 'when.labels', '9x'],
  [{ when: { not: { labels: { 'a b': ['prod'] } } } }, 'when.not.labels', 'a b'],
  [
    { when: { labels: Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`l${i}`, ['*']])) } },
    'when.labels',
    '32',
  ],
  [{ then: { throttle: { by: ['label:9x'], perMs: 1_000 } } }, 'then.throttle.by', 'label:cluster'],
  [{ when: { minLevel: 'no-such-level' } }, 'minLevel', 'no-such-level'],
  [{ when: { level: ['UPPER'] } }, 'level'],
  [{ when: { hots: ['x'] } }, 'hots'],
  [{ when: { not: { not: { host: ['x'] } } } }, 'not'],
  [{ then: {} }, 'then'],
  [{ then: { mute: false } }, 'then'],
  [{ then: { panels: { ids: [unknownId] } } }, 'panels', unknownId],
  [{ then: { panels: { ids: [] } } }, 'panels'],
  [{ then: { panels: 'everyone' } }, 'panels'],
  [{ then: { panels: { tags: ['x'.repeat(33)] } } }, 'then.panels.tags[0]'],
  [
    { then: { escalate: [{ afterMs: 1_000, panels: { tags: ['a', 'x'.repeat(33)] } }] } },
    'then.escalate[0].panels.tags[1]',
  ],
  [{ then: { panels: { ids: ['a'], tags: ['b'] } } }, 'panels'],
  [{ then: { setLevel: 'no-such-level' } }, 'setLevel', 'no-such-level'],
  [{ then: { setTtl: -1 } }, 'setTtl'],
  [{ then: { setTtl: 604_800_001 } }, 'setTtl'],
  [{ then: { setTtl: '5' } }, 'setTtl'],
  [{ then: { throttle: { by: ['host'], perMs: 999 } } }, 'perMs'],
  [{ then: { throttle: { by: ['colour'], perMs: 1_000 } } }, 'by'],
  [{ then: { throttle: { by: ['host', 'host'], perMs: 1_000 } } }, 'by'],
  [{ then: { throttle: { perMs: 1_000 } } }, 'by'],
  [{ then: { shout: true } }, 'shout'],
  [{ activeFrom: '2026-11-02T10:00:00Z', activeUntil: '2026-11-02T10:00:00Z' }, 'activeUntil'],
  [{ activeUntil: 'tomorrow' }, 'activeUntil'],
  [{ timeZone: 'Mars/Olympus' }, 'timeZone', 'Mars/Olympus'],
  [{ windows: [{ days: ['mon'], from: '25:00', until: '26:00' }] }, 'windows'],
  [{ windows: [{ days: ['monday'], from: '08:00', until: '09:00' }] }, 'windows'],
  [{ windows: [{ days: [], from: '08:00', until: '09:00' }] }, 'windows'],
  [{ windows: [{ days: ['mon'], from: '24:00', until: '09:00' }] }, 'windows'],
  [{ name: ' ' }, 'name'],
  [{ name: 'x'.repeat(101) }, 'name'],
  [{ enabled: 'yes' }, 'enabled'],
  [{ continue: 1 }, 'continue'],
  [{ note: 'x'.repeat(2_001) }, 'note'],
  [{ hits: 5 }, 'hits'],
];

const named = bad.map(([part, ...words]) => ({ text: JSON.stringify(part).slice(0, 90), part, words }));
test.each(named)(
  '$text is refused when it is saved, changed, explained or replayed, and the error names it',
  async ({ part, words }) => {
    const rule = { name: 'bad', then, ...part };
    for (const [method, path, json] of [
      ['POST', '/api/rules', rule],
      ['PATCH', `/api/rules/${saved.id}`, part],
      ['POST', '/api/rules/explain', { notification: {}, rules: [rule] }],
      ['POST', '/api/rules/replay', { rules: [rule] }],
    ] as const) {
      const { status, json: body } = await server.call(method, path, { token: key, json });
      expect([path, status]).toEqual([path, 400]);
      for (const word of words) expect(body.error).toContain(word);
    }
  },
);

test('nothing of what was refused is there', async () => {
  expect((await server.call('GET', '/api/rules', { token: key })).json.rules).toEqual([saved]);
});

test('an error says which rule and which entry is wrong', async () => {
  const rule = { name: 'db to the NOC', when: { ip: ['10.0.0.1', '10.0.0.0/33'] }, then };
  const { json, headers } = await server.call('POST', '/api/rules', { token: key, json: rule });
  expect(json.error).toMatch(/^rule "db to the NOC": when\.ip\[1\]: .*10\.0\.0\.0\/33/);
  expect(headers.get('belfry-error')).toBe('bad-request; pointer="/when/ip/1"');
  const errorOf = async (notification: object, rules: object[]) => {
    const body = { notification, rules };
    const answer = await server.call('POST', '/api/rules/explain', { token: key, json: body });
    return answer.headers.get('belfry-error');
  };
  const fine = { name: 'fine', then };
  expect(await errorOf({}, [fine, rule])).toBe('bad-request; pointer="/rules/1/when/ip/1"');
  expect(await errorOf({}, [{ ...fine, windows: 1 }])).toBe('bad-request; pointer="/rules/0/windows"');
  expect(await errorOf({ ip: 'x' }, [fine])).toBe('bad-request; pointer="/notification/ip"');
});

test.each([0, -1, 1.5, '1', null])('the position %j is refused, and the error names it', async (position) => {
  const json = { name: 'nowhere', then, position };
  const { status, json: body } = await server.call('POST', '/api/rules', { token: key, json });
  expect([status, body.error]).toEqual([400, expect.stringContaining('position')]);
});

test.each([
  [{}, 400],
  [{ ids: [] }, 400],
  [{ ids: [unknownId] }, 400],
  [{ ids: 'all' }, 400],
])('the order %j is refused with %i', async (json, status) => {
  expect((await server.call('PUT', '/api/rules/order', { token: key, json })).status).toBe(status);
});

test('a rule whose panel was deleted can be switched off, and not on again while it names that panel', async () => {
  const token = await server.token();
  const register = async (name: string) =>
    (await server.call('POST', '/api/panels', { token, json: { name } })).json.id as string;
  const [gone, stays] = [await register('Gone'), await register('Stays')];
  const json = { name: 'to the lobby', then: { panels: { ids: [gone] } } };
  const { json: rule } = await server.call('POST', '/api/rules', { token: key, json });
  await server.call('DELETE', `/api/panels/${gone}`, { token: key });
  const patch = (change: object) =>
    server.call('PATCH', `/api/rules/${rule.id}`, { token: key, json: change });
  expect((await patch({ note: 'why' })).status).toBe(400);
  const off = await patch({ enabled: false });
  expect([off.status, off.json.enabled, off.json.then]).toEqual([200, false, json.then]);
  const on = await patch({ enabled: true });
  expect([on.status, on.json.error]).toEqual([400, expect.stringContaining(gone)]);
  expect((await patch({ enabled: false, name: 'x' })).status).toBe(400);
  expect((await patch({ enabled: true, then: { panels: { ids: [stays] } } })).status).toBe(200);
});

test('a rule that there is not can be neither changed nor deleted', async () => {
  for (const [method, json] of [
    ['PATCH', { name: 'x' }],
    ['DELETE', undefined],
  ] as const) {
    expect(
      (await server.call(method, `/api/rules/${unknownId}`, { token: key, ...(json && { json }) })).status,
    ).toBe(404);
  }
});
