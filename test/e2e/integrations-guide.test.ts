/** docs/integrations.md as a reader follows it: what can be run is run, what is configured is used as it stands. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { usualLevel } from '#integrations/format.ts';
import { webhookNames } from '#integrations/formats.ts';
import { IntakeDesk } from '../support/intake.ts';
import { missingPrometheus, startMonitoring } from '../support/prometheus.ts';
import { root } from '../support/server-process.ts';
import { missingPackage, runs, skipReason } from '../support/skip-reason.ts';
import { machineEnvironment, Terminal } from './terminal.ts';

const guide = readFileSync(join(root, 'docs/integrations.md'), 'utf8');

let desk: IntakeDesk;
beforeAll(async () => {
  desk = await IntakeDesk.open();
});
afterAll(() => desk?.close());

/** As the reader puts in the own address and token. */
const own = (text: string) =>
  text
    .replaceAll('http://127.0.0.1:8080', desk.server.url)
    .replaceAll('127.0.0.1:8080', desk.server.url.slice(7));
const withToken = (text: string) => own(text).replaceAll('$BELFRY_TOKEN', desk.token);

function block(heading: string, language: string): string {
  const chapter = guide.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const found = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(chapter)?.[1];
  if (found === undefined) throw new Error(`no ${language} under ${heading}`);
  return withToken(found);
}

test('every format has its address in the table, and no other is there', () => {
  const named = [...guide.matchAll(/^\| .* \| `\/api\/integrations\/([a-z-]+)` \|$/gm)].map(
    ([, name]) => name,
  );
  expect(named.toSorted()).toEqual(webhookNames.toSorted());
});

test('the table of levels is that of the code', () => {
  const rows = [...guide.matchAll(/^\| `(\w+)` \| ([\w, ]+\w) \|$/gm)];
  expect(rows.length).toBe(5);
  for (const [, level, words = ''] of rows)
    for (const word of words.split(', ')) expect([word, usualLevel(word, 'unknown')]).toEqual([word, level]);
});

test('every command with curl is taken, and its notification is stored', async () => {
  const commands = [...guide.matchAll(/^```sh\n(.*?)^```$/gms)]
    .flatMap(([, text = '']) => text.split(/^(?=curl)/m))
    .filter((text) => text.startsWith('curl'));
  expect(commands.length).toBe(11);
  for (const command of commands) {
    const head = await desk.head();
    const key = await desk.server.key('admin');
    const id = desk.token.split('_')[1] ?? '';
    const env = machineEnvironment({ BELFRY_TOKEN: desk.token, KEY: key, TOKEN_ID: id });
    const answer = await Terminal.run(own(command.replace('curl', 'curl -sS --fail-with-body')), env);
    const stored = /signing-secret|api\/mappings/.test(command) ? 0 : 1;
    expect([command, answer, await desk.head()]).toEqual([command, answer, head + stored]);
  }
});

test('the commands of Nagios send a problem and its recovery, of a host and of a service', async () => {
  const commands = [...block('Nagios, Icinga', 'text').matchAll(/^ {2}command_line {2}(.*)$/gm)];
  const key = await desk.server.key('admin');
  await Terminal.run(block('Nagios, Icinga', 'sh'), machineEnvironment({ KEY: key }));
  const states = { CRITICAL: 'error', OK: 'success', DOWN: 'critical', UP: 'success', UNKNOWN: 'warning' };
  for (const [state, level] of Object.entries(states))
    for (const [, command = ''] of commands) {
      const filled = command
        .replaceAll('$USER5$', desk.token)
        .replaceAll(/\$(?:HOST|SERVICE)STATE\$/g, state)
        .replaceAll(/\$(\w+)\$/g, '$1 = 97 %');
      const answer = await Terminal.run(filled, machineEnvironment({}));
      const id = /"id":"([^"]+)"/.exec(JSON.stringify(answer).replaceAll('\\', ''))?.[1] ?? '';
      expect([filled, answer, await desk.find(id)]).toMatchObject([filled, answer, { level }]);
    }
  expect(commands.length).toBe(2);
});

