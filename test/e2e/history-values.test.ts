import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let token: string;
let key: string;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_TRUSTED_PROXIES: '127.0.0.1' });
  [token, key] = [await server.token({ name: 'CI builds' }), await server.key('admin')];
  await server.token({ name: 'backup' });
  for (let i = 0; i < 30; i++) {
    const sent = {
      title: 't',
      message: 'm',
      host: `Web-${String(i).padStart(2, '0')}`,
      ip: `10.0.${i}.1`,
      key: `disk:${i}`,
    };
    await server.notify(token, sent, {
      'x-labels': `env=prod, Number=${i}`,
      'x-forwarded-for': `2001:db8::${i + 1}`,
    });
  }
  await server.notify(token, { title: 't', message: 'm', host: 'db-01', ip: '192.168.0.1', key: 'Disk:a' });
  await server.panel(token, 'NOC wall').then(({ stream }) => stream.close());
  await server.call('POST', '/api/rules', {
    token: key,
    json: { name: 'night mute', when: {}, then: { mute: true } },
  });
  await eventually(async () => expect(await values('host', 'db')).toEqual(['db-01']));
});
afterAll(() => server.stop());

async function values(name: string, prefix?: string): Promise<string[]> {
  const query = new URLSearchParams({ key: name, ...(prefix !== undefined && { prefix }) });
  const { status, json } = await server.call('GET', `/api/history/values?${query}`, { token: key });
  expect(status).toBe(200);
  return json.values;
}

test('hosts are completed without regard to case, at most twenty, in order', async () => {
  expect(await values('host', 'WEB-1')).toEqual(Array.from({ length: 10 }, (_, i) => `web-1${i}`));
  expect(await values('host', 'web-')).toHaveLength(20);
  expect((await values('host'))[0]).toBe('db-01');
  expect(await values('host', 'nothing')).toEqual([]);
});

test('addresses are completed as they are written, in order', async () => {
  expect(await values('ip', '10.0.2')).toEqual([
    '10.0.2.1',
    ...Array.from({ length: 10 }, (_, i) => `10.0.2${i}.1`),
  ]);
  expect(await values('ip', '192.')).toEqual(['192.168.0.1']);
  expect(await values('source', '2001:DB8::1')).toContain('2001:db8::19');
  expect(await values('source', '2001:db8::1')).not.toContain('2001:db8::2');
  expect(await values('ip', '300')).toEqual([]);
});

test('keys are completed in their own case, names in any', async () => {
  expect(await values('key', 'Disk')).toEqual(['Disk:a']);
  expect(await values('key', 'disk:1')).toHaveLength(11);
  expect(await values('token', 'ci')).toEqual(['CI builds']);
  expect(await values('panel', 'noc')).toEqual(['NOC wall']);
  expect(await values('rule', 'night')).toEqual(['night mute']);
  expect(await values('level', 'e')).toEqual(['error']);
  expect(await values('level')).toEqual(['critical', 'error', 'info', 'success', 'warning']);
});

test('labels are completed by name, then by value, without regard to case', async () => {
  expect(await values('label')).toEqual(['env=', 'number=']);
  expect(await values('label', 'E')).toEqual(['env=']);
  expect(await values('label', 'Env=')).toEqual(['env=prod']);
  expect(await values('label', 'number=2')).toHaveLength(11);
  expect(await values('label', 'other=')).toEqual([]);
});

test('an unknown key is refused with those that there are', async () => {
  const { status, json } = await server.call('GET', '/api/history/values?key=colour', { token: key });
  expect(status).toBe(400);
  expect(json.error).toMatch(/key.*host.*level/);
});

test('no tenant is completed with what is another’s', async () => {
  const other = await server.key('viewer', 'other');
  for (const name of ['host', 'label', 'ip', 'source', 'key', 'token', 'panel', 'rule']) {
    const { json } = await server.call('GET', `/api/history/values?key=${name}`, { token: other });
    expect([name, json.values]).toEqual([name, []]);
  }
});
