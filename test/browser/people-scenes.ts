/** Pictures of people's pages: ways in, members, audit log, account, the first steps. */
import type { Page } from 'playwright-core';
import { makePerson } from '../support/person.ts';
import type { DashboardLab } from './dashboard-lab.ts';
import type { DashboardScenes } from './dashboard-scene.ts';

async function fill({ server }: DashboardLab): Promise<void> {
  for (const [name, role] of [
    ['Grace Hopper', 'admin'],
    ['Katherine Johnson', 'member'],
    ['Radia Perlman', 'viewer'],
  ] as const) {
    await makePerson(server, role, { name, email: `${name.split(' ')[0]?.toLowerCase()}@example.org` });
  }
  const token = await server.key('owner');
  const call = (method: string, path: string, json: object) => server.call(method, path, { token, json });
  await call('POST', '/api/invitations', { role: 'member', email: 'annie@example.org' });
  await call('POST', '/api/tokens', { name: 'prometheus', scopes: ['notify'] });
  await call('PUT', '/api/levels/deploy', { color: '#8855ff', icon: 'rocket' });
  await call('PATCH', '/api/tenant', { title: 'Example Ops', timeZone: 'Europe/Berlin' });
  await call('POST', '/api/rules', {
    name: 'DB to the NOC',
    when: { host: ['db-*'] },
    then: { panels: 'all' },
  });
}

const signedOut = (path: string) => async (page: Page) => {
  await page.context().clearCookies();
  await page.goto(new URL(path, page.url()).href);
  await page.locator('main h1').waitFor();
};

export const peopleScenes: readonly DashboardScenes[] = [
  {
    name: 'people',
    fill,
    scenes: [
      { name: 'members', path: 'settings/members' },
      {
        name: 'invite',
        path: 'settings/members',
        act: async (page) => {
          await page.keyboard.press('n');
          await page.getByRole('dialog').waitFor();
        },
      },
      { name: 'audit', path: 'settings/audit' },
      { name: 'audit-viewer', path: 'settings/audit', role: 'viewer' },
      { name: 'account', path: '../../account' },
      {
        name: 'welcome',
        path: 'welcome',
        act: async (page) => {
          await page.getByRole('button', { name: 'Create token' }).click();
          await page.getByRole('button', { name: 'Send test' }).click();
          await page.getByText('Recorded after').waitFor();
        },
      },
      { name: 'sign-in', path: 'overview', act: signedOut('/sign-in') },
      {
        name: 'sign-in-wrong',
        path: 'overview',
        act: async (page) => {
          await signedOut('/sign-in')(page);
          await page.getByLabel('Email').fill('grace@example.org');
          await page.getByRole('textbox', { name: 'Password' }).fill('not this one');
          await page.keyboard.press('Enter');
          await page.getByRole('alert').waitFor();
        },
      },
    ],
  },
];
