import { afterAll, beforeAll, expect, test } from 'vitest';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let key: string;
beforeAll(async () => {
  server = await TestServer.start();
  key = await server.key('member');
  const token = await server.token({ name: 'ci' });
  await server.call('POST', '/api/panels', { token, json: { name: 'lobby' } });
  await server.call('POST', '/api/rules', {
    token: await server.key('admin'),
    json: { name: 'night mute', then: { mute: true } },
  });
  await server.notify(token, { title: 'hots:db-01', message: 'm' });
});
afterAll(() => server.stop());

/** Queries that are refused, and what the error names and offers. */
const bad: [string, ...string[]][] = [
  ['hots:db-01', 'hots', '"host"'],
  ['levle:error', 'levle', '"level"'],
  ['colour:red', 'colour'],
  [':x', 'key'],
  ['level:eror', 'eror', '"error"'],
  ['level:>=warnin', 'warnin', '"warning"'],
  ['level:>critical', 'critical'],
  ['is:life', 'life', '"live"'],
  ['is:', 'is'],
  ['panel:loby', 'loby', '"lobby"'],
  ['token:cy', 'cy', '"ci"'],
  ['rule:"nigth mute"', 'nigth mute', '"night mute"'],
  ['ip:10.0.0.300', '10.0.0.300'],
  ['ip:10.0.0.0/33', '10.0.0.0/33'],
  ['ip:10.0.0.9-10.0.0.1', '10.0.0.9'],
  ['source:localhost', 'localhost'],
  ['since:2', 'since', '2h'],
  ['since:2y', '2y'],
  ['after:yesterday', 'yesterday', '2026-11-01'],
  ['before:2026-02-30', '2026-02-30'],
  ['"open', 'quote'],
  ['(a', 'closed'],
  ['a)', ')'],
  ['OR a', 'OR'],
  ['a OR', 'OR'],
  ['-', '-'],
  ['()', 'parentheses'],
  ['a*b', '*'],
  ['***', '*'],
  ['!!!', 'letter'],
  ['host:db-01"x"', 'space'],
  [`${'a '.repeat(101)}`, '100'],
  [`${'('.repeat(25)}a${')'.repeat(25)}`, 'nesting'],
  ['\u0000', 'U+0000'],
];

test.each(bad.map(([q, ...named]) => ({ q, named, text: JSON.stringify(q).slice(0, 60) })))(
  '$text is refused with an error that names it, by the page, the stream, the export and to be saved',
  async ({ q, named }) => {
    for (const [method, path, json] of [
      ['GET', '/api/history', undefined],
      ['GET', '/api/history/stream', undefined],
      ['GET', '/api/history/export', undefined],
      ['POST', '/api/searches', { name: 'bad', q }],
    ] as const) {
      const { status, json: body } = await server.call(
        method,
        json ? path : `${path}?q=${encodeURIComponent(q)}`,
        { token: key, ...(json && { json }) },
      );
      expect([path, status]).toEqual([path, 400]);
      for (const each of named) expect(body.error).toContain(each);
    }
  },
);

test('an error names the place', async () => {
  const { json, headers } = await server.call('GET', `/api/history?q=${encodeURIComponent('disk hots:db')}`, {
    token: key,
  });
  expect(json.error).toMatch(/^q: unknown key "hots" at character 6; did you mean "host"\?$/);
  expect(headers.get('belfry-error')).toBe('query.unknown-key; at=6; length=4; nearest="host"');
});

test('quoted, what looks like a key is text', async () => {
  const { json } = await server.call('GET', `/api/history?q=${encodeURIComponent('"hots:db-01"')}`, {
    token: key,
  });
  expect(json.notifications).toMatchObject([{ title: 'hots:db-01' }]);
});

test.each([
  ['limit=0', 'limit'],
  ['limit=201', 'limit'],
  ['limit=-1', 'limit'],
  ['limit=1.5', 'limit'],
  ['limit=all', 'limit'],
  ['cursor=x', 'cursor'],
  ['cursor=17', 'cursor'],
  ['limit=5&limit=6', 'limit'],
  [`q=${'x'.repeat(2_001)}`, 'q'],
])('/api/history?%s is refused', async (query, named) => {
  const { status, json } = await server.call('GET', `/api/history?${query}`, { token: key });
  expect([status, json.error]).toEqual([400, expect.stringContaining(named)]);
});

test('a format that there is not is refused', async () => {
  const { status, json } = await server.call('GET', '/api/history/export?format=xml', { token: key });
  expect([status, json.error]).toEqual([400, expect.stringMatching(/ndjson.*csv/)]);
});

test('no hostile query is answered with anything but 200 or 400', async () => {
  const pieces = [
    '"',
    '(',
    ')',
    '-',
    '*',
    '\\',
    ':',
    ',',
    'OR',
    'AND',
    'NOT',
    'a',
    'é',
    '🚪',
    "'",
    ';',
    '--',
    '%',
    '_',
    '?',
    '[',
    '^',
    'NEAR',
    'ip:',
    'level:>=',
    'since:9999999999w',
    'is:live',
    'host:[',
    'key:',
    '\t',
    ' ',
  ];
  let seed = 42;
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed % below;
  };
  const statuses = new Set<number>();
  // Few at once: on a slow machine, a tenant with more searches under way gets a 429.
  for (let i = 0; i < 38; i++) {
    const batch = Array.from({ length: 8 }, () =>
      Array.from({ length: 1 + random(12) }, () => pieces[random(pieces.length)]).join(random(2) ? ' ' : ''),
    );
    for (const { status } of await Promise.all(
      batch.map((q) => server.call('GET', `/api/history?q=${encodeURIComponent(q)}`, { token: key })),
    ))
      statuses.add(status);
  }
  expect([...statuses].toSorted()).toEqual([200, 400]);
});
