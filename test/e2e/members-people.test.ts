import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Role } from '#contract/people/token.ts';
import { limitMs } from '../support/patience.ts';
import { makePerson, password, TestBrowser } from '../support/person.ts';
import { TestServer } from '../support/server.ts';
import { openStream, type SseReader } from '../support/sse-client.ts';

let server: TestServer;
let tenant = '';
let made = 0;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  made += 1;
  tenant = `people-${made}`;
  await server.tenant(tenant);
});

interface Somebody {
  readonly id: string;
  readonly email: string;
  readonly browser: TestBrowser;
}

const join = async (role: Role): Promise<Somebody> => {
  const person = await makePerson(server, role, { tenant });
  return { ...person, browser: await TestBrowser.of(server, person) };
};
const give = ({ browser }: Somebody, { id }: Somebody, role: Role) =>
  browser.call('PATCH', `/api/members/${id}`, { json: { role } });
const remove = ({ browser }: Somebody, { id }: Somebody) => browser.call('DELETE', `/api/members/${id}`);
const makesRule = ({ browser }: Somebody) =>
  browser.post('/api/rules', { name: 'mine', then: { mute: true } }).then(({ status }) => status);

/** How long the stream goes on from now; it is begun when this is called. */
const lifeOf = async (stream: SseReader, from: number): Promise<number> => {
  await stream.ended;
  return performance.now() - from;
};

test('a change of role is in force with the next request, and the audit log names the address of who made it', async () => {
  const [owner, other] = [await join('owner'), await join('viewer')];
  expect(await makesRule(other)).toBe(403);
  expect((await give(owner, other, 'admin')).json).toMatchObject({ id: other.id, role: 'admin' });
  expect(await makesRule(other)).toBe(201);
  expect((await give(owner, other, 'member')).status).toBe(200);
  expect(await makesRule(other)).toBe(403);
  const { json } = await owner.browser.get(`/api/audit?subject=${other.id}&action=member.update`);
  expect(json.entries).toMatchObject([
    { by: owner.email, detail: { email: other.email, before: { role: 'admin' }, after: { role: 'member' } } },
    { by: owner.email, detail: { before: { role: 'viewer' }, after: { role: 'admin' } } },
  ]);
  expect((await owner.browser.get('/api/session')).json.tenants).toMatchObject([
    { name: tenant, role: 'owner' },
  ]);
});

test('what another process has just given a person is in force with the next request, also for one with a body', async () => {
  const owner = await join('owner');
  expect(await makesRule(owner)).toBe(201);
  // The server has the tenant's members in memory now, and these come from elsewhere.
  const newcomer = await join('admin');
  expect(await makesRule(newcomer)).toBe(201);
  const viewer = await join('viewer');
  expect(await makesRule(viewer)).toBe(403);
  const change = { tenant: await server.tenant(tenant), person: viewer.id, as: 'owner' } as const;
  await server.running.directory.members.setRole({ ...change, role: 'admin', by: 'test', at: Date.now() });
  expect(await makesRule(viewer)).toBe(201);
  const makesOwner = () => viewer.browser.post('/api/keys', { name: 'k', role: 'owner' });
  expect((await makesOwner()).status).toBe(403);
  await server.running.directory.members.setRole({ ...change, role: 'owner', by: 'test', at: Date.now() });
  expect((await makesOwner()).status).toBe(201);
});

test('an admin makes no owner, and touches none', async () => {
  const [owner, admin, viewer] = [await join('owner'), await join('admin'), await join('viewer')];
  await join('owner');
  expect((await give(admin, viewer, 'owner')).status).toBe(403);
  expect((await give(admin, admin, 'owner')).status).toBe(403);
  expect((await give(admin, owner, 'viewer')).status).toBe(403);
  expect((await remove(admin, owner)).status).toBe(403);
  expect((await give(admin, viewer, 'admin')).status).toBe(200);
  expect((await give(owner, viewer, 'owner')).status).toBe(200);
});

test('a removed member is refused at once, and the open streams end within two seconds', async () => {
  const [owner, other] = [await join('owner'), await join('viewer')];
  const token = await server.token({ tenant });
  const { json: panel } = await server.call('POST', '/api/panels', { token, json: { name: 'Wall' } });
  const paths = ['/api/history/stream', `/api/panels/${panel.id}/events`];
  const streams = await Promise.all(
    paths.map((path) => openStream(server.url + path, other.browser.headers)),
  );
  for (const stream of streams) await stream.next(({ event }) => event === 'ready');
  const stays = await openStream(`${server.url}/api/history/stream`, owner.browser.headers);
  await stays.next(({ event }) => event === 'ready');
  expect((await remove(owner, other)).status).toBe(204);
  const from = performance.now();
  for (const path of ['/api/history', '/api/panels', '/api/members', '/api/tenant'])
    expect([path, (await other.browser.get(path)).status]).toEqual([path, 403]);
  for (const life of await Promise.all(streams.map((stream) => lifeOf(stream, from))))
    expect(life).toBeLessThan(limitMs(2_000));
  // Signed in as before, and a member of nothing.
  expect((await other.browser.get('/api/session')).json).toMatchObject({
    person: { id: other.id },
    tenants: [],
  });
  await server.notify(token, { title: 'still here', message: 'm' });
  await stays.next(({ data }) => data.title === 'still here');
  stays.close();
});

