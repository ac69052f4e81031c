import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Role } from '#contract/people/token.ts';
import { makePerson } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let tenant = '';
let keys: Record<Role, string>;
let made = 0;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  made += 1;
  tenant = `members-${made}`;
  await server.tenant(tenant);
  const [viewer, member, admin, owner] = await Promise.all([
    server.key('viewer', tenant),
    server.key('member', tenant),
    server.key('admin', tenant),
    server.key('owner', tenant),
  ]);
  keys = { viewer, member, admin, owner };
});

const call = (method: string, path: string, as: Role, json?: unknown) =>
  server.call(method, path, { token: keys[as], ...(json !== undefined && { json }) });
const addMember = async (role: Role, who: { name?: string; email?: string } = {}, of = tenant) =>
  (await makePerson(server, role, { tenant: of, ...who })).id;
const roleOf = async (id: string) =>
  (await call('GET', '/api/members', 'viewer')).json.members.find((each: { id: string }) => each.id === id)
    ?.role;

test('everybody sees the members, by name', async () => {
  const zoe = await addMember('owner', { name: 'Zoe', email: 'zoe@example.org' });
  const ann = await addMember('viewer', { name: 'Ann' });
  const { status, json } = await call('GET', '/api/members', 'viewer');
  expect([status, json.members.map(({ id }: { id: string }) => id)]).toEqual([200, [ann, zoe]]);
  expect(json.members[1]).toEqual({
    id: zoe,
    email: 'zoe@example.org',
    name: 'Zoe',
    role: 'owner',
    twoFactor: false,
    joinedAt: expect.stringMatching(/^20\d\d-/),
    lastSeenAt: null,
  });
});

test('an admin gives roles up to admin, an owner every role', async () => {
  const person = await addMember('viewer');
  const give = async (role: string, as: Role) =>
    (await call('PATCH', `/api/members/${person}`, as, { role })).status;
  expect(await give('member', 'viewer')).toBe(403);
  expect(await give('member', 'member')).toBe(403);
  const { status, json } = await call('PATCH', `/api/members/${person}`, 'admin', { role: 'admin' });
  expect([status, json.role, json.id]).toEqual([200, 'admin', person]);
  expect(await give('owner', 'admin')).toBe(403);
  expect(await give('owner', 'owner')).toBe(200);
  expect(await give('viewer', 'admin')).toBe(403);
  expect(await roleOf(person)).toBe('owner');
});

test('the last owner is neither demoted nor removed, and the answer says what to do', async () => {
  const last = await addMember('owner');
  for (const { status, json } of [
    await call('PATCH', `/api/members/${last}`, 'owner', { role: 'admin' }),
    await call('DELETE', `/api/members/${last}`, 'owner'),
  ])
    expect([status, json.error]).toEqual([
      409,
      expect.stringContaining('make another member an owner first'),
    ]);
  await addMember('owner');
  expect((await call('PATCH', `/api/members/${last}`, 'owner', { role: 'viewer' })).status).toBe(200);
  expect((await call('DELETE', `/api/members/${last}`, 'admin')).status).toBe(204);
  expect(await roleOf(last)).toBeUndefined();
});

test('of two owners who are demoted at the same moment one stays', async () => {
  const owners = [await addMember('owner'), await addMember('owner')];
  const answers = await Promise.all(
    owners.map((id) => call('PATCH', `/api/members/${id}`, 'owner', { role: 'viewer' })),
  );
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  expect((await Promise.all(owners.map(roleOf))).toSorted()).toEqual(['owner', 'viewer']);
});

test('an owner is removed by owners alone, others by admins too, and by nobody below', async () => {
  await addMember('owner');
  const [owner, member] = [await addMember('owner'), await addMember('member')];
  for (const as of ['viewer', 'member'] as const)
    expect((await call('DELETE', `/api/members/${member}`, as)).status).toBe(403);
  expect((await call('DELETE', `/api/members/${owner}`, 'admin')).status).toBe(403);
  expect((await call('DELETE', `/api/members/${owner}`, 'owner')).status).toBe(204);
  expect((await call('DELETE', `/api/members/${member}`, 'admin')).status).toBe(204);
  expect((await call('DELETE', `/api/members/${member}`, 'admin')).status).toBe(404);
});

test('a person who is a member elsewhere is nobody here', async () => {
  const elsewhere = await addMember('viewer', {}, `${tenant}-other`);
  for (const id of [elsewhere, 'nobody']) {
    const patch = await call('PATCH', `/api/members/${id}`, 'owner', { role: 'admin' });
    const remove = await call('DELETE', `/api/members/${id}`, 'owner');
    expect([patch.status, patch.json.error, remove.status, remove.json.error]).toEqual([
      404,
      'member not found',
      404,
      'member not found',
    ]);
  }
  const other = await server.key('viewer', `${tenant}-other`);
  expect((await server.call('GET', '/api/members', { token: other })).json.members).toMatchObject([
    { id: elsewhere, role: 'viewer' },
  ]);
});

test.each([{}, { role: 'king' }, { role: null }, { role: 'admin', more: 1 }, []])(
  'a bad change is an error: %j',
  async (json) => {
    const person = await addMember('viewer');
    const { status, json: answer } = await call('PATCH', `/api/members/${person}`, 'owner', json);
    expect([status, answer.error]).toEqual([
      400,
      expect.stringMatching(/^role (is required|must be one of)|^the body /),
    ]);
    expect(await roleOf(person)).toBe('viewer');
  },
);

test('a change of role and a removal stand in the audit log, with who made them', async () => {
  const person = await addMember('viewer', { email: `told-${made}@example.org` });
  await call('PATCH', `/api/members/${person}`, 'owner', { role: 'admin' });
  await call('DELETE', `/api/members/${person}`, 'owner');
  const { json } = await call('GET', `/api/audit?subject=${person}`, 'admin');
  expect(json.entries).toMatchObject([
    { action: 'member.remove', by: 'key key', detail: { email: `told-${made}@example.org`, role: 'admin' } },
    { action: 'member.update', detail: { before: { role: 'viewer' }, after: { role: 'admin' } } },
    { action: 'member.add', by: 'test' },
  ]);
});
