import { stripVTControlCharacters } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { run } from '#cli/run.ts';
import { createClient } from '#client/client.ts';
import { Cli, type Running } from '../support/cli.ts';
import { FakeIo } from '../support/fake-io.ts';
import { freePort } from '../support/free-port.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let tenants = 0;
let tenant: string;
let token: string;
let cli: Cli;
beforeAll(async () => {
  server = await TestServer.start({ BELFRY_HEARTBEAT_MS: '500', BELFRY_PORT: String(await freePort()) });
});
afterAll(() => server.stop());
beforeEach(async () => {
  tenants += 1;
  tenant = `tails-${tenants}`;
  token = await server.token({ tenant });
  cli = new Cli();
});
afterEach(() => cli.remove());

const environment = () => ({ BELFRY_URL: server.url, BELFRY_TOKEN: token });
const client = () => createClient({ url: server.url, token });
const send = async (title: string, over: object = {}) =>
  (await client().send({ title, message: 'm', ...over })).id;

/** Starts a tail, and waits until its panel is connected. */
async function tail(panel: string): Promise<Running> {
  const running = cli.start(['tail', '--panel', panel], environment());
  await expect
    .poll(async () => (await client().listPanels()).find(({ name }) => name === panel)?.online)
    .toBe(true);
  return running;
}

async function deliveryOf(id: string, panel: string) {
  const { json } = await server.call('GET', `/api/notifications/${id}`, { token });
  return json.deliveries.find((delivery: { panel: { name: string } }) => delivery.panel.name === panel);
}

