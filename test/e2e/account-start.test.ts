import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { endServers, ServerProcess } from '../support/server-process.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'belfry-start-'));
});
afterEach(async () => {
  await endServers();
  rmSync(folder, { recursive: true, force: true });
});

const password = 'four plain brown boxes';
const post = async (url: string, path: string, body: object, cookie = '') => {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url, ...(cookie && { cookie }) },
    body: JSON.stringify(body),
  });
  const cookies = response.headers.getSetCookie().map((each) => each.split(';')[0] as string);
  return { status: response.status, cookies };
};

test('a server without an account prints the link that makes one, once; nothing of it stands in a log line', async () => {
  const env = { BELFRY_LOG_LEVEL: 'trace' };
  const server = await ServerProcess.start({ folder, env });
  const link = await server.printed(/Set up: http:\/\/127\.0\.0\.1:\d+\/setup#[0-9A-Za-z]{32}\n/);
  const secret = link.trim().split('#')[1] as string;
  const account = { secret, email: 'anna@example.org', name: 'Anna', password, tenantTitle: 'Acme' };
  const wrong = await post(server.url, '/api/setup', { ...account, secret: 'x' });
  const made = await post(server.url, '/api/setup', account);
  expect([wrong.status, made.status]).toEqual([403, 200]);
  const again = await post(server.url, '/api/session', { email: account.email, password });
  const failed = await post(server.url, '/api/session', {
    email: account.email,
    password: 'not the password',
  });
  expect([again.status, failed.status]).toEqual([200, 401]);
  const lines = server.output.split('\n').filter((line) => line.startsWith('{'));
  const tokens = [...made.cookies, ...again.cookies].map((pair) => pair.slice(pair.indexOf('=') + 1));
  for (const word of [secret, password, 'not the password', ...tokens])
    expect([word, lines.some((line) => line.includes(word))]).toEqual([word, false]);
  expect(statSync(join(folder, 'belfry.db.key')).mode & 0o777).toBe(0o600);

  await server.end('SIGTERM');
  const second = await ServerProcess.start({ folder, env });
  expect(second.output).not.toContain('Set up:');
  const [cookie = ''] = made.cookies;
  const { person } = (await (await fetch(`${second.url}/api/session`, { headers: { cookie } })).json()) as {
    person: unknown;
  };
  expect(person).toMatchObject({ email: account.email });
});

test('BELFRY_ADMIN_EMAIL and BELFRY_ADMIN_PASSWORD make the owner, once', async () => {
  const env = { BELFRY_ADMIN_EMAIL: 'Root@Example.org', BELFRY_ADMIN_PASSWORD: password };
  const server = await ServerProcess.start({ folder, env });
  expect(server.output).not.toContain('Set up:');
  const { status, cookies } = await post(server.url, '/api/session', { email: 'root@example.org', password });
  expect(status).toBe(200);
  const session = await fetch(`${server.url}/api/session`, { headers: { cookie: cookies.join('; ') } });
  expect(await session.json()).toMatchObject({ tenants: [{ name: 'default', role: 'owner' }] });
  await server.end('SIGTERM');
  const other = { BELFRY_ADMIN_EMAIL: 'eve@example.org', BELFRY_ADMIN_PASSWORD: password };
  const second = await ServerProcess.start({ folder, env: other });
  expect((await post(second.url, '/api/session', { email: 'eve@example.org', password })).status).toBe(401);
});
