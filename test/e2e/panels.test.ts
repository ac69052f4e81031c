import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { TestServer } from '../support/server.ts';
import { openStream } from '../support/sse-client.ts';

let server: TestServer;
let token: string;
let key: string;
beforeAll(async () => {
  server = await TestServer.start();
  [token, key] = [await server.token(), await server.key('admin')];
});
afterAll(() => server.stop());

const register = (json: unknown, as = token) => server.call('POST', '/api/panels', { token: as, json });
const unknownId = '01890000-0000-7000-8000-000000000000';

test('registering a panel makes it, and registering the same name again answers the same panel unchanged', async () => {
  const first = await register({ name: 'Lobby', tags: ['front'], location: 'Hall' });
  expect(first.status).toBe(201);
  expect(first.json).toMatchObject({
    name: 'Lobby',
    tags: ['front'],
    location: 'Hall',
    display: {},
    events: `/api/panels/${first.json.id}/events`,
    online: false,
    lastSeenAt: null,
    lag: 0,
  });
  const again = await register({ name: 'Lobby', tags: ['other'], location: 'Cellar' });
  expect(again.status).toBe(200);
  expect(again.json).toEqual(first.json);
});

test('twenty screens that register one name at once are one panel', async () => {
  const answers = await Promise.all(Array.from({ length: 20 }, () => register({ name: 'Race' })));
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(19);
  expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1);
});

test('a panel of another kind than the named one is not taken for it', async () => {
  await register({ name: 'East wall' });
  const phone = await register({ name: 'East wall', kind: 'phone' });
  expect(phone.status).toBe(409);
  expect(phone.json.error).toBe('a panel of the kind screen is named "East wall": choose another name');
  expect((await register({ name: 'East wall', kind: 'screen' })).status).toBe(200);
});

test('a panel without tags and place has none', async () => {
  expect((await register({ name: 'Plain' })).json).toMatchObject({ tags: [], location: null });
});

test.each([
  [{}, 'name'],
  [{ name: '' }, 'name'],
  [{ name: ' x' }, 'name'],
  [{ name: 'x'.repeat(101) }, 'name'],
  [{ name: 'x', tags: ['UPPER'] }, 'tags'],
  [{ name: 'x', tags: ['a', 'a'] }, 'tags'],
  [{ name: 'x', tags: 'a' }, 'tags'],
  [{ name: 'x', location: 5 }, 'location'],
  [{ name: 'x', colour: 'red' }, 'colour'],
])('registering %j is refused, and the error names %s', async (json, named) => {
  const { status, json: body } = await register(json);
  expect(status).toBe(400);
  expect(body.error).toContain(named);
});

test('panels are listed by name, and one is read alone, by a token and by a viewer', async () => {
  await register({ name: 'aaa first' });
  const viewer = await server.key('viewer');
  for (const who of [token, viewer]) {
    const { json } = await server.call('GET', '/api/panels', { token: who });
    const names: string[] = json.panels.map(({ name }: { name: string }) => name);
    expect(names).toContain('aaa first');
    expect(names).toEqual(names.toSorted());
    const one = await server.call('GET', `/api/panels/${json.panels[0].id}`, { token: who });
    expect(one.json).toEqual(json.panels[0]);
  }
});

test('a panel is online while its stream is open, and was last seen when it closed', async () => {
  const began = Date.now();
  const { id, stream } = await server.panel(token, 'Comes and goes');
  const look = async () => (await server.call('GET', `/api/panels/${id}`, { token })).json;
  expect(await look()).toMatchObject({ online: true });
  stream.close();
  await eventually(async () => expect((await look()).online).toBe(false), { interval: 20 });
  const { lastSeenAt } = await look();
  expect(Date.parse(lastSeenAt)).toBeGreaterThanOrEqual(began);
  expect(Date.parse(lastSeenAt)).toBeLessThanOrEqual(Date.now());
});

test('the lag of a panel is what the log has beyond what it was sent, and none once it has caught up', async () => {
  const { id, stream } = await server.panel(token, 'Lagging');
  const look = async () => (await server.call('GET', `/api/panels/${id}`, { token })).json;
  const sent = (await server.notify(token, { title: 'seen', message: 'm' })).json.id;
  await stream.next(({ data }) => data.id === sent);
  expect((await look()).lag).toBe(0);
  stream.close();
  await eventually(async () => expect((await look()).online).toBe(false), { interval: 20 });
  for (let i = 0; i < 3; i++) await server.notify(token, { title: 'missed', message: 'm' });
  expect(await look()).toMatchObject({ online: false, lag: 3 });
  const back = await server.panel(token, 'Lagging');
  await eventually(async () => expect(await look()).toMatchObject({ online: true, lag: 0 }), {
    interval: 20,
  });
  back.stream.close();
});

test('a panel can be renamed, retagged, moved and redrawn, each alone', async () => {
  const { json: panel } = await register({ name: 'Before', tags: ['a'], location: 'Here' });
  const patch = async (json: unknown) =>
    (await server.call('PATCH', `/api/panels/${panel.id}`, { token: key, json })).json;
  expect(await patch({ name: 'After' })).toEqual({ ...panel, name: 'After' });
  expect(await patch({ tags: ['b', 'c'] })).toEqual({ ...panel, name: 'After', tags: ['b', 'c'] });
  expect(await patch({ location: null })).toMatchObject({ location: null, tags: ['b', 'c'] });
  const display = {
    scheme: 'dark',
    minLevel: 'warning',
    maxCards: 4,
    scale: 1.5,
    sound: true,
    timeZone: 'Europe/Berlin',
  };
  expect(await patch({ display })).toMatchObject({ display });
  expect(await patch({})).toMatchObject({ name: 'After', display });
  expect((await server.call('GET', `/api/panels/${panel.id}`, { token })).json).toMatchObject({
    name: 'After',
    tags: ['b', 'c'],
    display,
  });
});

