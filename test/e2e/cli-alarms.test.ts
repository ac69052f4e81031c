/** `belfry alarms`, and what people do about alarms on the command line. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { Cli } from '../support/cli.ts';
import { makePerson } from '../support/person.ts';
import { TestServer } from '../support/server.ts';

let server: TestServer;
let cli: Cli;
let tenants = 0;
let token: string;
let key: string;
beforeAll(async () => {
  server = await TestServer.start();
  cli = new Cli();
});
afterAll(async () => {
  await cli.remove();
  await server.stop();
});
beforeEach(async () => {
  tenants += 1;
  const tenant = `cli-alarms-${tenants}`;
  [token, key] = [await server.token({ tenant }), await server.key('member', tenant)];
});

const send = async (over: object = {}) =>
  (await server.notify(token, { title: 'Disk full', message: 'm', level: 'error', ttl: 0, ...over })).json
    .id as string;
const run = (args: readonly string[], as = key) =>
  cli.run(args, { env: { BELFRY_URL: server.url, BELFRY_TOKEN: as } });
const ok = async (...args: string[]) => {
  const { code, stdout, stderr } = await run(args);
  expect([args, code, stderr]).toEqual([args, 0, '']);
  return stdout;
};
const list = async (...args: string[]) =>
  (await ok('alarms', '--json', ...args))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));

test('the list has a line for each alarm, the highest level first, with who takes care of it', async () => {
  expect(await run(['alarms'])).toEqual({ code: 0, stdout: '', stderr: 'belfry: no alarms\n' });
  const disk = await send({ key: 'disk', host: 'db-01' });
  const repeat = await send({ key: 'disk', host: 'db-01' });
  const fire = await send({ title: 'Fire\nin \x1b[31mthe hall', level: 'critical' });
  await ok('ack', disk, '--note', 'on my way');
  const lines = (await ok('alarms')).split('\n');
  expect(lines[0]).toMatch(/^LEVEL {5}TITLE +HOST +COUNT +AGE +WHO +ID$/);
  expect(lines[1]).toMatch(
    new RegExp(`^critical {2}Fire\\\\nin \\\\x1b\\[31mthe hall {2}- +×1 +\\d s +- +${fire}$`),
  );
  expect(lines[2]).toMatch(
    new RegExp(`^error {5}Disk full +db-01 +×2 +\\d s +key key: on my way +${repeat}$`),
  );
  await ok('shelve', fire, '--for', '4h');
  expect(await ok('alarms', '--state', 'shelved')).toMatch(/ {2}shelved by key key until 20\S+ \S+Z {2}/);
  expect(
    (await ok('alarms', '--query', 'host:db-*', '--state', 'acknowledged,open')).split('\n'),
  ).toHaveLength(3);
});

test('of a suppressed alarm the list says by which one, and of each alarm who its owner is', async () => {
  const tenant = `cli-alarms-${tenants}`;
  const ada = await makePerson(server, 'member', { tenant, name: 'Ada' });
  const json = {
    name: 'core switches',
    when: { title: { contains: 'core switch' } },
    then: { suppress: { when: { minLevel: 'error' }, equal: [] } },
  };
  await server.call('POST', '/api/rules', { token: await server.key('admin', tenant), json });
  const core = await send({ title: 'core switch down', level: 'critical' });
  const disk = await send();
  await server.call('PUT', `/api/alarms/${disk}/owner`, { token: key, json: { userId: ada.id } });
  expect(await ok('alarms', '--state', 'suppressed')).toMatch(
    new RegExp(`Disk full .* owner Ada, suppressed by core switch down +${disk}\n$`),
  );
  expect(await list('--state', 'open')).toMatchObject([{ id: core, suppresses: 1 }]);
  expect(await ok('clear', '--query', 'title:disk')).toBe('1 cleared\n');
  expect(await run(['unshelve', disk])).toMatchObject({ code: 1 });
});

test('with --json it has the alarms of the API, one a line, and says when there are more', async () => {
  const ids = [await send(), await send({ level: 'critical' })].reverse();
  expect(await list()).toMatchObject(ids.map((id) => ({ id, state: 'open', count: 1 })));
  const { code, stdout, stderr } = await run(['alarms', '--json', '--limit', '1']);
  expect([code, JSON.parse(stdout).id]).toEqual([0, ids[0]]);
  expect(stderr).toMatch(/^belfry: there are more: .*--limit/);
});

test('alarms are acknowledged, taken back, shelved, brought back and cleared by their ids', async () => {
  const [one, other] = [await send(), await send()];
  expect(await ok('ack', one, other, '--for', '4h')).toBe('2 acknowledged\n');
  const [{ acknowledged }] = await list('--state', 'acknowledged');
  expect(Date.parse(acknowledged.until) - Date.parse(acknowledged.at)).toBe(4 * 3_600_000);
  expect(await ok('unack', one)).toBe('1 open again\n');
  expect(await list('--state', 'open')).toMatchObject([{ id: one }]);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  expect(await ok('shelve', one, '--until', until, '--note', 'tomorrow')).toBe('1 shelved\n');
  expect(await list('--state', 'shelved')).toMatchObject([{ id: one, shelved: { until, note: 'tomorrow' } }]);
  expect(await run(['ack', one, other])).toMatchObject({
    ...{
      code: 1,
      stdout: `1 acknowledged, 1 failed: ${one} it is shelved: unshelve it first\n`,
      stderr: '',
    },
  });
  expect(await ok('unshelve', one)).toBe('1 open again\n');
  expect(await ok('clear', one, other)).toBe('2 cleared\n');
  expect(await run(['clear', one, other])).toMatchObject({
    ...{ code: 1, stdout: `0 cleared, 2 failed:\n${one} it has ended\n${other} it has ended\n` },
  });
});

test('a search names those that the action would change; when it finds none, the code is 1', async () => {
  for (let i = 0; i < 5; i++) await send({ title: 'BGP peer lost', host: `edge-${i}` });
  const door = await send({ title: 'Door open' });
  expect(await ok('shelve', '--query', 'host:edge-0', '--for', '1h')).toBe('1 shelved\n');
  expect(await ok('ack', '-q', 'title:BGP', '--note', 'known')).toBe('4 acknowledged\n');
  expect(await run(['ack', '-q', 'title:BGP'])).toEqual({
    ...{ code: 1, stdout: '', stderr: 'belfry: no open alarm matches\n' },
  });
  expect(await ok('ack', '-q', 'title:BGP', '--take')).toBe('4 acknowledged\n');
  expect(await ok('unack', '-q', 'host:edge-1')).toBe('1 open again\n');
  expect(await ok('unshelve', '-q', '')).toBe('1 open again\n');
  expect(await ok('clear', '-q', 'title:BGP')).toBe('5 cleared\n');
  expect(await list()).toMatchObject([{ id: door }]);
});

test('alarms are assigned to a member, by mail address or name, or to nobody', async () => {
  const tenant = `cli-alarms-${tenants}`;
  const mail = (name: string) => `${name}.${tenants}@example.org`;
  await makePerson(server, 'member', { tenant, name: 'Ada Byron', email: mail('ada') });
  for (const name of ['bo.1', 'bo.2'])
    await makePerson(server, 'viewer', { tenant, name: 'Bo', email: mail(name) });
  await makePerson(server, 'member', { tenant: 'elsewhere', name: 'Eve', email: mail('eve') });
  const [one, other] = [await send({ host: 'db-01' }), await send()];
  expect(await ok('assign', one, other, '--to', mail('ADA'))).toBe('2 assigned to Ada Byron\n');
  expect(await list()).toMatchObject([{ owner: { name: 'Ada Byron' } }, { owner: { name: 'Ada Byron' } }]);
  expect(await ok('assign', '-q', 'host:db-*', '--nobody')).toBe('1 assigned to nobody\n');
  expect(await list('-q', 'host:db-01')).toMatchObject([{ owner: null }]);
  expect(await ok('assign', one, '--to', 'ada byron')).toBe('1 assigned to Ada Byron\n');
  expect(await run(['assign', '-q', 'host:none', '--nobody'])).toMatchObject({
    ...{ code: 1, stderr: 'belfry: no open, acknowledged, shelved, or suppressed alarm matches\n' },
  });
  for (const [to, message] of [
    [
      'ada',
      `no member of this tenant has the name or mail address "ada"; did you mean Ada Byron <${mail('ada')}>`,
    ],
    [mail('eve'), /address "eve\S+"; its members are Ada Byron <\S+>, Bo <\S+>, Bo <\S+>\n/],
    ['', /address ""; its members are/],
    ['Bo', /several members are called "Bo", so give the mail address: Bo <bo.1\S+>, Bo <bo.2\S+>\n/],
  ] as const)
    expect(await run(['assign', other, '--to', to])).toMatchObject({
      ...{
        code: 2,
        stdout: '',
        stderr:
          typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
      },
    });
  await ok('clear', other);
  expect(await run(['assign', other, '--nobody'])).toMatchObject({
    ...{ code: 1, stdout: `0 assigned to nobody, 1 failed: ${other} it has ended\n` },
  });
});

test("a panel's token acknowledges one alarm; the rest needs a key, and says how to make it", async () => {
  const [one, other] = [await send(), await send()];
  expect(await run(['ack', one, '--for', '1h'], token)).toMatchObject({
    ...{ code: 0, stdout: expect.stringMatching(/^acknowledged until \d{4}-\d\d-\d\d \d\d:\d\dZ\n$/) },
  });
  expect(await run(['ack', one, '--for', '0'], token)).toMatchObject({ code: 0, stdout: 'acknowledged\n' });
  expect(await run(['ack', one, '--take'])).toMatchObject({ code: 0, stdout: 'acknowledged\n' });
  for (const [args, role] of [
    [['alarms'], 'viewer'],
    [['ack', one, other], 'member'],
    [['shelve', one, '--for', '1h'], 'member'],
    [['assign', one, '--to', 'Ada'], 'member'],
  ] as const)
    expect(await run(args, token)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(new RegExp(`automation key .*${role}.* key create .*--role ${role}\n$`)),
    });
});

test('what is called the wrong way is not sent', async () => {
  const id = await send();
  for (const [args, message] of [
    [['ack'], /either ids or --query/],
    [['clear', id, '--query', ''], /either ids or --query/],
    [['shelve', id], /either --for or --until/],
    [['shelve', id, '--for', '1h', '--until', '2099-01-01T00:00Z'], /either --for or --until/],
    [['shelve', id, '--for', 'long'], /30s, 15m, 12h/],
    [['shelve', id, '--until', '2020-01-01T00:00Z'], /in the future/],
    [['shelve', id, '--until', 'tomorrow'], /a date and a time/],
    [['assign', id], /either --to or --nobody/],
    [['assign', id, '--to', 'Ada', '--nobody'], /either --to or --nobody/],
    [['alarms', '--state', 'gone'], /"gone" is not one of open, acknowledged, shelved, suppressed/],
    [['alarms', '--limit', '0'], /from 1 to 500/],
  ] as const)
    expect([args, await run(args)]).toMatchObject([
      args,
      { code: 2, stderr: expect.stringMatching(message) },
    ]);
  expect(await run(['alarms', '--query', 'hots:x'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('did you mean "host"'),
  });
  expect(await list()).toMatchObject([{ id, state: 'open' }]);
});
