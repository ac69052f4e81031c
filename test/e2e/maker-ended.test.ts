import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseSecret } from '#core/secrets.ts';
import { makePerson, sessionCookie, type TestPerson } from '../support/person.ts';
import { RawConnection } from '../support/raw-http.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let tenant: number;
let key: string;
let person: TestPerson;
let cookie: string;
let made = 0;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  made += 1;
  tenant = await server.tenant(`makers-${made}`);
  key = await server.key('owner', `makers-${made}`);
  person = await makePerson(server, 'owner', { tenant: `makers-${made}` });
  await makePerson(server, 'owner', { tenant: `makers-${made}` });
  cookie = await sessionCookie(server, person);
});

const keyId = () => parseSecret(key)?.id ?? '';
const change = () => ({ tenant, person: person.id, as: 'owner', by: 'test', at: Date.now() }) as const;
const bodies = {
  '/api/invitations': { role: 'owner' },
  '/api/keys': { name: 'late', role: 'owner' },
  '/api/tokens': { name: 'late' },
};

/** What is answered when `end` happens between the head of a request and its body. */
async function late(path: keyof typeof bodies, header: string, end: () => Promise<unknown>): Promise<number> {
  const body = JSON.stringify(bodies[path]);
  const connection = await RawConnection.open(server.url);
  await connection.write(
    `POST ${path} HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nOrigin: ${server.url}\r\n${header}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  );
  // Its caller is known once that of a later request is.
  const [name = '', value = ''] = header.split(': ');
  expect((await server.call('GET', '/api/levels', { headers: { [name]: value } })).status).toBe(200);
  await end();
  await connection.write(body.slice(5));
  const [answer] = await connection.next();
  connection.close();
  return answer?.status ?? 0;
}

const paths = Object.keys(bodies) as (keyof typeof bodies)[];

test.each(paths)('nothing is made at %s once the right of its maker has ended', async (path) => {
  const { credentials, members } = server.running.directory;
  const before = (await credentials.list(tenant, 'key')).length;
  const ofKey = `Authorization: Bearer ${key}`;
  const ofPerson = `Cookie: ${cookie}`;
  expect(await late(path, ofPerson, () => members.setRole({ ...change(), role: 'viewer' }))).toBe(403);
  await members.setRole({ ...change(), role: 'owner' });
  expect(await late(path, ofPerson, () => members.remove(change()))).toBe(403);
  await members.add(tenant, person.id, 'owner', 'test', Date.now());
  const signOut = () => server.running.accounts.endSessions(person.id, undefined);
  expect(await late(path, ofPerson, signOut)).toBe(403);
  const revoke = () => credentials.revoke(tenant, 'key', keyId(), 'test', Date.now());
  expect(await late(path, ofKey, revoke)).toBe(403);
  expect(await server.running.directory.invitations.list(tenant, Date.now())).toEqual([]);
  expect((await credentials.list(tenant, 'key')).length).toBe(before);
  expect(await credentials.list(tenant, 'token')).toEqual([]);
});

test.each(paths)('a body that takes its time is taken at %s while that right goes on', async (path) => {
  for (const header of [`Authorization: Bearer ${key}`, `Cookie: ${cookie}`])
    expect(await late(path, header, async () => undefined)).toBe(201);
});

test('an invitation ends no later than the key that made it', async () => {
  const expiresAt = Date.now() + 3_600_000;
  const short = { name: 'short', role: 'owner', expiresAt: new Date(expiresAt).toISOString() };
  const { json } = await server.call('POST', '/api/keys', { token: key, json: short });
  const invited = await server.call('POST', '/api/invitations', {
    token: json.key,
    json: { role: 'member' },
  });
  expect([invited.status, invited.json.expiresAt]).toEqual([201, short.expiresAt]);
});

const byPerson = () => ({ cookie, origin: server.url });
const create = async (json: object, headers: Record<string, string>, token?: string) => {
  const made = await server.call('POST', '/api/keys', { json: { role: 'admin', ...json }, headers, token });
  expect(made.status).toBe(201);
  return made.json as { id: string; key: string; expiresAt: string | null; allowFrom: string[] };
};
const statusOf = async (token: string) => (await server.call('GET', '/api/levels', { token })).status;

test('a key ends with the right of the member who made it, and with it the keys and invitations that it made', async () => {
  const { members } = server.running.directory;
  const own = await create({ name: 'own', role: 'owner' }, byPerson());
  const second = await create({ name: 'second' }, {}, own.key);
  const invited = await server.call('POST', '/api/invitations', {
    token: second.key,
    json: { role: 'viewer' },
  });
  expect(invited.status).toBe(201);
  const change = { role: 'admin' };
  const patch = (json: object) => server.call('PATCH', `/api/members/${person.id}`, { token: key, json });
  expect((await patch(change)).status).toBe(200);
  // The role of an owner is gone; that of an admin the member may still give.
  expect([await statusOf(own.key), await statusOf(second.key)]).toEqual([401, 200]);
  expect((await patch({ role: 'member' })).status).toBe(200);
  expect([await statusOf(own.key), await statusOf(second.key)]).toEqual([401, 401]);
  expect(await server.running.directory.invitations.list(tenant, Date.now())).toEqual([]);
  const { entries } = (await server.call('GET', '/api/audit?action=member.update', { token: key })).json;
  expect(entries[0].detail.revokedKeys).toEqual([`second (${second.id})`]);
  expect(await members.find(tenant, person.id)).toMatchObject({ role: 'member' });
});

test('a key ends with the member who is removed; one of another member goes on', async () => {
  const own = await create({ name: 'own', role: 'viewer' }, byPerson());
  const other = await create({ name: 'other' }, {}, key);
  expect((await server.call('DELETE', `/api/members/${person.id}`, { token: key })).status).toBe(204);
  expect([await statusOf(own.key), await statusOf(other.key)]).toEqual([401, 200]);
});

test('a key that is revoked takes the keys along that it made', async () => {
  const first = await create({ name: 'first' }, byPerson());
  const second = await create({ name: 'second' }, {}, first.key);
  const third = await create({ name: 'third' }, {}, second.key);
  expect((await server.call('DELETE', `/api/keys/${first.id}`, { token: key })).status).toBe(204);
  for (const each of [first, second, third]) expect(await statusOf(each.key)).toBe(401);
  expect(await statusOf(key)).toBe(200);
});

test('a key makes none that lives longer or is good from more addresses; what is not named is its own', async () => {
  const expiresAt = new Date(Date.now() + 3_600_000).toISOString();
  const later = new Date(Date.now() + 7_200_000).toISOString();
  const bound = await create({ name: 'bound', expiresAt, allowFrom: ['127.0.0.0/8', '::1'] }, byPerson());
  const made = await create({ name: 'same' }, {}, bound.key);
  expect(made).toMatchObject({ expiresAt, allowFrom: ['127.0.0.0/8', '::1'] });
  await create({ name: 'less', allowFrom: ['127.0.0.1'] }, {}, bound.key);
  for (const [wanted, error] of [
    [{ expiresAt: later }, /^expiresAt must be .+ at the latest/],
    [{ allowFrom: [] }, /^allowFrom must lie within 127\.0\.0\.0\/8, ::1/],
    [{ allowFrom: ['127.0.0.0/7'] }, /^allowFrom must lie within/],
    [{ allowFrom: ['127.0.0.1', '10.0.0.1'] }, /^allowFrom must lie within/],
    [{ role: 'owner' }, /^forbidden$/],
  ] as const) {
    const json = { name: 'more', role: 'admin', ...wanted };
    const refused = await server.call('POST', '/api/keys', { token: bound.key, json });
    expect([refused.status, refused.json]).toEqual([403, { error: expect.stringMatching(error) }]);
  }
});
