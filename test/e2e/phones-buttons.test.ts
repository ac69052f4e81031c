import { request } from 'node:http';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { appHeaders, type NtfyEvent, subscribe } from '#test/support/ntfy-client.ts';
import { TestServer } from '#test/support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(() => server.stop());

const titled = (title: string) => (event: NtfyEvent) => event.title === title;
const cleared = ({ event }: NtfyEvent) => event === 'message_clear';

/** A phone that follows the topic `ada`. */
async function world() {
  const { tenant, send, call } = await server.newTenant();
  const token = await server.token({ tenant, scopes: ['panel'], name: 'phone' });
  const stream = await subscribe(`${server.url}/ntfy/ada/json?since=none`, appHeaders(token));
  onTestFinished(() => stream.close());
  await stream.next(({ event }) => event === 'open');
  const panel = async () => (await call('GET', '/api/panels')).json.panels[0];
  const set = async (display: object) => call('PATCH', `/api/panels/${(await panel()).id}`, { display });
  return { tenant, token, send, call, stream, panel, set };
}

/** As the app does: without its user. */
async function press(message: NtfyEvent, id = 'acknowledge') {
  const url = message.actions?.find((action) => action.id === id)?.url ?? '';
  const response = await fetch(url, { method: 'POST' });
  return { status: response.status, json: (await response.json()) as { by?: string; error?: string } };
}

test('the button of a notification acknowledges its alarm, and takes it off every phone', async () => {
  const { send, stream, call } = await world();
  const sent = await send({ title: 'Disk full', level: 'error', key: 'disk' });
  const message = await stream.next(titled('Disk full'));
  expect(message.actions).toMatchObject([{ id: 'acknowledge', label: 'Acknowledge', clear: true }]);
  expect(JSON.stringify(message)).not.toContain('bfy_');
  expect(await press(message)).toEqual({ status: 200, json: { by: 'phone ada' } });
  expect(await stream.next(cleared)).toMatchObject({ sequence_id: message.sequence_id });
  expect((await call('GET', `/api/alarms/${sent}`)).json).toMatchObject({
    ...{ state: 'acknowledged', acknowledged: { by: 'phone ada' } },
  });
  // Pressed twice, as when the first answer was lost.
  expect(await press(message)).toEqual({ status: 200, json: { by: 'phone ada' } });
});

test('a button counts only until the alarm comes back, which then comes with a new one', async () => {
  const { send, stream, call, token } = await world();
  const sent = await send({ title: 'one', level: 'error' });
  const first = await stream.next(titled('one'));
  expect((await press(first)).status).toBe(200);
  await call('DELETE', `/api/alarms/${sent}/acknowledge`);
  const isBack = (event: NtfyEvent) => titled('one')(event) && event.id !== first.id;
  const back = await stream.next(isBack);
  expect(await press(first)).toMatchObject({ status: 409, json: { error: expect.any(String) } });
  expect((await call('GET', `/api/alarms/${sent}`)).json.state).toBe('open');
  expect(await press(back)).toEqual({ status: 200, json: { by: 'phone ada' } });
  await call('DELETE', `/api/alarms/${sent}/acknowledge`);
  const { text } = await server.call('GET', '/ntfy/ada/json?poll=1', { token });
  expect(await press(JSON.parse(text))).toEqual({ status: 200, json: { by: 'phone ada' } });
});

test('the button of an earlier notification counts for the one that took its place, until that comes back', async () => {
  const { send, stream, call } = await world();
  await send({ title: 'warning', level: 'warning', key: 'disk' });
  const first = await stream.next(titled('warning'));
  await send({ title: 'error', level: 'error', key: 'disk' });
  const second = await stream.next(titled('error'));
  expect((await press(first)).status).toBe(200);
  const back = async () => {
    const [{ id }] = (await call('GET', '/api/alarms')).json.alarms;
    await call('DELETE', `/api/alarms/${id}/acknowledge`);
    return (await call('GET', `/api/alarms/${id}`)).json.state;
  };
  expect(await back()).toBe('open');
  expect((await press(first)).status).toBe(409);
  expect((await press(second)).status).toBe(409);
  await send({ title: 'critical', level: 'critical', key: 'disk' });
  const third = await stream.next(titled('critical'));
  expect((await press(first)).status).toBe(409);
  expect((await press(third)).status).toBe(200);
});

