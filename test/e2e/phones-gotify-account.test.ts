import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { key, openGotify } from '#test/support/gotify-client.ts';
import { makePerson, password, TestBrowser } from '#test/support/person.ts';
import { TestServer } from '#test/support/server.ts';
import { totpCode } from '#test/support/totp.ts';

let server: TestServer;
beforeAll(async () => {
  // Only the limit of an account, which a network cannot exhaust for others.
  server = await TestServer.start({ BELFRY_RATE_AUTH: '100:1000' });
});
afterAll(() => server.stop());

const basic = (user: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`,
  'user-agent': 'okhttp/4.12.0',
});
const userOf = (user: string, secret = password) =>
  server.call('GET', '/gotify/current/user', { headers: basic(user, secret) });
const clientOf = (user: string, name = 'Pixel 8', secret = password) =>
  server.call('POST', '/gotify/client', { headers: basic(user, secret), json: { name } });

async function world() {
  const own = await server.newTenant();
  const admin = await makePerson(server, 'admin', { tenant: own.tenant });
  const get = async (path: string) => (await own.call('GET', `/api/${path}`)).json;
  const audit = async () => (await get('audit?limit=100')).entries as { action: string; detail: object }[];
  return { ...own, admin, get, audit };
}
const sessionsOf = (id: string) => server.running.accounts.sessionsOf(id, Date.now());

test('an admin signs in with the account, and the phone gets a token for its own panel', async () => {
  const { admin, get, send, audit } = await world();
  const before = (await userOf(admin.email)).json;
  expect(before).toEqual({ id: 1, name: 'Anna', admin: false });
  const { status, json: client } = await clientOf(admin.email);
  expect([status, client.name]).toEqual([200, 'Pixel 8']);
  expect(client.token).toMatch(/^bfy_/);
  const { panels } = await get('panels');
  expect(panels).toMatchObject([{ name: 'Pixel 8', kind: 'phone' }]);
  expect((await get('tokens')).tokens).toContainEqual(
    expect.objectContaining({
      ...{ name: 'Pixel 8', scopes: ['panel'], panelId: panels[0].id, createdBy: admin.email },
    }),
  );
  const stream = await openGotify(server.url, client.token);
  onTestFinished(() => stream.close());
  await send({ title: 'Disk full' });
  await stream.next(({ title }) => title === 'Disk full');
  // The sign-in leaves no session behind.
  expect(await sessionsOf(admin.id)).toEqual([]);
  expect((await audit()).filter(({ action }) => action === 'session.begin')[0]?.detail).toMatchObject({
    ...{ from: '127.0.0.1', with: 'Gotify' },
  });
  const signOut = await server.call('DELETE', '/gotify/client/1', { headers: key(client.token) });
  expect(signOut.status).toBe(200);
  expect((await server.call('GET', '/gotify/message', { headers: key(client.token) })).status).toBe(401);
});

test('the same name again is the same panel of this person, and another one of somebody else', async () => {
  const { admin, get, tenant } = await world();
  const other = await makePerson(server, 'owner', { tenant });
  const first = (await clientOf(admin.email)).json;
  const again = (await clientOf(admin.email)).json;
  expect(again.token).not.toBe(first.token);
  expect((await clientOf(other.email)).json.name).toBe('Pixel 8 (2)');
  expect((await clientOf(other.email)).json.name).toBe('Pixel 8 (2)');
  expect((await clientOf(admin.email, 'Tablet')).json.name).toBe('Tablet');
  const { panels } = await get('panels');
  expect(panels.map(({ name }: { name: string }) => name)).toEqual(['Pixel 8', 'Pixel 8 (2)', 'Tablet']);
});

test('a wrong password and an unknown account look alike, and the owner of the account sees the attempt', async () => {
  const { admin, audit } = await world();
  const wrong = await userOf(admin.email, 'not the password');
  const unknown = await userOf('nobody@example.org');
  expect([wrong.status, unknown.status]).toEqual([401, 401]);
  expect(wrong.json).toEqual(unknown.json);
  await expect.poll(async () => (await audit()).map(({ action }) => action)).toContain('session.refuse');
  const text = JSON.stringify(await audit());
  expect(text).not.toContain('not the password');
});

test('an account without a password cannot sign in', async () => {
  const { admin } = await world();
  const ofPerson = [{ column: 'person', operator: '=' as const, value: admin.id }];
  await server.running.accounts.rows.remove('sign_in_methods', ofPerson);
  expect((await clientOf(admin.email)).status).toBe(401);
});

test.each(['viewer', 'member'] as const)('a %s gets 403, and no panel', async (role) => {
  const { tenant, get } = await world();
  const { email, id } = await makePerson(server, role, { tenant });
  const answers = [await userOf(email), await clientOf(email)];
  expect(answers.map(({ status }) => status)).toEqual([403, 403]);
  expect(answers[1]?.json).toMatchObject({ error: expect.stringContaining('only an admin'), errorCode: 403 });
  expect([(await get('panels')).panels, await sessionsOf(id)]).toEqual([[], []]);
});

test('an account of several tenants names one before the address', async () => {
  const [one, two] = [await world(), await world()];
  const { email, id } = one.admin;
  const { members } = server.running.directory;
  await members.add(await server.tenant(two.tenant), id, 'viewer', 'test', Date.now());
  const unnamed = await userOf(email);
  expect([unnamed.status, unnamed.json.error]).toEqual([400, expect.stringContaining(`/${email}`)]);
  expect((await clientOf(`${one.tenant}/${email}`)).status).toBe(200);
  expect((await clientOf(`${two.tenant}/${email}`)).status).toBe(403);
  const foreign = await world();
  expect((await clientOf(`${foreign.tenant}/${email}`)).status).toBe(403);
  expect((await foreign.get('panels')).panels).toEqual([]);
  expect((await two.get('panels')).panels).toEqual([]);
});

test('an account with two-factor authentication is refused: the password alone is not enough', async () => {
  const { admin, get } = await world();
  const browser = await TestBrowser.of(server, admin);
  const { totpUri } = (await browser.post('/api/account/two-factor', { password })).json;
  await browser.post('/api/account/two-factor/verify', { code: totpCode(totpUri) });
  const { status, json } = await clientOf(admin.email);
  expect([status, json.error]).toEqual([403, expect.stringContaining('two-factor')]);
  expect((await get('panels')).panels).toEqual([]);
});

test('cookies beside the account are not read: a browser stays signed in, and a device that needs no code does not help', async () => {
  const { admin, get } = await world();
  const browser = await TestBrowser.of(server, admin);
  const client = () =>
    server.call('POST', '/gotify/client', {
      headers: { ...basic(admin.email, password), cookie: browser.cookie },
      json: { name: 'Pixel 8' },
    });
  const answer = await client();
  expect([answer.status, answer.headers.getSetCookie()]).toEqual([200, []]);
  expect((await browser.get('/api/account/sessions')).status).toBe(200);
  const { totpUri } = (await browser.post('/api/account/two-factor', { password })).json;
  await browser.post('/api/account/two-factor/verify', { code: totpCode(totpUri) });
  await browser.post('/api/session', { email: admin.email, password });
  const step = { code: totpCode(totpUri, 1), kind: 'totp', trustDevice: true };
  expect((await browser.post('/api/session/two-factor', step)).status).toBe(200);
  expect(browser.cookie).toContain('trusted_device');
  expect((await client()).status).toBe(403);
  expect((await get('panels')).panels).toHaveLength(1);
});

test('an account of a suspended tenant is refused', async () => {
  const { admin, tenant } = await world();
  const { tenants } = server.running.directory;
  await tenants.setState(await server.tenant(tenant), 'suspended', 'test', Date.now());
  const { status, json } = await clientOf(admin.email);
  expect([status, json.error]).toEqual([403, expect.stringContaining('suspended')]);
  expect(await sessionsOf(admin.id)).toEqual([]);
});

test('attempts are limited as those of the sign-in page are, together with them', async () => {
  const { admin } = await world();
  const guess = (i: number) =>
    i % 2 === 0
      ? userOf(admin.email, `wrong ${i}`)
      : server.call('POST', '/api/session', { json: { email: admin.email, password: `wrong ${i}` } });
  const statuses: number[] = [];
  for (let i = 0; i < 12; i++) statuses.push((await guess(i)).status);
  expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
  expect(statuses.slice(10)).toEqual([429, 429]);
});

test('a phone ends with the membership of the person who signed it in; tokens made in the dashboard stay', async () => {
  const { admin, get, call, tenant } = await world();
  const { token } = (await clientOf(admin.email)).json;
  const browser = await TestBrowser.of(server, admin);
  const panel = (await browser.post('/api/panels', { name: 'Ada’s phone', kind: 'phone' })).json;
  const made = { name: 'Ada’s phone', scopes: ['panel'], panelId: panel.id };
  const ofColleague = (await browser.post('/api/tokens', made)).json.token;
  const other = await makePerson(server, 'admin', { tenant });
  const ofOther = (await clientOf(other.email)).json.token;
  const { panels } = await get('panels');
  const signedIn = panels.find(({ name }: { name: string }) => name === 'Pixel 8 (2)');
  const second = { name: signedIn.name, scopes: ['panel'], panelId: signedIn.id };
  const secondOfOther = (await browser.post('/api/tokens', second)).json.token;
  const readWith = async (each: string) =>
    (await server.call('GET', '/gotify/message', { headers: key(each) })).status;
  const statuses = () => Promise.all([token, ofColleague, ofOther, secondOfOther].map(readWith));
  await call('PATCH', `/api/members/${admin.id}`, { role: 'member' });
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  const { tokens } = await get('tokens');
  const { id } = tokens.find(
    ({ name, createdBy }: { name: string; createdBy: string }) =>
      name === 'Pixel 8' && createdBy === admin.email,
  );
  expect((await call('DELETE', `/api/members/${admin.id}`)).status).toBe(204);
  expect(await statuses()).toEqual([401, 200, 200, 200]);
  const { entries } = await get('audit?action=member.remove');
  expect(entries[0].detail.revokedTokens).toEqual([`Pixel 8 (${id})`]);
});

test('the token of the phone stays when the password changes, and ends when an admin revokes it', async () => {
  const { admin, get, call } = await world();
  const { token } = (await clientOf(admin.email)).json;
  const browser = await TestBrowser.of(server, admin);
  const change = { currentPassword: password, newPassword: 'five small green lamps' };
  expect((await browser.post('/api/account/password', change)).status).toBe(204);
  const read = async () => (await server.call('GET', '/gotify/message', { headers: key(token) })).status;
  expect(await read()).toBe(200);
  expect((await clientOf(admin.email)).status).toBe(401);
  const { tokens } = await get('tokens');
  const { id } = tokens.find(({ name }: { name: string }) => name === 'Pixel 8');
  await call('DELETE', `/api/tokens/${id}`);
  expect(await read()).toBe(401);
});
