import { expect, test } from 'vitest';
import { FakeIo } from '#test/support/fake-io.ts';
import { run } from './run.ts';

async function called(args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = new FakeIo();
  const code = await run(args, io);
  return { code, stdout: io.out, stderr: io.err };
}

test.each([
  [['frobnicate'], /unknown command 'frobnicate'/],
  [['tokn'], /did you mean token\?/],
  [['token', 'create'], /--name <name>' not specified/],
  [['token', 'create', '--name', ' '], /1 to 100 characters/],
  [
    ['token', 'create', '--name', 'x', '--scopes', 'notify,root'],
    /"root" is not one of notify, panel, metrics/,
  ],
  [['token', 'create', '--name', 'x', '--expires', '90'], /whole number and a unit/],
  [['token', 'create', '--name', 'x', '--expires', '0d'], /whole number and a unit/],
  [['token', 'create', '--name', 'x', '--allow-from', '10.0.0.0/99'], /"10\.0\.0\.0\/99" is no address/],
  [['token', 'create', '--name', 'x', '--wat'], /unknown option '--wat'/],
  [['key', 'create', '--name', 'x'], /--role <role>' not specified/],
  [['key', 'create', '--name', 'x', '--role', 'god'], /viewer, member, admin, owner/],
  [['tenant', 'create', 'Not Good'], /lower case/],
  [['send', 'only a title'], /missing required argument 'message'/],
  [['send', 'a', 'b', '--ttl', 'soon'], /30s, 5m/],
  [['serve', 'now'], /too many arguments/],
  [
    ['send', 'a', 'b'],
    /BELFRY_TOKEN is not set: make a token with .* token create --name NAME --scopes notify/,
  ],
  [['tail'], /BELFRY_TOKEN is not set: make a token with .* --scopes panel/],
])(
  '%j is called the wrong way: one line on stderr says how it would be right, and the code is 2',
  async (args, message) => {
    const { code, stdout, stderr } = await called(args);
    expect(stderr).toMatch(/^belfry: [^\n]+\n$/);
    expect(stderr).toMatch(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  },
);

test('every command explains itself, with an example', async () => {
  const help = (await called(['--help'])).stdout;
  const commands = [...help.matchAll(/^ {2}([a-z]+) /gm)].flatMap(([, name]) =>
    name === 'help' ? [] : [name as string],
  );
  expect(commands).toEqual([
    'serve',
    'send',
    'run',
    'tail',
    'alarms',
    'ack',
    'unack',
    'assign',
    'shelve',
    'unshelve',
    'clear',
    'token',
    'key',
    'tenant',
    'user',
    'panel',
    'backup',
    'restore',
    'migrate',
    'export',
    'diff',
    'apply',
    'completion',
    'config',
  ]);
  const groups = {
    token: ['create', 'list', 'revoke'],
    key: ['create', 'list', 'revoke'],
    tenant: ['create', 'list'],
    user: ['create', 'list', 'password'],
    panel: ['list'],
  };
  const paths = commands.flatMap(
    (name) =>
      Object.entries(groups)
        .find(([group]) => group === name)?.[1]
        .map((sub) => [name, sub]) ?? [[name]],
  );
  expect(paths).toHaveLength(31);
  for (const path of paths) {
    const { code, stdout, stderr } = await called([...path, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/\nExamples?:\n {2}\S/);
    expect(stdout).toContain(`Usage: belfry ${path.join(' ')}`);
  }
});

test('a group without a command is explained on stderr', async () => {
  for (const args of [[], ['token']]) {
    const { code, stdout, stderr } = await called(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('Usage: belfry');
  }
});