test('removed from one tenant, one is what one was in another', async () => {
  const owner = await join('owner');
  const other = await join('viewer');
  await server.running.directory.members.add(
    await server.tenant(`${tenant}-too`),
    other.id,
    'admin',
    'test',
    Date.now(),
  );
  const inTenant = async (name: string) =>
    (await other.browser.call('GET', '/api/keys', { headers: { 'belfry-tenant': name } })).status;
  expect([await inTenant(tenant), await inTenant(`${tenant}-too`)]).toEqual([403, 200]);
  await remove(owner, other);
  expect((await other.browser.get('/api/keys')).status).toBe(200);
  expect(await inTenant(tenant)).toBe(403);
});

test('anybody may leave, and nobody below admin removes another', async () => {
  const [owner, viewer, member] = [await join('owner'), await join('viewer'), await join('member')];
  expect((await remove(viewer, member)).status).toBe(403);
  expect((await remove(member, viewer)).status).toBe(403);
  expect((await remove(viewer, viewer)).status).toBe(204);
  expect((await viewer.browser.get('/api/members')).status).toBe(403);
  const { json } = await owner.browser.get(`/api/audit?subject=${viewer.id}&action=member.remove`);
  expect(json.entries).toMatchObject([{ by: viewer.email, detail: { role: 'viewer' } }]);
});

test('the last owner stays; one who has made another owner may step down or leave', async () => {
  const [owner, heir] = [await join('owner'), await join('member')];
  for (const { status, json } of [await remove(owner, owner), await give(owner, owner, 'viewer')])
    expect([status, json.error]).toEqual([409, expect.stringContaining('the last owner')]);
  expect((await give(owner, heir, 'owner')).status).toBe(200);
  expect((await give(owner, owner, 'viewer')).json).toMatchObject({ role: 'viewer' });
  expect((await give(owner, heir, 'viewer')).status).toBe(403);
  expect((await remove(heir, heir)).status).toBe(409);
});

test('two owners who remove each other at the same moment leave one behind', async () => {
  for (let round = 0; round < 5; round++) {
    const [a, b] = [await join('owner'), await join('owner')];
    const answers = await Promise.all([remove(a, b), remove(b, a)]);
    expect(answers.map(({ status }) => status).toSorted()[0]).toBe(204);
    const owners = await server.running.directory.members.list(await server.tenant(tenant));
    expect(owners).toHaveLength(1);
    tenant = `people-${made}-${round}`;
    await server.tenant(tenant);
  }
});

test('when somebody was last here is known some seconds later', async () => {
  const [owner, viewer] = [await join('owner'), await join('viewer')];
  const seen = async () =>
    (await owner.browser.get('/api/members')).json.members.find(({ id }: Somebody) => id === viewer.id)
      .lastSeenAt;
  expect(await seen()).toBeNull();
  const before = Date.now();
  await viewer.browser.get('/api/history');
  await expect.poll(seen, { interval: 250 }).not.toBeNull();
  expect(Date.parse(await seen())).toBeGreaterThanOrEqual(before);
});

test('who accepts an invitation is a member at once, in its role and no other, and the audit log tells who asked them', async () => {
  const admin = await join('admin');
  const { secret, id } = (await admin.browser.post('/api/invitations', { role: 'member' })).json;
  const guest = new TestBrowser(server);
  const account = { email: `guest-${made}@example.org`, name: 'Guest', password };
  expect((await guest.post('/api/invitations/accept', { secret, account })).status).toBe(200);
  expect((await guest.get('/api/session')).json.tenants).toMatchObject([{ name: tenant, role: 'member' }]);
  const { members } = (await guest.get('/api/members')).json;
  const known = members.find(({ email }: Somebody) => email === account.email);
  expect(known).toMatchObject({ name: 'Guest', role: 'member' });
  expect((await guest.get('/api/audit')).status).toBe(403);
  expect((await guest.post('/api/invitations', { role: 'viewer' })).status).toBe(403);
  const { entries } = (await admin.browser.get(`/api/audit?subject=${known.id}`)).json;
  expect(entries).toMatchObject([
    {
      action: 'member.add',
      by: account.email,
      detail: { role: 'member', invitation: id, invitedBy: admin.email },
    },
  ]);
});

test('an invitation by a person names them, and goes with them', async () => {
  const [owner, admin] = [await join('owner'), await join('admin')];
  const { json } = await admin.browser.post('/api/invitations', { role: 'admin' });
  expect(json.createdBy).toBe(admin.email);
  expect((await admin.browser.post('/api/invitations', { role: 'owner' })).status).toBe(403);
  await give(owner, admin, 'member');
  expect((await owner.browser.get('/api/invitations')).json.invitations).toEqual([]);
});
