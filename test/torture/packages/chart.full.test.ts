/** The chart and the compose files, each read by the program that will read it. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { root } from '#test/support/server-process.ts';
import { skipReason } from '#test/support/skip-reason.ts';
import { goTool, kubernetesSources, missingGo } from './go-tools.ts';

const missing = skipReason(missingGo());
const chart = join(root, 'deploy/helm/belfry');
const scratch = mkdtempSync(join(tmpdir(), 'belfry-chart-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const buildMs = 1_800_000;
const run = (command: string, ...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return { status, stdout, stderr };
};

const onPostgres = ['database.secret=belfry-database', 'keySecret=belfry-key', 'replicas=3'];
const variants: Record<string, readonly string[]> = {
  'SQLite on one node': [],
  'PostgreSQL on three nodes': [
    ...onPostgres,
    'settings.BELFRY_BUS_URL=nats://nats:4222',
    'ingress.enabled=true',
    'ingress.className=nginx',
    'ingress.tlsSecret=belfry-tls',
  ],
  'the move to PostgreSQL': [...onPostgres, 'replicas=0', 'migrate.enabled=true', 'metrics=false'],
};
/** Of the sources whose schemas are used: a helm that was built here knows none. */
const cluster = ['--kube-version', '1.34.1'];
/** Each value of the chart, other than its default. */
const everyValue = {
  image: { repository: 'registry.example.org/belfry', tag: '0.2.0', pullPolicy: 'Always' },
  replicas: 3,
  database: { secret: 'belfry-database' },
  keySecret: 'belfry-key',
  settings: { BELFRY_INTAKE_QUEUE: 10_000_000, BELFRY_LOG_FORMAT: 'json' },
  extraEnv: [{ name: 'BELFRY_BUS_URL', valueFrom: { secretKeyRef: { name: 'nats', key: 'url' } } }],
  persistence: { size: '20Gi', storageClass: 'fast' },
  service: { type: 'LoadBalancer', port: 8443 },
  metrics: true,
  podMonitor: { enabled: true, interval: '15s', labels: { release: 'prometheus' } },
  networkPolicy: {
    enabled: true,
    httpFrom: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
    metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
    more: [{ ports: [{ port: 5514, protocol: 'UDP' }] }],
  },
  migrate: { enabled: false },
  ingress: {
    ...{ enabled: true, className: 'nginx', host: 'wall.example.org', tlsSecret: 'belfry-tls' },
    annotations: { 'nginx.ingress.kubernetes.io/proxy-buffering': 'off' },
  },
  resources: { limits: { memory: '2Gi' } },
  podAnnotations: { 'prometheus.io/scrape': 'true' },
  nodeSelector: { 'kubernetes.io/os': 'linux' },
  tolerations: [{ key: 'screens', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
};
const withValues = (name: string, values: object) => {
  const file = join(scratch, `${name}.json`);
  writeFileSync(file, JSON.stringify(values));
  return ['--values', file];
};

const options = (settings: readonly string[]) => settings.flatMap((setting) => ['--set', setting]);

describe.skipIf(missing !== undefined)(`the chart${missing === undefined ? '' : `: ${missing}`}`, () => {
  beforeAll(() => {
    goTool('helm');
    goTool('kubeconform');
    writeSchemas(join(scratch, 'schemas'));
  }, buildMs);

  const rendered = Object.entries(variants).map(([name, settings]) => [name, options(settings)] as const);
  const { replicas, database, ...onSqlite } = everyValue;
  rendered.push(['every value, with PostgreSQL', withValues('postgres', everyValue)]);
  rendered.push(['every value, with SQLite', withValues('sqlite', onSqlite)]);

  test.each(rendered)('for %s is what helm and Kubernetes take', (name, args) => {
    const helm = goTool('helm');
    const linted = run(helm, 'lint', '--strict', chart, ...cluster, ...args);
    expect(linted.stdout).toContain('0 chart(s) failed');
    const made = run(helm, 'template', 'belfry', chart, ...cluster, ...args);
    expect(made.status, made.stderr).toBe(0);
    const file = join(scratch, 'made.yaml');
    writeFileSync(file, made.stdout);
    const location = join(scratch, 'schemas', '{{ .ResourceKind }}{{ .KindSuffix }}.json');
    const options = ['-strict', '-summary', '-skip', 'PodMonitor', '-schema-location', location];
    const checked = run(goTool('kubeconform'), ...options, file);
    expect(checked.stdout + checked.stderr).toMatch(/Invalid: 0, Errors: 0, Skipped: [01]/);
    const kinds = parseAllDocuments(made.stdout).map((each) => each.get('kind'));
    expect(kinds).toEqual(expect.arrayContaining(['Deployment', 'Service']));
    expect(kinds.includes('PersistentVolumeClaim')).toBe(name.includes('SQLite'));
    expect(kinds.includes('PodDisruptionBudget')).toBe(/PostgreSQL on|with PostgreSQL/.test(name));
    expect(kinds.includes('Job')).toBe(name.startsWith('the move'));
    expect(kinds.includes('PodMonitor')).toBe(name.startsWith('every value'));
    expect(made.stdout).toContain('enableServiceLinks: false');
    if (name.startsWith('every value')) expect(made.stdout).toContain('value: "10000000"');
  });

  test('is tried with each value that it has', () => {
    const values = readFileSync(join(chart, 'values.yaml'), 'utf8');
    expect(Object.keys(everyValue)).toEqual(Object.keys(parse(values)));
  });

  test.each([
    ['a second server on SQLite', ['replicas=2'], 'only one server can use SQLite'],
    [
      'a copy beside a running server',
      [...onPostgres, 'migrate.enabled=true'],
      'no server may run meanwhile',
    ],
    ['a monitor of nothing', ['podMonitor.enabled=true', 'metrics=false'], 'nothing to scrape'],
    ['nodes without a shared key', ['database.secret=belfry-database'], 'share one server key'],
  ])('refuses %s', (_, settings, reason) => {
    const refused = run(goTool('helm'), 'template', 'belfry', chart, ...cluster, ...options(settings));
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain(reason);
  });

  test('is refused by the check when a field is wrong: the check can fail', () => {
    const location = join(scratch, 'schemas', '{{ .ResourceKind }}{{ .KindSuffix }}.json');
    const wrong = join(scratch, 'wrong.yaml');
    writeFileSync(wrong, 'apiVersion: v1\nkind: Service\nmetadata: { name: a }\nspec: { prots: [] }\n');
    expect(run(goTool('kubeconform'), '-strict', '-schema-location', location, wrong).status).toBe(1);
  });
});

describe.skipIf(missing !== undefined)('a compose file', () => {
  beforeAll(() => void goTool('compose'), buildMs);

  test.each(['compose.yaml', 'compose.nodes.yaml'])('is what the specification says: %s', (file) => {
    const { status, stderr } = run(goTool('compose'), join(root, 'deploy', file));
    expect(status, stderr).toBe(0);
  });
});

type Schema = Record<string, unknown>;

/** A schema for each kind of object of Kubernetes, as kubeconform looks for it; fields that it does not name are wrong. */
function writeSchemas(folder: string): void {
  const swagger = join(kubernetesSources(), 'api/openapi-spec/swagger.json');
  const { definitions } = JSON.parse(readFileSync(swagger, 'utf8'), (_, value: Schema | null) => {
    if (value?.format === 'int-or-string') return { type: ['string', 'integer'] };
    if (typeof value?.properties === 'object' && !('additionalProperties' in value))
      return { ...value, additionalProperties: false };
    return value;
  }) as { definitions: Record<string, Schema> };
  mkdirSync(folder);
  for (const [name, schema] of Object.entries(definitions)) {
    for (const each of (schema['x-kubernetes-group-version-kind'] as Record<string, string>[] | undefined) ??
      []) {
      const { group = '', version = '', kind = '' } = each;
      if (
        !/^(?:Deployment|Job|NetworkPolicy|Service|Ingress|PodDisruptionBudget|PersistentVolumeClaim)$/.test(
          kind,
        )
      )
        continue;
      const suffix = [group.split('.')[0], version].filter((part) => part !== '').join('-');
      const file = join(folder, `${kind.toLowerCase()}-${suffix}.json`);
      writeFileSync(file, JSON.stringify({ $ref: `#/definitions/${name}`, definitions }));
    }
  }
}
