import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { FakeIo } from '#test/support/fake-io.ts';
import { run } from './run.ts';

async function scriptOf(shell: string): Promise<string> {
  const io = new FakeIo();
  expect([await run(['completion', shell], io), io.err]).toEqual([0, '']);
  return io.out;
}

test('bash completes commands, options and their values, as bash itself finds them', async () => {
  const lines: [line: string, completions: RegExp | string[]][] = [
    ['belfry ', /^serve\n(.*\n)*token\n(.*\n)*--help\n/],
    ['belfry to', ['token']],
    ['belfry token ', ['create', 'list', 'revoke', '--help', '-h']],
    ['belfry token create --sc', ['--scopes']],
    ['belfry key create --role ', ['viewer', 'member', 'admin', 'owner']],
    ['belfry key create --name key --role ad', ['admin']],
    // The value of an option is no command.
    ['belfry send --level token --ke', ['--key']],
    ['belfry apply belfry.yaml --p', ['--prune']],
    ['belfry completion ', ['bash', 'zsh', 'fish', '--help', '-h']],
    // Left to the completion of files.
    ['belfry send --spool ', []],
    ['belfry run -- ', []],
  ];
  const calls = lines.map(
    ([line]) => `COMP_WORDS=(${line.replace(/ $/, " ''")}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _belfry
printf '%s\\n' "\${COMPREPLY[@]}"; echo ===`,
  );
  const program = `${await scriptOf('bash')}\ncomplete -p belfry; echo ===\n${calls.join('\n')}`;
  const output = execFileSync('bash', ['-u'], { input: program, encoding: 'utf8' });
  const [registered, ...found] = output.split('===\n');
  expect(registered).toBe('complete -o default -F _belfry belfry\n');
  for (const [i, [line, wanted]] of lines.entries()) {
    if (wanted instanceof RegExp) expect([line, found[i]]).toEqual([line, expect.stringMatching(wanted)]);
    else expect([line, (found[i] ?? '').trim().split('\n').filter(Boolean)]).toEqual([line, wanted]);
  }
});

test('bash and zsh complete the command behind run -- as that of another program', async () => {
  const program = `${await scriptOf('bash')}
_command_offset() { COMPREPLY=("from $1"); }
COMP_WORDS=(belfry run --title x -- ls ''); COMP_CWORD=6; _belfry; echo "$COMPREPLY"`;
  expect(execFileSync('bash', ['-u'], { input: program, encoding: 'utf8' })).toBe('from 5\n');
  expect(await scriptOf('zsh')).toContain(
    '[[ $cmd == run ]] && { shift $i words; ((CURRENT -= i)); _normal; }',
  );
});

test('zsh completes at once when it loads the file for the first completion', async () => {
  expect(await scriptOf('zsh')).toMatch(/loadautofunc \]\]; then\n {2}_belfry "\$@"\n/);
});

test('zsh and fish get every command and option with what it does', async () => {
  for (const shell of ['zsh', 'fish']) {
    const script = await scriptOf(shell);
    expect(script).toContain('token create');
    expect(script).toMatch(/--scopes:scopes, separated|-l scopes -r -d 'scopes, separated/);
    expect(script).toContain('viewer');
  }
});

test('a shell that is not known is named with those that are', async () => {
  const io = new FakeIo();
  expect(await run(['completion', 'tcsh'], io)).toBe(2);
  expect(io.err).toContain('bash, zsh, fish');
});
