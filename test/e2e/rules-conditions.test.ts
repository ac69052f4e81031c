import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseSecret } from '#core/people/secrets.ts';
import { limitMs } from '../support/patience.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let key: string;
let tokens: Record<'ci' | 'cron', string>;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_TRUSTED_PROXIES: '127.0.0.1' });
  key = await server.key('admin');
  tokens = { ci: await server.token({ name: 'ci' }), cron: await server.token({ name: 'cron' }) };
  await server.call('PUT', '/api/levels/deploy', { token: key, json: { rank: 45 } });
});
afterAll(() => server.stop());

/** What is sent, by whom and from where. */
const samples: Record<string, { by?: 'ci' | 'cron'; from?: string; json: object }> = {
  full: {
    by: 'ci',
    from: '203.0.113.7',
    json: {
      title: 'Disk full on db',
      message: 'volume /data 97%',
      level: 'error',
      ip: '10.0.0.5',
      host: 'DB-01.example',
      key: 'disk/db-01',
    },
  },
  fine: {
    json: {
      title: 'disk fine',
      message: 'Alles gut, Müller',
      level: 'success',
      ip: '10.9.1.1',
      host: 'db-02',
      key: 'disk/db-02',
    },
  },
  link: {
    from: '2001:db8:f::1',
    json: { title: 'Link flaps', message: 'uplink eth0', level: 'warning', ip: '2001:db8::5', host: 'sw-1' },
  },
  plain: { json: { title: 'plain', message: 'nothing else' } },
  deploy: {
    by: 'ci',
    json: { title: 'deployed', message: 'v2\nby hand', level: 'deploy', ip: '::ffff:10.0.0.7' },
  },
  fire: { json: { title: 'FIRE', message: 'run', level: 'critical', key: 'Fire' } },
};

/** Conditions, and the samples that fulfil them. Under `not`, all the others do. */
const conditions = (): [object, (keyof typeof samples)[]][] => [
  [{ level: ['error', 'critical'] }, ['full', 'fire']],
  [{ level: ['deploy'] }, ['deploy']],
  [{ minLevel: 'warning' }, ['full', 'link', 'deploy', 'fire']],
  [{ minLevel: 'deploy' }, ['deploy', 'fire']],
  [{ ip: ['10.0.0.5'] }, ['full']],
  [{ ip: ['::ffff:10.0.0.5'] }, ['full']],
  [{ ip: ['10.0.0.0/24'] }, ['full', 'deploy']],
  [{ ip: ['10.0.0.0/8'] }, ['full', 'fine', 'deploy']],
  [{ ip: ['10.0.0.6-10.9.255.255'] }, ['fine', 'deploy']],
  [{ ip: ['2001:db8::/32'] }, ['link']],
  [{ ip: ['2001:db8::1-2001:db8::9'] }, ['link']],
  [{ ip: ['10.0.0.5', '2001:0DB8:0:0::5'] }, ['full', 'link']],
  [{ ip: ['0.0.0.0/0', '::/0'] }, ['full', 'fine', 'link', 'deploy']],
  [{ sourceIp: ['203.0.113.0/24'] }, ['full']],
  [{ sourceIp: ['2001:db8:f::/48', '203.0.113.1-203.0.113.9'] }, ['full', 'link']],
  [{ sourceIp: ['127.0.0.1'] }, ['fine', 'plain', 'deploy', 'fire']],
  [{ host: ['db-*'] }, ['full', 'fine']],
  [{ host: ['DB-0?'] }, ['fine']],
  [{ host: ['*.example'] }, ['full']],
  [{ host: ['nope', 'SW-1'] }, ['link']],
  [{ host: ['*'] }, ['full', 'fine', 'link']],
  [{ title: { contains: 'full' } }, ['full']],
  [{ title: { contains: ['flaps', 'plai'] } }, ['link', 'plain']],
  [{ title: { glob: 'disk*' } }, ['full', 'fine']],
  [{ title: { glob: ['*flaps', 'fire'] } }, ['link', 'fire']],
  [{ title: { regex: '^Disk .*db$' } }, ['full']],
  [{ title: { regex: ['^plain$', 'fla[p]s'] } }, ['link', 'plain']],
  [{ message: { contains: '97%' } }, ['full']],
  [{ message: { contains: ['uplink', 'Müller'] } }, ['fine', 'link']],
  [{ message: { glob: '*nothing*' } }, ['plain']],
  [{ message: { glob: 'v2*hand' } }, ['deploy']],
  [{ message: { regex: 'M.ller|eth\\d' } }, ['fine', 'link']],
  [{ token: ['ci'] }, ['full', 'deploy']],
  [{ token: [parseSecret(tokens.cron)?.id] }, ['fine', 'link', 'plain', 'fire']],
  [{ key: ['disk/*'] }, ['full', 'fine']],
  [{ key: ['disk/db-01', 'FIRE'] }, ['full', 'fire']],
  [{ key: ['*'] }, ['full', 'fine', 'fire']],
];