test('the setting of the panel says which buttons there are, in its language', async () => {
  const { send, stream, call, set } = await world();
  await set({ actions: 'shelve', locale: 'de-DE' });
  const sent = await send({ title: 'one', level: 'error' });
  const message = await stream.next(titled('one'));
  expect(message.actions?.map(({ label }) => label)).toEqual(['Quittieren', '1 h zurückstellen']);
  expect(await press(message, 'shelve')).toEqual({ status: 200, json: { by: 'phone ada' } });
  const { state, shelved } = (await call('GET', `/api/alarms/${sent}`)).json;
  expect([state, Date.parse(shelved.until) - Date.parse(shelved.at)]).toEqual(['shelved', 3_600_000]);
  const { entries } = (await call('GET', '/api/audit')).json;
  expect(entries).toContainEqual(expect.objectContaining({ action: 'alarm.shelve', by: 'phone ada' }));
  await set({ actions: 'none' });
  await send({ title: 'two', level: 'error' });
  const second = await stream.next(titled('two'));
  expect(second.actions).toBeUndefined();
  expect((await press(message)).status).toBe(403);
});

test('callers that may not acknowledge alarms get no buttons, and a phone loses them with its scope', async () => {
  const { tenant, send, stream, call } = await world();
  await send({ title: 'one', level: 'error' });
  const message = await stream.next(titled('one'));
  const read = async (token: string): Promise<NtfyEvent> =>
    JSON.parse((await server.call('GET', '/ntfy/ada/json?poll=1', { token })).text);
  expect((await read(await server.key('viewer', tenant))).actions).toBeUndefined();
  expect((await press(await read(await server.key('member', tenant)))).status).toBe(200);
  const { tokens } = (await call('GET', '/api/tokens')).json;
  const { id } = tokens.find(({ name }: { name: string }) => name === 'phone');
  await call('PATCH', `/api/tokens/${id}`, { scopes: ['notify'] });
  expect((await press(message)).status).toBe(403);
});

test('the buttons post to the address at which the phone reads', async () => {
  const { token, send } = await world();
  const opened: string[] = [];
  const reading = ['one.example', 'two.example'].map((host) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const read = request(
      `${server.url}/ntfy/ada/json?since=none`,
      { headers: { ...appHeaders(token), host } },
      async (answer) => {
        let text = '';
        for await (const chunk of answer) {
          if (text === '') opened.push(host);
          text += String(chunk);
          if (text.includes('"actions"')) break;
        }
        resolve(text);
      },
    );
    onTestFinished(() => void read.destroy());
    read.on('error', reject).end();
    return promise;
  });
  await expect.poll(() => opened.length).toBe(2);
  await send({ title: 'one', level: 'error' });
  const bases = (await Promise.all(reading)).map((text) => /http:\/\/[^/]+/.exec(text)?.[0]);
  expect(bases).toEqual(['http://one.example', 'http://two.example']);
});

test('a button works only from the addresses of the token, also behind a proxy', async () => {
  const { tenant, send, call } = await world();
  const token = await server.token({ tenant, scopes: ['panel'], allowFrom: ['10.1.0.0/16'] });
  const from = (address: string) => ({ 'x-forwarded-for': address });
  const id = await send({ title: 'one', level: 'error' });
  const read = await server.call('GET', '/ntfy/ada/json?poll=1', { token, headers: from('10.1.2.3') });
  const url = (JSON.parse(read.text) as NtfyEvent).actions?.[0]?.url ?? '';
  const pressFrom = async (address: string) =>
    (await fetch(url, { method: 'POST', headers: from(address) })).status;
  expect([await pressFrom('10.2.0.1'), await pressFrom('10.1.0.1, 203.0.113.9')]).toEqual([404, 404]);
  expect((await call('GET', `/api/alarms/${id}`)).json.state).toBe('open');
  expect(await pressFrom('203.0.113.9, 10.1.0.1')).toBe(200);
  expect((await call('GET', `/api/alarms/${id}`)).json.state).toBe('acknowledged');
});

test('what is wrong with nothing has no button', async () => {
  const { send, stream } = await world();
  await send({ title: 'done', level: 'success' });
  expect((await stream.next(titled('done'))).actions).toBeUndefined();
});

test('a button does nothing once the token, the panel or the alarm is gone, or if it was made up', async () => {
  const { send, stream, call, panel } = await world();
  const other = await server.newTenant();
  const sent = await send({ title: 'one', level: 'error' });
  const message = await stream.next(titled('one'));
  const url = message.actions?.[0]?.url ?? '';
  const start = url.lastIndexOf('/') + 1;
  const [link, base] = [url.slice(start), url.slice(0, start)];
  const theirs = link.replace(/^\d+/, String(Number(link.split('.')[0]) + 1));
  for (const wrong of ['x', `${link}x`, theirs, link.replace('.acknowledge.', '.shelve.'), `.${link}`]) {
    const { status } = await fetch(`${base}${wrong}`, { method: 'POST' });
    expect([wrong, status]).toEqual([wrong, 404]);
  }
  expect((await other.call('GET', '/api/alarms')).json.alarms).toEqual([]);
  await call('POST', `/api/alarms/${sent}/shelve`, { forMs: 60_000 });
  expect((await press(message)).status).toBe(409);
  await call('DELETE', `/api/alarms/${sent}/shelve`);
  expect((await press(message)).status).toBe(409);
  const { tokens } = (await call('GET', '/api/tokens')).json;
  const { id } = tokens.find(({ name }: { name: string }) => name === 'phone');
  await call('DELETE', `/api/tokens/${id}`);
  expect((await press(message)).status).toBe(404);
  expect((await call('GET', `/api/alarms/${sent}`)).json.state).toBe('open');
  await call('DELETE', `/api/panels/${(await panel()).id}`);
  expect((await press(message)).status).toBe(404);
});

