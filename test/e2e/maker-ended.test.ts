import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { parseSecret } from '../../src/core/secrets.ts';
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
  await new Promise((resolve) => setTimeout(resolve, 100));
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