test('elsewhere than in a terminal, each event is one plain line, written at once', async () => {
  await send('Before', { level: 'error' });
  const running = await tail('desk');
  await running.says(/ {2}error {5}Before — m\n/);
  await send('Disk \x1b[2Jfull', {
    level: 'critical',
    host: 'db-01',
    ip: '10.0.0.5',
    key: 'disk',
    message: 'a\nb',
  });
  await running.says(
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ {2}critical {2}Disk \\x1b\[2Jfull — a\\nb {2}host=db-01 {2}ip=10\.0\.0\.5 {2}key=disk\n/m,
  );
  await send('Disk is well', { level: 'success', key: 'disk' });
  await running.says(/ {2}replaced {2}Disk [^\n]*\n[^\n]* {2}success {3}Disk is well — m {2}key=disk\n/);
  running.child.kill('SIGINT');
  expect(await running.ended).toMatchObject({ code: 0, stderr: '' });
});

test('the server hears what was shown and what became of it', async () => {
  const running = await tail('desk');
  const [short, cleared] = [await send('short', { ttl: 3_000 }), await send('long', { level: 'error' })];
  await running.says(/long/);
  await client().clear(cleared);
  await running.says(/ {2}cleared {3}long/);
  await expect.poll(async () => (await deliveryOf(cleared, 'desk')).clearedAt).not.toBeNull();
  await expect.poll(async () => (await deliveryOf(short, 'desk')).expiredAt).not.toBeNull();
  for (const id of [short, cleared]) expect((await deliveryOf(id, 'desk')).shownAt).not.toBeNull();
});

test('what is taken back, put on the shelf and brought back is followed, and its end is reported', async () => {
  const running = await tail('desk');
  const id = await send('Pump', { level: 'error' });
  await running.says(/ {2}error {5}Pump/);
  const key = await server.key('member', tenant);
  const act = (action: string, over: object = {}) =>
    server.call('POST', '/api/alarms/actions', { token: key, json: { action, ids: [id], ...over } });
  await act('acknowledge');
  await act('unacknowledge');
  await running.says(/ {2}acknowledged {2}Pump {2}by="key key"\n\S+ {2}unacknowledged {2}Pump\n/);
  await act('shelve', { forMs: 60_000 });
  await act('unshelve');
  await running.says(/ {2}shelved {3}Pump\n\S+ {2}error {5}Pump — m\n/);
  await act('acknowledge');
  await act('unacknowledge');
  await act('clear');
  await running.says(/ {2}cleared {3}Pump/);
  await expect.poll(async () => (await deliveryOf(id, 'desk')).clearedAt).not.toBeNull();
});

test('what was shown last is still reported when it is stopped', async () => {
  const running = await tail('desk');
  const id = await send('last words', { level: 'error' });
  await running.says(/last words/);
  running.child.kill('SIGTERM');
  expect((await running.ended).code).toBe(0);
  expect((await deliveryOf(id, 'desk')).shownAt).not.toBeNull();
});

test('a reader that has gone ends it quietly', async () => {
  const running = await tail('desk');
  running.child.stdout.destroy();
  const sending = setInterval(() => void send('into the void').catch(() => undefined), 50);
  const { code } = await running.ended;
  clearInterval(sending);
  expect(code).toBe(0);
  expect(running.stderr).toBe('');
});

test('a server that goes away and comes back is followed without a hole and without a repeat', async () => {
  const running = await tail('desk');
  await send('one', { level: 'error' });
  await running.says(/one/);
  const { port } = new URL(server.url);
  await server.stop({ keep: true });
  await running.says(/no contact with http\S+ \(.+\); next attempt in \d+ s\n/, 'stderr');
  server = await TestServer.start({ BELFRY_HEARTBEAT_MS: '500', BELFRY_PORT: port }, server.folder);
  await send('two', { level: 'error' });
  await running.says(/two/, 'stdout', 30_000);
  expect(running.stdout.match(/one — m/g)).toHaveLength(1);
  await running.says(/connected to http\S+ again\n$/, 'stderr');
});

test('a token that is revoked ends it, with the way out', async () => {
  const running = await tail('desk');
  const id = token.split('_')[1] as string;
  await server.running.directory.credentials.revoke(
    await server.tenant(tenant),
    'token',
    id,
    'test',
    Date.now(),
  );
  const { code, stderr } = await running.ended;
  expect(stderr).toMatch(/does not know this token: .*, and set BELFRY_TOKEN\n$/);
  expect(code).toBe(1);
});

test('a panel that is removed ends it', async () => {
  const running = await tail('desk');
  const [panel] = await client().listPanels();
  await server.call('DELETE', `/api/panels/${panel?.id}`, { token: await server.key('admin', tenant) });
  const { code, stderr } = await running.ended;
  expect(stderr).toMatch(/belfry: panel not found\n$/);
  expect(code).toBe(1);
});

/** The last frame on a fake terminal, without its colours. */
function frameOf(io: FakeIo): string[] {
  const [frame = ''] = io.out.split('\x1b[?2026h').slice(-1);
  return stripVTControlCharacters(frame)
    .split('\r\n')
    .map((row) => row.trimEnd());
}

test('in a terminal it is a live screen, which is given back at the end', async () => {
  const io = new FakeIo({ env: environment(), terminal: { columns: 80, rows: 20 } });
  const ended = run(['tail', '--panel', 'wall'], io);
  await expect.poll(() => frameOf(io)[0]).toMatch(/^● wall/);
  const info = await send('Deployed', { level: 'deploy', ttl: 60_000 });
  const critical = await send('Power lost', { level: 'critical', host: 'ups-4' });
  await expect.poll(() => frameOf(io)[1]).toMatch(/^◆ CRITICAL {2}Power lost .* \d+ s$/);
  expect(frameOf(io).join('\n')).toMatch(/DEPLOY {2}Deployed/);
  for (const id of [info, critical]) {
    await expect.poll(async () => (await deliveryOf(id, 'wall'))?.shownAt).toBeTruthy();
  }
  await client().clear(critical);
  await expect.poll(() => frameOf(io)[1]).toMatch(/DEPLOY/);
  io.type('q');
  expect(await ended).toBe(0);
  expect(io.out.endsWith('\x1b[?1049l')).toBe(true);
  expect(io.err).toBe('');
});

test('the screen says at once that the connection is lost, and since when', async () => {
  const io = new FakeIo({ env: environment(), terminal: { columns: 80, rows: 10 } });
  const ended = run(['tail', '--panel', 'wall'], io);
  await expect.poll(() => frameOf(io).at(-1)).toMatch(/^connected, last event \d+ s ago/);
  const { port } = new URL(server.url);
  await server.stop({ keep: true });
  await expect.poll(() => frameOf(io).at(-1)).toMatch(/^ no contact since \d\d:\d\d:\d\d, \d+ s: /);
  server = await TestServer.start({ BELFRY_HEARTBEAT_MS: '500', BELFRY_PORT: port }, server.folder);
  await expect.poll(() => frameOf(io).at(-1), { timeout: 20_000 }).toMatch(/^connected/);
  io.signal();
  expect(await ended).toBe(0);
});

test('a screen that cannot show a card does not claim to have shown it', async () => {
  const ids: string[] = [];
  for (const n of [1, 2, 3, 4]) ids.push(await send(`card ${n}`, { level: 'error' }));
  const io = new FakeIo({ env: environment(), terminal: { columns: 80, rows: 5 } });
  const ended = run(['tail', '--panel', 'wall'], io);
  await expect.poll(() => frameOf(io)[3]).toBe('  + 2 more');
  io.type('q');
  await ended;
  const seen = await Promise.all(ids.map(async (id) => (await deliveryOf(id, 'wall')).shownAt !== null));
  expect(seen).toEqual([false, false, true, true]);
});