test('a phone takes a few test alarms at a time, so nobody can flood it; each of them rings', async () => {
  const { call, stream, panel } = await world();
  const { id } = await panel();
  const asked = await Promise.all(Array.from({ length: 20 }, () => call('POST', `/api/panels/${id}/test`)));
  const statuses = asked.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
  const { entries } = (await call('GET', '/api/audit?limit=100')).json;
  const taken = statuses.filter((status) => status === 200).length;
  expect(entries.filter(({ action }: { action: string }) => action === 'panel.test')).toHaveLength(taken);
  const rung = new Set<string | undefined>();
  while (rung.size < taken)
    rung.add(
      (await stream.next((each) => titled('Test alarm for ada')(each) && !rung.has(each.sequence_id)))
        .sequence_id,
    );
});

test.each([
  { type: 'application/x-www-form-urlencoded', body: '' },
  { type: 'application/x-www-form-urlencoded', body: 'a=b' },
  { type: 'application/octet-stream', body: '\0' },
  { type: 'application/json', body: '{' },
  { type: 'text/plain', body: undefined },
])('a press takes any type and ignores its body: $type', async ({ type, body = null }) => {
  const { send, stream } = await world();
  await send({ title: 'one', level: 'error' });
  const url = (await stream.next(titled('one'))).actions?.[0]?.url ?? '';
  const headers = { 'content-type': type };
  const long = await fetch(url, { method: 'POST', headers, body: 'x'.repeat(5_000) });
  const response = await fetch(url, { method: 'POST', headers, body });
  expect([long.status, response.status, await response.json()]).toEqual([413, 200, { by: 'phone ada' }]);
});

const endings: Record<string, (of: Awaited<ReturnType<typeof world>>, id: string) => Promise<unknown>> = {
  'its success came': ({ send }) => send({ title: 'fine', level: 'success', key: 'disk' }),
  'it was cleared': ({ call }, id) => call('POST', `/api/alarms/${id}/clear`, {}),
  'its time was over': ({ call }, id) =>
    expect.poll(async () => (await call('GET', `/api/alarms/${id}`)).json.state).toBe('ended'),
};
test.each(Object.keys(endings))('the button of an alarm that has ended does nothing: %s', async (name) => {
  const given = await world();
  const { send, stream, call } = given;
  const alarm = { level: 'error', key: 'disk', ...(name === 'its time was over' && { ttl: 1_000 }) };
  const first = await send({ ...alarm, title: 'first' });
  const message = await stream.next(titled('first'));
  await endings[name]?.(given, first);
  expect(await press(message)).toMatchObject({
    status: 409,
    json: { error: expect.stringContaining('has ended') },
  });
  const second = await send({ ...alarm, title: 'second', ttl: 0 });
  expect((await press(message)).status).toBe(409);
  const isOpen = async () => (await call('GET', `/api/alarms/${second}`)).json.state;
  expect(await isOpen()).toBe('open');
  expect((await press(await stream.next(titled('second')))).status).toBe(200);
  expect(await isOpen()).toBe('acknowledged');
});

test('the button of an alarm that somebody has shelved says so', async () => {
  const { send, stream, call } = await world();
  const id = await send({ title: 'one', level: 'error' });
  const message = await stream.next(titled('one'));
  await call('POST', `/api/alarms/${id}/shelve`, { forMs: 3_600_000 });
  expect(await press(message)).toMatchObject({
    status: 409,
    json: { error: 'the alarm is shelved, and so on no panel' },
  });
});

test('also when it was acknowledged before it ended', async () => {
  const { send, stream, call } = await world();
  const id = await send({ title: 'one', level: 'error' });
  const message = await stream.next(titled('one'));
  expect([(await press(message)).status, (await press(message)).status]).toEqual([200, 200]);
  await call('POST', `/api/alarms/${id}/clear`, {});
  expect((await press(message)).status).toBe(409);
});
