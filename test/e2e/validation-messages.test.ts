import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await TestServer.start();
  key = await server.key('owner');
});
afterAll(() => server.stop());

const then = { mute: true };
const rule = (part: object) => ['POST', '/api/rules', { name: 'r', then, ...part }] as const;
const panels = 'must be "all", "none", {"ids": […]} or {"tags": […]}';
const condition = 'must have exactly one of contains, glob and regex, as in {"contains": "disk"}';
const patterns = 'must be a text of 1 to 1000 characters, or a list of 1 to 1000 of them';
const address =
  'must be an address, a CIDR block or a range, as in 10.0.0.5, 10.0.0.0/8 or 10.0.0.1-10.0.0.9';

test.each<[string, string, object | undefined, string]>([
  [...rule({ then: { panels: 'some' } }), `then.panels ${panels}`],
  [...rule({ then: { panels: { ids: ['a'], tags: ['b'] } } }), `then.panels ${panels}`],
  [...rule({ then: { panels: { tags: ['a', 5] } } }), 'then.panels.tags[1] must be a string'],
  [...rule({ when: { title: {} } }), `when.title ${condition}`],
  [...rule({ when: { title: { glob: 'a', regex: 'b' } } }), `when.title ${condition}`],
  [...rule({ when: { title: 'disk' } }), `when.title ${condition}`],
  [...rule({ when: { message: { glob: '' } } }), `when.message.glob ${patterns}`],
  [...rule({ when: { message: { glob: 5 } } }), `when.message.glob ${patterns}`],
  [
    ...rule({ when: { message: { glob: ['a', ''] } } }),
    'when.message.glob[1] must have at least 1 character',
  ],
  [...rule({ when: { not: { ip: ['x'] } } }), `when.not.ip[0] ${address}`],
  [...rule({ when: { host: [] } }), 'when.host must have at least 1 item'],
  [...rule({ activeFrom: 5 }), 'activeFrom must be a string or null'],
  [
    ...rule({ hits: 5 }),
    'the body has no field "hits"; the nearest are "note", "name", "then", "when", "windows"',
  ],
  [...rule({ when: { hots: ['a'] } }), 'when has no field "hots"; did you mean "host"?'],
  [...rule({ when: { level: 'error' } }), 'when.level must be a list'],
  [...rule({ then: { mute: 'yes' } }), 'then.mute must be true or false'],
  [
    ...rule({ then: { throttle: { by: ['host'], perMs: '10m' } } }),
    'then.throttle.perMs must be a whole number',
  ],
  [...rule({ activeUntil: 'tomorrow' }), 'activeUntil must be a time, as in 2026-11-01T10:00:00Z'],
  [
    ...rule({ windows: [{ days: ['Monday'], from: '22:00', until: '06:00' }] }),
    'windows[0].days[0] must be one of mon, tue, wed, thu, fri, sat, sun',
  ],
  ['POST', '/api/rules', { name: 'r' }, 'then is required'],
  [...rule({ then: { throttle: { by: ['host'] } } }), 'then.throttle.perMs is required'],
  ['POST', '/api/rules', [], 'the body must be an object'],
  [
    'POST',
    '/api/panels',
    { name: ' lobby' },
    'name must have 1 to 100 characters, without white space around them',
  ],
  [
    'POST',
    '/api/panels',
    { name: 'lobby', location: 'x'.repeat(201) },
    'location must have at most 200 characters',
  ],
  ['PUT', '/api/levels/own', { color: 'red' }, 'color must be a colour such as #c81e1e'],
  ['GET', `/api/history?q=${'x'.repeat(2_001)}`, undefined, 'q must have at most 2000 characters'],
  [
    'POST',
    '/api/tokens',
    { name: 'x', rate: { perSecond: 5 } },
    'rate must be {"perSecond": …, "burst": …}, "off" or null',
  ],
])('%s %s %j says what would be right', async (method, path, json, error) => {
  const token = path === '/api/panels' ? await server.token() : key;
  const answer = await server.call(method, path, { token, json });
  expect([answer.status, answer.json.error]).toEqual([400, error]);
});
