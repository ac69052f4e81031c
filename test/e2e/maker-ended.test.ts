import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseSecret } from '#core/people/secrets.ts';
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
async function late(
  path: string,
  header: string,
  end: () => Promise<unknown>,
  { method = 'POST', json = bodies[path as keyof typeof bodies] as object, hasRole = true } = {},
): Promise<number> {
  const body = JSON.stringify(json);
  const connection = await RawConnection.open(server.url);
  await connection.write(
    `${method} ${path} HTTP/1.1\r\nHost: ${new URL(server.url).host}\r\nOrigin: ${server.url}\r\n${header}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  );
  // Its caller is known once that of a later request is.
  const [name = '', value = ''] = header.split(': ');
  if (hasRole)
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
  expect([401, 403]).toContain(await late(path, ofKey, revoke));
  expect(await server.running.directory.invitations.list(tenant, Date.now())).toEqual([]);
  expect((await credentials.list(tenant, 'key')).length).toBe(before);
  expect(await credentials.list(tenant, 'token')).toEqual([]);
});

test.each(paths)('a body that takes its time is taken at %s while that right goes on', async (path) => {
  for (const header of [`Authorization: Bearer ${key}`, `Cookie: ${cookie}`])
    expect(await late(path, header, async () => undefined)).toBe(201);
});

test('nothing is changed by a body that arrives after the right of its caller has ended', async () => {
  const { members, tenants } = server.running.directory;
  const other = await server.key('owner', `makers-${made}`);
  const ofPerson = `Cookie: ${cookie}`;
  // By a request, because the server learns of a change in its database only with its next poll.
  const setRole = (role: string) =>
    server.call('PATCH', `/api/members/${person.id}`, { token: other, json: { role } });
  const demote = () => setRole('viewer');
  const promoted = { method: 'PATCH', json: { role: 'owner' } };
  expect(await late(`/api/members/${person.id}`, ofPerson, demote, promoted)).toBe(403);
  expect(await members.find(tenant, person.id)).toMatchObject({ role: 'viewer' });
  expect((await setRole('owner')).status).toBe(200);
  const retention = { method: 'PATCH', json: { retentionCount: 1 } };
  expect(await late('/api/tenant', ofPerson, demote, retention)).toBe(403);
  const revoke = () => server.call('DELETE', `/api/keys/${keyId()}`, { token: other });
  expect(await late('/api/tenant', `Authorization: Bearer ${key}`, revoke, retention)).toBe(401);
  expect(await tenants.get(tenant)).toMatchObject({ retentionCount: null });
  const signOut = () => server.running.accounts.endSessions(person.id, undefined);
  const renamed = { method: 'PATCH', json: { name: 'Eve' } };
  expect(await late('/api/account', ofPerson, signOut, renamed)).toBe(403);
  expect(await server.running.accounts.find(person.id)).toMatchObject({ name: person.name });
});

test('a body that arrives late is judged by the role that its sender has then', async () => {
  const other = await server.key('owner', `makers-${made}`);
  const { json: ofOwner } = await server.call('POST', '/api/keys', {
    token: other,
    json: { name: 'of an owner', role: 'owner' },
  });
  const demote = () =>
    server.call('PATCH', `/api/members/${person.id}`, { token: other, json: { role: 'admin' } });
  const revoked = { method: 'DELETE', json: { because: 'it arrives late' } };
  expect(await late(`/api/keys/${ofOwner.id}`, `Cookie: ${cookie}`, demote, revoked)).toBe(403);
  expect((await server.call('GET', '/api/levels', { token: ofOwner.key })).status).toBe(200);
});

test('a notification whose body arrives after its token was revoked is not stored', async () => {
  const json = { title: 'late', message: 'M', text: 'as to Slack' };
  for (const { known, signed } of [{ known: true }, { known: false }, { known: true, signed: true }]) {
    const token = await server.token({ tenant: `makers-${made}` });
    const id = parseSecret(token)?.id ?? '';
    if (known) expect((await server.notify(token, { title: 'T', message: 'M' })).status).toBe(200);
    const path = signed ? `/api/integrations/slack/${id}` : '/api/notify';
    const secret = await server.call('GET', `/api/tokens/${id}/signing-secret`, { token: key });
    const of = createHmac('sha256', secret.json.signingSecret).update(JSON.stringify(json)).digest('hex');
    const header = signed ? `X-Hub-Signature-256: sha256=${of}` : `Authorization: Bearer ${token}`;
    const send = (end: () => Promise<unknown>) =>
      late(path, header, async () => Promise.all([end(), sleep(500)]), { json, hasRole: false });
    expect(await send(async () => undefined)).toBe(200);
    expect(await send(() => server.call('DELETE', `/api/tokens/${id}`, { token: key }))).toBe(401);
  }
});

test('a body that turns out to be empty counts as a body that arrives late', async () => {
  const other = await server.key('owner', `makers-${made}`);
  const token = await server.token({ tenant: `makers-${made}` });
  const { json } = await server.notify(token, { title: 'T', message: 'M' });
  const connection = await RawConnection.open(server.url);
  await connection.write(
    `POST /api/notifications/${json.id}/clear HTTP/1.1\r\nHost: belfry.test\r\nAuthorization: Bearer ${key}\r\n` +
      'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
  );
  // The caller of that head is known once that of a later request is.
  expect((await server.call('GET', '/api/levels', { token: key })).status).toBe(200);
  await server.call('DELETE', `/api/keys/${keyId()}`, { token: other });
  await connection.write('0\r\n\r\n');
  expect((await connection.next())[0]?.status).toBe(401);
  connection.close();
});

test('a member who loses a role while a change is written does not write it', async () => {
  const { members } = server.running.directory;
  const { running } = server;
  const [session] = await running.accounts.sessionsOf(person.id, Date.now());
  const principal = {
    kind: 'person',
    ...person,
    tenant,
    role: 'owner',
    sessionId: session?.id ?? '',
  } as const;
  await members.setRole({ ...change(), role: 'viewer' });
  expect(await members.setRole({ ...change(), principal, role: 'owner' })).toBe('forbidden');
  expect(await members.remove({ ...change(), principal })).toBe('forbidden');
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

test('a screen gets no token once the right of whoever approved it has ended', async () => {
  const own = await create({ name: 'own', role: 'admin' }, byPerson());
  const approvedBy = async (headers: Record<string, string>) => {
    const { code, secret } = (await server.call('POST', '/api/pairings')).json;
    const approved = await server.call('POST', `/api/pairings/${code}/approve`, {
      headers,
      json: { name: 'wall' },
    });
    expect(approved.status).toBe(200);
    return () => server.call('GET', `/api/pairings/${secret}`);
  };
  const [byKey, byMember, byOther] = [
    await approvedBy({ authorization: `Bearer ${own.key}` }),
    await approvedBy({ cookie, origin: server.url }),
    await approvedBy({ authorization: `Bearer ${key}` }),
  ];
  expect((await server.call('DELETE', `/api/keys/${own.id}`, { token: key })).status).toBe(204);
  // Expired, or already swept.
  const refused = [410, 404];
  expect(refused).toContain((await byKey()).status);
  const change = { token: key, json: { role: 'member' } };
  expect((await server.call('PATCH', `/api/members/${person.id}`, change)).status).toBe(200);
  expect(refused).toContain((await byMember()).status);
  expect((await byOther()).json.state).toBe('approved');
});

test('a link that adds a device ends with the right of whoever made it', async () => {
  const own = await create({ name: 'own', role: 'admin' }, byPerson());
  const made = await server.call('POST', '/api/channels', {
    token: key,
    json: { name: 'phones', kind: 'push' },
  });
  expect(made.status).toBe(201);
  const link = async (headers: Record<string, string>) => {
    const { json } = await server.call('POST', `/api/channels/${made.json.id}/devices`, { headers });
    const secret = new URL(json.link).hash.slice(1);
    return async () => (await server.call('POST', '/api/push/link', { json: { secret } })).status;
  };
  const [byKey, byMember, byOther] = [
    await link({ authorization: `Bearer ${own.key}` }),
    await link({ cookie, origin: server.url }),
    await link({ authorization: `Bearer ${key}` }),
  ];
  expect((await server.call('DELETE', `/api/keys/${own.id}`, { token: key })).status).toBe(204);
  expect([await byKey(), await byMember()]).toEqual([410, 200]);
  const change = { token: key, json: { role: 'member' } };
  expect((await server.call('PATCH', `/api/members/${person.id}`, change)).status).toBe(200);
  expect([await byMember(), await byOther()]).toEqual([410, 200]);
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
