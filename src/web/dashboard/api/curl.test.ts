import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlWithHeaders, curlWithJson } from './curl.ts';

/** What a shell makes of a command: its arguments, a line each. */
const readByShell = (command: string): string[] =>
  execFileSync('sh', ['-c', command.replace(/^curl/, String.raw`printf '%s\n'`)], { encoding: 'utf8' })
    .trimEnd()
    .split('\n');

const hostile = { title: `It's $HOME`, message: '`id`; "quoted" \\ back' };

test('the command with JSON reaches curl as it is meant, whatever the text holds', () => {
  expect(readByShell(curlWithJson('http://belfry:8080', 'bfy_x', hostile))).toEqual([
    'http://belfry:8080/api/notify',
    '-H',
    'Authorization: Bearer bfy_x',
    '-d',
    JSON.stringify(hostile),
  ]);
});

test('the command with headers reaches curl as it is meant', () => {
  expect(readByShell(curlWithHeaders('http://belfry:8080', 'bfy_x', hostile)).slice(-3)).toEqual([
    `X-Title: ${hostile.title}`,
    '-H',
    `X-Message: ${hostile.message}`,
  ]);
});
