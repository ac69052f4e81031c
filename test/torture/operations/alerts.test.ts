/** The alert rules and the Grafana dashboard of deploy/, against the metrics of a real server. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { TestServer } from '#test/support/server.ts';
import { root } from '#test/support/server-process.ts';
import { missingPackage, runs, skipReason } from '#test/support/skip-reason.ts';

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}
interface Dashboard {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition?: string }[] };
}

const rules = readFileSync(join(root, 'deploy/alerts.yml'), 'utf8');
const guide = readFileSync(join(root, 'docs/monitoring.md'), 'utf8');
const dashboard = JSON.parse(readFileSync(join(root, 'deploy/grafana-dashboard.json'), 'utf8')) as Dashboard;
const alerts = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, name]) => name as string);
/** Not from a server on SQLite. */
const ofPostgres = ['belfry_clock_ahead_seconds', 'belfry_index_backlog'];
const drawn = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

test('every alert is explained in the guide, and the guide explains no other', () => {
  expect(alerts.length).toBeGreaterThan(5);
  const explained = Array.from(guide.matchAll(/^\| \*\*(\w+)\*\* \|/gm), ([, name]) => name);
  expect(explained).toEqual(alerts);
});

test('every metric of ours in the alerts and the dashboard is one that a server has, and the dashboard shows them all', async () => {
  const server = await TestServer.start({
    BELFRY_METRICS_TOKEN: 'a-token-of-some-length',
    BELFRY_RATE_TOKEN: '1:1',
  });
  onTestFinished(() => server.stop());
  const token = await server.token({ rate: null });
  // A counter with labels has no series until it has counted.
  await server.notify(token, { title: 'T', message: 'M' });
  await server.notify(token, { title: 'T', message: 'M' });
  await server.call('POST', '/api/panels', { token, json: { name: 'lobby' } });
  const metrics = [
    (await server.call('GET', '/tenant-metrics', { token })).text,
    (await server.call('GET', '/metrics', { token: 'a-token-of-some-length' })).text,
  ].join('\n');
  const expressions = Array.from(
    rules.matchAll(/expr: (?:>-\n)?([\s\S]*?)\n {8}(?:for|labels):/g),
    ([, text = '']) => text,
  );
  expect(expressions.length).toBe(alerts.length);
  const variables = dashboard.templating.list.map(({ definition = '' }) => definition);
  const named = (texts: readonly string[]) =>
    new Set(texts.join(' ').match(/\b(?:belfry|nodejs|process)_\w+/g));
  // A counter with labels that has counted nothing has its type alone.
  const isMetric = (name: string) => new RegExp(`^(?:# TYPE )?${name}(?:\\{| )`, 'm').test(metrics);
  const missing = [...named([...expressions, ...drawn, ...variables])].filter(
    (name) => !isMetric(name) && !ofPostgres.includes(name),
  );
  expect(missing).toEqual([]);
  const ours = Array.from(metrics.matchAll(/^# TYPE (belfry_\w+) (\w+)$/gm), ([, name = '', type]) =>
    type === 'histogram' ? `${name}_bucket` : name,
  );
  expect(ours.length).toBeGreaterThan(12);
  expect(ours.filter((name) => !named(drawn).has(name))).toEqual([]);
});

test('the panels of the dashboard fill its width and cover none of each other', () => {
  const taken = new Set<string>();
  for (const { title, gridPos } of dashboard.panels) {
    expect([title, gridPos.x + gridPos.w <= 24]).toEqual([title, true]);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect([title, taken.has(`${x} ${y}`)]).toEqual([title, false]);
        taken.add(`${x} ${y}`);
      }
  }
  const height = Math.max(...dashboard.panels.map(({ gridPos }) => gridPos.y + gridPos.h));
  expect(taken.size).toBe(24 * height);
});

test('promtool takes the rules and the queries of the dashboard, and each alert fires when it should', (context) => {
  const missing = skipReason(missingPackage('prometheus', () => runs(['--version'], 'promtool')));
  context.skip(missing !== undefined, missing);
  const promtool = (...args: string[]) =>
    execFileSync('promtool', args, { cwd: join(root, 'deploy'), encoding: 'utf8' });
  expect(promtool('check', 'rules', 'alerts.yml')).toContain(`SUCCESS: ${alerts.length} rules found`);
  expect(promtool('test', 'rules', 'alerts.test.yml')).toContain('SUCCESS');
  const tried = readFileSync(join(root, 'deploy/alerts.test.yml'), 'utf8');
  expect(alerts.filter((name) => !new RegExp(`\\b${name}\\b`).test(tried))).toEqual([]);

  // Queries as Grafana sends them, in the place of recording rules.
  const folder = mkdtempSync(join(tmpdir(), 'belfry-dashboard-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const sent = drawn.map((expr) =>
    expr.replaceAll('$__rate_interval', '1m').replace(/\$(server|tenant|job)\b/g, 'a'),
  );
  expect(sent.join(' ')).not.toContain('$');
  const records = sent.map((expr, index) => ({ record: `query_${index}`, expr }));
  const file = join(folder, 'queries.yml');
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'queries', rules: records }] }));
  expect(promtool('check', 'rules', file)).toContain(`SUCCESS: ${drawn.length} rules found`);
});
