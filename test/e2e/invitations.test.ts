import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Role } from '#contract/people/token.ts';
import { hashSecret } from '#core/people/secrets.ts';
import { makePerson } from '../support/person.ts';
import { TestServer } from '../support/server.ts';
import { testStore } from '../support/test-store.ts';

let server: TestServer;
let tenant = '';
let made = 0;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(() => server.stop());
beforeEach(() => {
  made += 1;
  tenant = `invitations-${made}`;
});

const call = async (
  method: string,
  path: string,
  as: Role,
  json?: unknown,
  headers: Record<string, string> = {},
) =>
  server.call(method, path, {
    token: await server.key(as, tenant),
    headers,
    ...(json !== undefined && { json }),
  });
const invite = (json: object, as: Role = 'owner') => call('POST', '/api/invitations', as, json);
const list = async () => (await call('GET', '/api/invitations', 'admin')).json.invitations;

test.skipIf(testStore === 'postgres')('the link is shown once, and only its hash is stored', async () => {
  const before = Date.now();
  const { status, json, headers } = await invite({ role: 'member', email: ' Zoe@Example.org'.trim() });
  expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
  expect(json).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    role: 'member',
    email: 'zoe@example.org',
    createdAt: expect.any(String),
    createdBy: 'key key',
    expiresAt: expect.any(String),
    secret: expect.stringMatching(/^[0-9A-Za-z]{32}$/),
    link: `${server.url}/invite#${json.secret}`,
  });
  const lifeMs = Date.parse(json.expiresAt) - Date.parse(json.createdAt);
  expect([lifeMs, Date.parse(json.createdAt) >= before]).toEqual([7 * 86_400_000, true]);
  const { secret, link: _, ...invitation } = json;
  const listed = await call('GET', '/api/invitations', 'admin');
  expect(listed.json.invitations).toEqual([invitation]);
  const audit = await call('GET', '/api/audit', 'admin');
  for (const text of [listed.text, audit.text]) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain(hashSecret(secret));
  }
  const stored = ['belfry.db', 'belfry.db-wal'].map((file) => readFileSync(join(server.folder, file)));
  expect(stored.some((bytes) => bytes.includes(hashSecret(secret)))).toBe(true);
  expect(stored.some((bytes) => bytes.includes(secret))).toBe(false);
});

test('one without an address is for whoever has the link', async () => {
  expect((await invite({ role: 'viewer' })).json.email).toBeNull();
  expect((await invite({ role: 'viewer', email: null })).json.email).toBeNull();
});

test('nobody invites above their own role, and nobody below admin at all', async () => {
  expect((await invite({ role: 'viewer' }, 'viewer')).status).toBe(403);
  expect((await invite({ role: 'viewer' }, 'member')).status).toBe(403);
  expect((await invite({ role: 'admin' }, 'admin')).status).toBe(201);
  expect((await invite({ role: 'owner' }, 'admin')).status).toBe(403);
  expect((await invite({ role: 'owner' }, 'owner')).status).toBe(201);
  for (const as of ['viewer', 'member'] as const)
    expect((await call('GET', '/api/invitations', as)).status).toBe(403);
});

test('one that was withdrawn or accepted waits no more', async () => {
  const [first, second, third] = [
    (await invite({ role: 'viewer' })).json,
    (await invite({ role: 'admin' })).json,
    (await invite({ role: 'member' })).json,
  ];
  expect((await list()).map(({ id }: { id: string }) => id)).toEqual([third.id, second.id, first.id]);
  expect((await call('DELETE', `/api/invitations/${first.id}`, 'admin')).status).toBe(204);
  expect((await call('DELETE', `/api/invitations/${first.id}`, 'admin')).status).toBe(404);
  const person = (await makePerson(server, 'viewer', { tenant: `${tenant}-elsewhere` })).id;
  const { invitations } = server.running.directory;
  await invitations.accept(hashSecret(second.secret), person, Date.now());
  expect((await list()).map(({ id }: { id: string }) => id)).toEqual([third.id]);
  expect((await call('DELETE', `/api/invitations/${second.id}`, 'admin')).status).toBe(404);
  expect((await call('GET', '/api/members', 'viewer')).json.members).toMatchObject([
    { id: person, role: 'admin' },
  ]);
});

test('an admin has no say about who is invited as an owner', async () => {
  const { id } = (await invite({ role: 'owner' })).json;
  expect((await call('DELETE', `/api/invitations/${id}`, 'admin')).status).toBe(403);
  expect((await call('DELETE', `/api/invitations/${id}`, 'member')).status).toBe(403);
  expect((await call('DELETE', `/api/invitations/${id}`, 'owner')).status).toBe(204);
});

test('one of another tenant is not there', async () => {
  const { id } = (await invite({ role: 'viewer' })).json;
  tenant = `${tenant}-other`;
  expect((await call('DELETE', `/api/invitations/${id}`, 'owner')).status).toBe(404);
  expect(await list()).toEqual([]);
});

test('who is a member already is not invited again', async () => {
  await makePerson(server, 'viewer', { tenant, email: `ann-${made}@example.org` });
  const { status, json } = await invite({ role: 'admin', email: `Ann-${made}@Example.org` });
  expect([status, json.error]).toEqual([409, expect.stringContaining('is a member of this tenant already')]);
});

test.each([
  {},
  { role: 'king' },
  { role: 'viewer', email: 'not an address' },
  { role: 'viewer', email: 'änna@example.org' },
  { role: 'viewer', email: 'root@localhost' },
  { role: 'viewer', email: `${'x'.repeat(250)}@example.org` },
  { role: 'viewer', more: true },
])('an invalid invitation is refused: %j', async (json) => {
  const { status, json: answer } = await invite(json);
  expect([status, answer.error]).toEqual([
    400,
    expect.stringMatching(/^role (is required|must be one of)|^the body has no field "more"|email/),
  ]);
  expect(await list()).toEqual([]);
});

test('the link leads to where the request went, as a trusted proxy tells it', async () => {
  const linkFor = async (headers: Record<string, string>) =>
    (await call('POST', '/api/invitations', 'owner', { role: 'viewer' }, headers)).json.link;
  expect(await linkFor({ 'x-forwarded-proto': 'https', 'x-forwarded-host': 'belfry.example.org' })).toMatch(
    /^https:\/\/belfry\.example\.org\/invite#/,
  );
  expect(
    await linkFor({
      'x-forwarded-proto': 'http, https',
      'x-forwarded-host': 'evil.example, belfry.example.org',
    }),
  ).toMatch(/^https:\/\/belfry\.example\.org\/invite#/);
});

test('BELFRY_BASE_URL goes before what a request says', async () => {
  const other = await TestServer.start({ BELFRY_BASE_URL: 'https://wall.example.org/' });
  try {
    const { json } = await other.call('POST', '/api/invitations', {
      token: await other.key('owner'),
      json: { role: 'viewer' },
      headers: { 'x-forwarded-host': 'evil.example' },
    });
    expect(json.link).toBe(`https://wall.example.org/invite#${json.secret}`);
  } finally {
    await other.stop();
  }
});

test('what a stranger writes in forwarding headers is in no link', async () => {
  const other = await TestServer.start();
  try {
    const { json } = await other.call('POST', '/api/invitations', {
      token: await other.key('owner'),
      json: { role: 'viewer' },
      headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
    });
    expect(json.link).toBe(`${other.url}/invite#${json.secret}`);
  } finally {
    await other.stop();
  }
});
