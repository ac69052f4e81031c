import type { DashboardLab } from './dashboard-lab.ts';
import type { DashboardScenes } from './dashboard-scene.ts';

const day = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * day).toISOString();

/** Tokens in every state, one of them in use, one a screen's own; and two keys. */
export async function fillTokens({ server }: DashboardLab): Promise<void> {
  const token = await server.key('owner');
  const make = async (json: object) => (await server.call('POST', '/api/tokens', { token, json })).json;
  await make({ name: 'alertmanager', scopes: ['notify'], allowFrom: ['10.0.0.0/8', 'fd00::/8'] });
  await make({ name: 'grafana', scopes: ['notify', 'metrics'], expiresAt: inDays(5) });
  await make({ name: 'ci', scopes: ['notify'], expiresAt: inDays(80), rate: { perSecond: 5, burst: 20 } });
  const backup = await make({ name: 'backup scripts', scopes: ['notify'] });
  await server.notify(backup.token, { title: 'Nightly backup', message: 'finished in 38 minutes' });
  const old = await make({ name: 'old nagios', scopes: ['notify'] });
  await server.call('DELETE', `/api/tokens/${old.id}`, { token });
  const { json: panel } = await server.call('POST', '/api/panels', {
    token: await server.token(),
    json: { name: 'NOC east wall' },
  });
  await server.token({ name: 'panel NOC east wall', scopes: ['panel'], panelId: panel.id });
  for (const role of ['viewer', 'admin'] as const)
    await server.call('POST', '/api/keys', { token, json: { name: `${role} script`, role } });
}

export const tokensScenes: readonly DashboardScenes[] = [
  {
    name: 'tokens',
    fill: fillTokens,
    scenes: [
      { name: 'list', path: 'settings/tokens' },
      { name: 'keys', path: 'settings/tokens?tab=keys' },
      {
        name: 'create',
        path: 'settings/tokens',
        act: async (page) => {
          await page.keyboard.press('n');
          await page.getByLabel('Name', { exact: true }).fill('prometheus');
          await page.getByText('Restrictions').click();
          await page.getByRole('textbox', { name: 'Allowed addresses' }).fill('10.0.0.0/33');
          await page.getByRole('radiogroup', { name: 'Rate limit' }).getByText('Custom').click();
        },
      },
      {
        name: 'created',
        path: 'settings/tokens',
        act: async (page) => {
          await page.keyboard.press('n');
          await page.getByLabel('Name', { exact: true }).fill('prometheus');
          await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click();
          await page.getByText('I’ve saved it').waitFor();
        },
      },
      {
        name: 'drawer',
        path: 'settings/tokens',
        act: async (page) => {
          await page.locator('table').getByRole('button', { name: 'ci', exact: true }).click();
          await page.getByRole('button', { name: 'Revoke…' }).waitFor();
        },
      },
      {
        name: 'revoke',
        path: 'settings/tokens',
        act: async (page) => {
          await page.getByRole('button', { name: /^panel NOC/ }).click();
          await page.getByRole('button', { name: 'Revoke…' }).click();
          await page.getByRole('button', { name: 'Revoke', exact: true }).waitFor();
        },
      },
      { name: 'viewer', path: 'settings/tokens', role: 'viewer' },
    ],
  },
];

export const integrationsScenes: readonly DashboardScenes[] = [
  {
    name: 'integrations',
    fill: async (lab) => {
      await fillTokens(lab);
      const fields = {
        title: '{^/device}: {/what}',
        level: '{/severity}',
        host: '{^/device}',
        key: 'ups:{/id}',
      };
      const events = [
        { id: 7, what: 'On battery', severity: 'high' },
        { id: 8, what: 'Battery replaced', severity: 'gone' },
      ];
      await lab.server.call('PUT', '/api/mappings/ups', {
        token: await lab.server.key('owner'),
        json: { items: '/events', fields, levels: { high: 'critical', gone: 'success', '*': 'warning' } },
      });
      await lab.server.call('POST', '/api/integrations/custom/ups', {
        token: await lab.server.token({ name: 'ups' }),
        json: { device: 'ups-1', events },
      });
    },
    scenes: [
      { name: 'list', path: 'settings/integrations' },
      { name: 'alertmanager', path: 'settings/integrations?id=alertmanager' },
      { name: 'sns', path: 'settings/integrations?id=sns' },
      { name: 'mappings', path: 'settings/integrations?tab=mappings' },
      {
        name: 'mapping',
        path: 'settings/integrations?tab=mappings&id=ups',
        act: (page) => page.getByText('2 notifications').waitFor(),
      },
      {
        name: 'github',
        path: 'settings/integrations?id=github',
        act: async (page) => {
          await page.getByLabel('API token').selectOption('ci');
          await page.getByRole('button', { name: 'Show signing secret' }).click();
          await page.getByText(/^whsec_/).waitFor();
        },
      },
      {
        name: 'signed',
        path: 'settings/tokens',
        act: async (page) => {
          await page.locator('table').getByRole('button', { name: 'ci', exact: true }).click();
          await page.getByText('Signed webhooks').click();
          await page.getByText('Signed webhooks').scrollIntoViewIfNeeded();
        },
      },
    ],
  },
];

/** Levels of the tenant's own, one of them in a colour that is hard to read. */
export async function fillLevels({ server }: DashboardLab): Promise<void> {
  const token = await server.key('owner');
  const put = (name: string, json: object) => server.call('PUT', `/api/levels/${name}`, { token, json });
  await put('deploy', { rank: 22, color: '#a78bfa', icon: 'rocket', sound: 'ping', durationMs: 20_000 });
  await put('security', { rank: 60, color: '#101010', icon: 'shield', sound: 'alarm', durationMs: 0 });
}

export const levelsScenes: readonly DashboardScenes[] = [
  {
    name: 'levels',
    fill: fillLevels,
    scenes: [
      { name: 'list', path: 'settings/levels' },
      { name: 'drawer', path: 'settings/levels?id=security' },
      {
        name: 'drawer-wrong',
        path: 'settings/levels?id=warning',
        act: async (page) => {
          await page.getByRole('textbox', { name: 'Rank' }).fill('2000');
          await page.getByRole('textbox', { name: 'Colour' }).fill('#12');
          await page.getByRole('textbox', { name: 'Display time' }).fill('0');
          await page.getByRole('combobox', { name: 'Unit' }).scrollIntoViewIfNeeded();
        },
      },
      { name: 'viewer', path: 'settings/levels?id=deploy', role: 'viewer' },
      { name: 'tenant', path: 'settings/tenant' },
      { name: 'tenant-viewer', path: 'settings/tenant', role: 'viewer' },
    ],
  },
];
