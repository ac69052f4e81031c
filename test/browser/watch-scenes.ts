/** A day at Example Ops: what Overview and History are looked at with. */
import type { TestServer } from '../support/server.ts';
import type { DashboardScenes } from './dashboard-scene.ts';

interface Happened {
  readonly agoMs: number;
  readonly title: string;
  readonly message: string;
  readonly level: string;
  readonly host?: string;
  readonly ip?: string;
  readonly key?: string;
  readonly url?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

const minute = 60_000;

const happened: readonly Happened[] = [
  {
    agoMs: 20_000,
    title: 'Power lost in rack 4, on battery',
    message: 'UPS reports 11 minutes left',
    level: 'critical',
    host: 'ups-4.dc1',
    ip: '10.0.9.14',
  },
  {
    agoMs: 5 * minute,
    title: 'Replication stopped on db-02',
    message: 'Last WAL position 3/A41F is 214 MB behind the primary; receiver exited with code 1.',
    level: 'error',
    host: 'db-02.internal',
    ip: '10.0.4.18',
    key: 'db-02/replication',
    url: 'https://grafana.example.org/d/replication?var-host=db-02',
    labels: {
      cluster: 'orders',
      env: 'prod',
      job: 'postgres-exporter-of-the-second-data-centre',
      site: 'plant 2, hall “west”',
      team: '',
    },
  },
  {
    agoMs: 7 * minute,
    title: 'Disk almost full',
    message: '/var is at 91 % and growing 2 % per hour',
    level: 'warning',
    host: 'db-01.internal',
    ip: '10.0.4.17',
  },
];
const titles = [
  'Replication lag over 30 s',
  'Connections at 92 % of limit',
  'Slow query over 5 s',
  'Vacuum has not run for 3 days',
];
const messages = ['threshold 30 s for 5 min', '184 of 200 in use', 'orders by customer', 'table events'];

/** The newest first. */
const day: readonly Happened[] = [
  ...happened,
  ...Array.from({ length: 260 }, (_, n): Happened => {
    const level = n % 23 === 4 ? 'error' : n % 7 === 3 ? 'info' : n % 11 === 5 ? 'success' : 'warning';
    const wave = Math.round(2.4 * minute * (1 + Math.abs(Math.sin(n * 0.21)) * 2.3));
    return {
      agoMs: 9 * minute + n * wave + ((n * 371) % 1000),
      title: titles[n % 4] ?? '',
      message: messages[n % 4] ?? '',
      level,
      host: `db-0${1 + (n % 4)}.internal`,
      ip: `10.0.4.${16 + (n % 4)}`,
    };
  }),
  ...Array.from({ length: 110 }, (_, n): Happened => {
    const level = n % 13 === 4 ? 'error' : n % 5 === 3 ? 'warning' : n % 9 === 1 ? 'success' : 'info';
    return {
      agoMs: 40_000 + Math.round((n % 10) * 5.6 * minute + Math.abs(Math.sin(n)) * 4 * minute),
      title: ['Deployed', 'Backup finished', 'Queue is long', 'Certificate renewed'][n % 4] ?? '',
      message:
        [
          'Health checks passed on the first try.',
          '41 GB in 3 min.',
          '1,204 jobs wait.',
          'Valid for 90 days.',
        ][n % 4] ?? '',
      level,
      host: ['web-1', 'web-2', 'backup', 'queue-1', 'edge-1'][n % 5] ?? '',
      ip: `10.0.7.${11 + (n % 5)}`,
    };
  }),
].sort((a, b) => a.agoMs - b.agoMs);

/** The server is in this process: what is sent while its clock is set back was received then. */
let setBackMs = 0;
const now = Date.now;
Date.now = () => now() - setBackMs;

/** Fills a tenant with a day of notifications, two walls and three rules; answers the walls' ids. */
export async function seedDay(server: TestServer): Promise<readonly string[]> {
  const admin = await server.key('admin');
  const call = (method: string, path: string, json: unknown) =>
    server.call(method, path, { token: admin, json });
  const panelToken = await server.token({ scopes: ['panel'] });
  const panels: string[] = [];
  for (const name of ['NOC east wall', 'NOC west wall']) {
    const made = await server.call('POST', '/api/panels', {
      token: panelToken,
      json: { name, tags: ['noc'] },
    });
    panels.push(made.json.id as string);
  }
  await call('POST', '/api/rules', {
    name: 'Lab is quiet',
    when: { ip: ['10.9.0.0/16'] },
    then: { mute: true },
  });
  await call('POST', '/api/rules', {
    name: 'Lag of replicas is known',
    when: { title: { contains: 'Replication lag' } },
    then: { mute: true },
  });
  await call('POST', '/api/rules', {
    name: 'DB to the NOC',
    when: { host: ['db-*'], minLevel: 'warning' },
    then: { panels: { tags: ['noc'] } },
  });
  const tokens = [
    await server.token({ scopes: ['notify'], name: 'prometheus' }),
    await server.token({ scopes: ['notify'], name: 'ci' }),
  ];
  for (const { agoMs, ...sent } of [...day].reverse()) {
    setBackMs = agoMs;
    const { status, text, json } = await server.notify(tokens[agoMs % 2] ?? '', sent);
    if (status !== 200) throw new Error(text);
    const receipt = [{ id: json.id, state: 'shown', at: Date.now() + 38 }];
    setBackMs = Math.max(0, agoMs - 60);
    await server.call('POST', `/api/panels/${panels[0]}/receipts`, { token: panelToken, json: receipt });
    setBackMs = 0;
  }
  return panels;
}

const search = (q: string) => `history?q=${encodeURIComponent(q)}`;
const databases = search('host:db-* level:>=warning -ip:10.9.0.0/16 since:24h');

export const watchScenes: readonly DashboardScenes[] = [
  {
    name: 'watch',
    fill: async ({ server }) => {
      const [east] = await seedDay(server);
      await server.stream(`/api/panels/${east}/events`, await server.token({ scopes: ['panel'] }));
    },
    scenes: [
      { name: 'alarms', path: 'alarms' },
      {
        name: 'alarms-selected',
        path: 'alarms?group=host',
        act: async (page) => {
          await page.getByText('db-02.internal').first().click();
          await page.getByRole('checkbox').nth(1).click();
        },
      },
      {
        name: 'alarms-open',
        path: 'alarms?group=none',
        act: async (page) => {
          await page.getByText('Replication stopped on db-02').first().click();
          await page.getByText('Open: nobody takes care of it.').waitFor();
        },
      },
      { name: 'overview', path: 'overview' },
      { name: 'overview-viewer', path: 'overview', role: 'viewer' },
      {
        name: 'overview-table',
        path: 'overview',
        act: (page) => page.getByRole('button', { name: 'Show as table' }).click(),
      },
      { name: 'history', path: 'history' },
      { name: 'history-search', path: databases },
      {
        name: 'history-open',
        path: databases,
        act: async (page) => {
          await page.getByText('Replication stopped on db-02').first().click();
          await page.getByText('Display receipts').waitFor();
        },
      },
      {
        name: 'history-open-muted',
        path: search('is:muted'),
        act: async (page) => {
          await page.getByText('Replication lag').first().click();
          await page.getByText('Not shown: the rule').waitFor();
        },
      },
      { name: 'history-error', path: search('host:db-* level:>=waring since:24h') },
      { name: 'history-nothing', path: search('host:nowhere since:1h') },
      {
        name: 'history-completing',
        path: 'history',
        act: async (page) => {
          await page.getByRole('combobox', { name: 'Search' }).click();
          await page.keyboard.type('level:>=warning host:d');
          await page.getByRole('option').first().waitFor();
          await page.keyboard.press('ArrowDown');
        },
      },
      {
        name: 'history-completing-label',
        path: 'history',
        act: async (page) => {
          await page.getByRole('combobox', { name: 'Search' }).click();
          await page.keyboard.type('level:error label:');
          await page.getByRole('option', { name: 'site=' }).waitFor();
        },
      },
      {
        name: 'history-keys',
        path: 'history',
        act: async (page) => {
          await page.getByRole('combobox', { name: 'Search' }).click();
          await page.getByRole('option').first().waitFor();
        },
      },
      {
        name: 'history-time',
        path: databases,
        act: (page) => page.getByRole('button', { name: /^Time/ }).click(),
      },
      {
        name: 'history-saved',
        path: databases,
        act: (page) => page.getByRole('button', { name: 'Saved searches' }).click(),
      },
      { name: 'history-live', path: 'history?live=true' },
    ],
  },
  {
    name: 'watch-none',
    fill: async () => undefined,
    scenes: [
      { name: 'overview', path: 'overview' },
      { name: 'history', path: 'history' },
    ],
  },
];