/** Several at once, with and without `not`. */
const combined: [object, (keyof typeof samples)[]][] = [
  [{}, ['full', 'fine', 'link', 'plain', 'deploy', 'fire']],
  [{ host: ['db-*'], minLevel: 'warning' }, ['full']],
  [{ host: ['db-*'], not: { minLevel: 'warning' } }, ['fine']],
  [{ ip: ['10.0.0.0/8'], not: { ip: ['10.9.0.0/16'] } }, ['full', 'deploy']],
  [{ not: { host: ['*'], key: ['*'] } }, ['plain', 'deploy']],
  [{ minLevel: 'info', title: { regex: '^[A-Z]' }, not: { token: ['ci'] } }, ['link', 'fire']],
];

test('each condition holds for what it names, negated for all else, and several hold together', async () => {
  const rules: [string, (keyof typeof samples)[]][] = [];
  const add = async (when: object, expected: (keyof typeof samples)[]) => {
    const name = JSON.stringify(when);
    const answer = await server.call('POST', '/api/rules', {
      token: key,
      json: { name, when, then: { panels: 'all' }, continue: true },
    });
    expect([name, answer.status, answer.json.error]).toEqual([name, 201, undefined]);
    rules.push([name, expected]);
  };
  for (const [when, expected] of conditions()) {
    await add(when, expected);
    await add(
      { not: when },
      Object.keys(samples).filter((sample) => !expected.includes(sample)),
    );
  }
  for (const [when, expected] of combined) await add(when, expected);
  for (const [sample, { by = 'cron', from, json }] of Object.entries(samples)) {
    const { id } = (
      await server.notify(tokens[by], json, from === undefined ? {} : { 'x-forwarded-for': from })
    ).json;
    const { rules: matched, trace } = (await server.call('GET', `/api/notifications/${id}`, { token: key }))
      .json;
    const expected = rules.flatMap(([name, names]) => (names.includes(sample) ? [name] : []));
    expect([sample, matched.map(({ name }: { name: string }) => name)]).toEqual([sample, expected]);
    const traced = trace.filter(({ outcome }: { outcome: string }) => outcome === 'matched');
    expect([sample, traced.map(({ name }: { name: string }) => name)]).toEqual([sample, expected]);
  }
});

test('a pattern made to take for ever takes no time', async () => {
  const tenant = 'patient';
  const [admin, token] = [await server.key('admin', tenant), await server.token({ tenant })];
  for (const message of [
    { regex: ['^(a+)+$', '(a|aa)+$', '^(.*a){20}$'] },
    { glob: `${'*a'.repeat(60)}*z` },
  ]) {
    const { status } = await server.call('POST', '/api/rules', {
      token: admin,
      json: { name: 'slow', when: { message }, then: { mute: true } },
    });
    expect(status).toBe(201);
  }
  for (const text of [`${'a'.repeat(16_000)}b`, 'ä'.repeat(16_000)]) {
    const began = performance.now();
    expect((await server.notify(token, { title: 't', message: text })).status).toBe(200);
    // An exponential one would take years.
    expect(performance.now() - began).toBeLessThan(limitMs(1_000));
  }
});