test('what is set up by hand works with these headers', async () => {
  const kuma = JSON.parse(block('Uptime Kuma', 'json')) as Record<string, string>;
  const lines = block('Healthchecks', 'text').trim().split('\n');
  const healthchecks = Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]));
  const grafana = block('Grafana', 'yaml');
  const setting = (name: string) => new RegExp(`${name}: (\\S+)`).exec(grafana)?.[1] ?? '';
  const authorization = `${setting('authorization_scheme')} ${setting('authorization_credentials')}`;
  const [, slackHeaders = ''] = /default_headers=(\{.*?\})/.exec(guide) ?? [];
  const slack = JSON.parse(slackHeaders.replace('bfy_…', desk.token)) as Record<string, string>;
  const sent = [
    [`${desk.server.url}/api/integrations/uptime-kuma`, kuma, { msg: 'Testing' }],
    [`${desk.server.url}/api/integrations/healthchecks`, healthchecks, { name: 'Backup', status: 'down' }],
    [setting('url'), { authorization }, { alerts: [] }],
    [`${desk.server.url}/api/integrations/slack`, slack, { text: 'Deployed' }],
  ] as const;
  for (const [url, headers, body] of sent) {
    const all = new Headers(headers);
    all.set('content-type', 'application/json');
    const answer = await fetch(url, { method: 'POST', headers: all, body: JSON.stringify(body) });
    expect([url, answer.status]).toEqual([url, 200]);
  }
});

test('the script for Zabbix sends what Belfry takes', async () => {
  const posted: { url: string; body: string; headers: string[] }[] = [];
  class HttpRequest {
    readonly headers: string[] = [];
    addHeader(text: string) {
      this.headers.push(text);
    }
    post(url: string, body: string) {
      posted.push({ url, body, headers: this.headers });
      return '';
    }
    getStatus() {
      return 200;
    }
  }
  const names = [...guide.matchAll(/`(\w+)`\s`\{[A-Z.]+\}`/g)].map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(8);
  const parameters = {
    belfry_url: desk.server.url,
    token: desk.token,
    ...Object.fromEntries(names.map((name) => [name, '1'])),
  };
  const script = `(function (value) {${block('Zabbix', 'js')}})`;
  const run = runInNewContext(script, { HttpRequest, JSON }) as (value: string) => string;
  expect(run(JSON.stringify(parameters))).toBe('OK');
  const [{ url, body, headers }] = posted as [(typeof posted)[0]];
  expect(body).not.toContain(desk.token);
  const sent = Object.fromEntries(headers.map((line) => line.split(': ') as [string, string]));
  const answer = await fetch(url, { method: 'POST', body, headers: sent });
  const { items } = (await answer.json()) as { items: { id: string }[] };
  expect(await desk.find(items[0]?.id ?? '')).toMatchObject({ title: '1', key: 'zabbix:1' });
});

test('amtool takes the configuration of Alertmanager; Prometheus fires and resolves through it, onto a panel', async (context) => {
  const missing = skipReason(missingPrometheus());
  context.skip(missing !== undefined, missing);
  const config = block('Prometheus Alertmanager', 'yaml');
  const folder = mkdtempSync(join(tmpdir(), 'belfry-amtool-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'alertmanager.yml'), config);
  const checked = spawnSync('amtool', ['check-config', 'alertmanager.yml'], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect([checked.status, checked.stdout]).toEqual([0, expect.stringContaining('SUCCESS')]);

  const { stream } = await desk.server.panel(desk.token, 'lobby');
  onTestFinished(() => stream.close());
  const monitoring = await startMonitoring(config.slice(config.indexOf('receivers:')));
  onTestFinished(() => monitoring.stop());
  const shown = async (title: string) => (await stream.next(({ data }) => data.title === title)).data;
  monitoring.set('db-01', 97);
  const fired = await shown('Disk of db-01 almost full');
  expect(fired).toMatchObject({
    message: 'at 97 %',
    level: 'critical',
    host: 'db-01',
    key: expect.stringMatching(/^alertmanager:[0-9a-f]{16}$/),
  });
  monitoring.set('db-02', 99);
  await shown('Disk of db-02 almost full');
  monitoring.set('db-01', 50);
  expect(await shown('Resolved: Disk of db-01 almost full')).toMatchObject({
    level: 'success',
    key: fired.key,
  });
  // The group went out again with each change, and each alert was sent once.
  const alerts = stream.messages.filter(
    ({ event, data }) =>
      event === 'clear' || (event === 'notification' && /^(?:Resolved: )?Disk of/.test(data.title)),
  );
  expect(alerts.map(({ event, data }) => data.title ?? `${event}: ${data.reason}`)).toEqual([
    'Disk of db-01 almost full',
    'Disk of db-02 almost full',
    'clear: replaced',
    'Resolved: Disk of db-01 almost full',
  ]);
});

test('Apprise sends by both of its addresses', async (context) => {
  const missing = skipReason(missingPackage('apprise', () => runs(['--version'], '/usr/bin/apprise')));
  context.skip(missing !== undefined, missing);
  for (const command of block('Apprise', 'sh').trim().split('\n')) {
    const head = await desk.head();
    await Terminal.run(command, machineEnvironment({}));
    expect([command, await desk.head()]).toEqual([command, head + 1]);
  }
});