test.each([
  [{ name: '' }, 400],
  [{ id: 'x' }, 400],
  [{ display: { scale: 99 } }, 400],
  [{ display: { timeZone: 'Mars/Olympus' } }, 400],
  [{ display: { minLevel: 'no-such-level' } }, 400],
  [{ display: { quietFrom: '25:00' } }, 400],
  [{ name: 'Taken' }, 409],
])('changing a panel to %j is refused with %i, and nothing of it is changed', async (json, status) => {
  await register({ name: 'Taken' });
  const { json: panel } = await register({ name: 'Refuses' });
  expect((await server.call('PATCH', `/api/panels/${panel.id}`, { token: key, json })).status).toBe(status);
  expect((await server.call('GET', `/api/panels/${panel.id}`, { token })).json).toEqual(panel);
});

test.each([
  [{ quietFrom: '22:00' }, 'display.quietFrom needs quietUntil'],
  [{ quietUntil: '06:00' }, 'display.quietUntil needs quietFrom'],
  [{ quietDays: ['mon'] }, 'display.quietDays needs quietFrom'],
  [{ dimFrom: '22:00' }, 'display.dimFrom needs dimUntil'],
  [{ dimUntil: '06:00' }, 'display.dimUntil needs dimFrom'],
])('a setting without the other one that it needs is refused: %j', async (display, error) => {
  const { json: panel } = await register({ name: 'Half' });
  const patch = (json: object) => server.call('PATCH', `/api/panels/${panel.id}`, { token: key, json });
  expect(await patch({ display })).toMatchObject({ status: 400, json: { error } });
  const whole = { quietFrom: '22:00', quietUntil: '06:00', dimFrom: '22:00', dimUntil: '06:00' };
  expect((await patch({ display: { ...whole, ...display } })).json.display).toMatchObject(display);
  expect((await patch({ display: {} })).json.display).toEqual({});
});

test('a deleted panel is gone, its stream is closed, and its name is free for another one', async () => {
  const { id, stream } = await server.panel(token, 'Doomed');
  expect((await server.call('DELETE', `/api/panels/${id}`, { token: key })).status).toBe(204);
  await stream.ended;
  expect((await server.call('GET', `/api/panels/${id}`, { token })).status).toBe(404);
  expect((await server.call('GET', `/api/panels/${id}/events`, { token })).status).toBe(404);
  expect((await server.call('DELETE', `/api/panels/${id}`, { token: key })).status).toBe(404);
  const fresh = await register({ name: 'Doomed' });
  expect(fresh.status).toBe(201);
  expect(fresh.json.id).not.toBe(id);
});

test('a panel that there is not, and one of another tenant, are the same 404', async () => {
  const foreign = await server.token({ tenant: 'elsewhere' });
  const { json: panel } = await register({ name: 'Theirs' }, foreign);
  const ask = async (method: string, path: string, as: string, json?: unknown) => {
    const { status, json: body } = await server.call(method, path, {
      token: as,
      ...(json !== undefined && { json }),
    });
    return { status, body };
  };
  for (const [method, path, as, json] of [
    ['GET', '/api/panels/:id', token],
    ['GET', '/api/panels/:id', key],
    ['GET', '/api/panels/:id/events', token],
    ['POST', '/api/panels/:id/receipts', token, []],
    ['PATCH', '/api/panels/:id', key, { name: 'Stolen' }],
    ['DELETE', '/api/panels/:id', key],
  ] as const) {
    const missing = await ask(method, path.replace(':id', unknownId), as, json);
    expect([method, path, missing.status]).toEqual([method, path, 404]);
    expect(await ask(method, path.replace(':id', panel.id), as, json)).toEqual(missing);
  }
  expect((await server.call('GET', `/api/panels/${panel.id}`, { token: foreign })).json).toEqual(panel);
});

test('what its newest screen says it is, and where from, is shown with the panel, and outlives the connection', async () => {
  const { json } = await register({ name: 'telling' });
  const path = `/api/panels/${json.id}`;
  const shown = async () => {
    const panel = (await server.call('GET', path, { token: key })).json;
    return [panel.online, panel.version, panel.address];
  };
  expect(await shown()).toEqual([false, null, null]);
  const open = async (client?: string) => {
    const headers = {
      authorization: `Bearer ${token}`,
      ...(client !== undefined && { 'belfry-client': client }),
    };
    const stream = await openStream(`${server.url}${path}/events`, headers);
    await stream.next(({ event }) => event === 'ready');
    return stream;
  };
  const older = await open('panel/0.9.0');
  await eventually(async () => expect(await shown()).toEqual([true, 'panel/0.9.0', '127.0.0.1']));
  const newer = await open('tail/0.2.0-rc.1');
  await eventually(async () => expect(await shown()).toEqual([true, 'tail/0.2.0-rc.1', '127.0.0.1']));
  older.close();
  newer.close();
  await eventually(async () => expect(await shown()).toEqual([false, expect.anything(), '127.0.0.1']));
  for (const odd of ['<script>', 'Panel/1', 'panel', `panel/${'1'.repeat(40)}`, undefined]) {
    const stream = await open(odd);
    await eventually(async () => expect([odd, ...(await shown())]).toEqual([odd, true, null, '127.0.0.1']));
    stream.close();
    await eventually(async () => expect((await shown())[0]).toBe(false));
  }
});
