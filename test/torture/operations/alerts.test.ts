import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TestServer } from '#test/support/server.ts';
import { root } from '#test/support/server-process.ts';
import { gap, missingPackage } from '../gap.ts';

const rules = readFileSync(join(root, 'deploy/alerts.yml'), 'utf8');
const guide = readFileSync(join(root, 'docs/operations.md'), 'utf8');
const alarms = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, name]) => name as string);

test('every alarm is explained in the guide, and the guide explains no other', () => {
  expect(alarms.length).toBeGreaterThan(5);
  const explained = Array.from(guide.matchAll(/^\| \*\*(\w+)\*\* \|/gm), ([, name]) => name);
  expect(explained).toEqual(alarms);
});

test('every figure of ours that an alarm looks at is told by a server', async () => {
  const server = await TestServer.start({
    BELFRY_METRICS_TOKEN: 'a-token-of-some-length',
    BELFRY_RATE_TOKEN: '1:1',
  });
  const token = await server.token({ rate: null });
  // Counters are told once they have counted.
  await server.notify(token, { title: 'T', message: 'M' });
  await server.notify(token, { title: 'T', message: 'M' });
  await server.call('POST', '/api/panels', { token, json: { name: 'lobby' } });
  const told = [
    (await server.call('GET', '/tenant-metrics', { token })).text,
    (await server.call('GET', '/metrics', { token: 'a-token-of-some-length' })).text,
  ].join('\n');
  const expressions = Array.from(
    rules.matchAll(/expr: (?:>-\n)?([\s\S]*?)\n {8}(?:for|labels):/g),
    ([, text]) => text,
  );
  const wanted = new Set(expressions.join(' ').match(/\b(?:belfry|nodejs|process)_\w+/g));
  expect(wanted.size).toBeGreaterThan(6);
  expect([...wanted].filter((name) => !new RegExp(`^${name}(?:\\{| )`, 'm').test(told))).toEqual([]);
  await server.stop();
});

test('promtool takes the rules, and they sound when they should', (context) => {
  const missing = gap(missingPackage('promtool', ['--version'], 'prometheus'));
  context.skip(missing !== undefined, missing);
  const promtool = (...args: string[]) =>
    execFileSync('promtool', args, { cwd: join(root, 'deploy'), encoding: 'utf8' });
  expect(promtool('check', 'rules', 'alerts.yml')).toContain(`SUCCESS: ${alarms.length} rules found`);
  expect(promtool('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
});
