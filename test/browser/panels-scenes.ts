import type { Page } from 'playwright-core';
import { appHeaders, subscribe } from '#test/support/ntfy-client.ts';
import type { DashboardLab } from './dashboard-lab.ts';
import type { DashboardScenes } from './dashboard-scene.ts';
import { fullBoard } from './scenes.ts';

const places = [
  ['NOC east wall', 'Control room, east', ['noc', 'wall'], true],
  ['NOC west wall', 'Control room, west', ['noc', 'wall'], true],
  ['Reception', 'Ground floor', ['office'], true],
  ['Workshop kiosk', 'Hall 2, by the gate', ['workshop', 'kiosk'], false],
  ['Ada’s desk', null, ['desk'], true],
  ['לוח הבקרה הראשי', 'Tel Aviv', ['noc', 'remote'], true],
] as const;

/** Six panels, some of them connected; the first two show a full board. */
export async function fillPanels({ server }: DashboardLab): Promise<void> {
  const token = await server.token();
  const key = await server.key('admin');
  for (const [name, location, tags, isOnline] of places) {
    const { json } = await server.call('POST', '/api/panels', { token, json: { name, tags, location } });
    if (isOnline) await server.stream(`/api/panels/${json.id}/events`, token);
  }
  await server.call('POST', '/api/rules', {
    token: key,
    json: {
      name: 'what is serious to the NOC',
      when: { minLevel: 'info' },
      then: { panels: { tags: ['noc'] } },
    },
  });
  for (const notification of fullBoard.toReversed()) await server.notify(token, notification);
}

async function addPhone(page: Page, name: string, app: string): Promise<void> {
  await page.getByRole('button', { name: 'Add phone' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add phone' });
  await dialog.getByLabel('Name of the phone').fill(name);
  await dialog.getByText(app, { exact: true }).click();
  await dialog.getByRole('button', { name: 'Add phone' }).click();
  await dialog.getByText('Waiting for the phone').waitFor();
}

async function openNewPhone(page: Page, name: string): Promise<void> {
  await addPhone(page, name, 'ntfy');
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name }).first().click();
  await page.getByRole('dialog', { name }).waitFor();
}

/** Pictures of the docs show no token, even if its server is gone. */
function withoutToken(server: string): void {
  const values = document.querySelectorAll('[role="dialog"] pre code, [role="dialog"] pre');
  for (const value of values) {
    if (value.children.length > 0) continue;
    if (value.textContent?.startsWith('http')) value.textContent = server;
    if (value.textContent?.startsWith('bfy_')) value.textContent = `bfy_${'•'.repeat(24)}`;
  }
}

export const panelsScenes: readonly DashboardScenes[] = [
  {
    name: 'panels',
    fill: fillPanels,
    scenes: [
      { name: 'list', path: 'panels' },
      { name: 'viewer', path: 'panels', role: 'viewer' },
      { name: 'pairing', path: 'panels?pair=K7M4QX' },
      {
        name: 'pairing-wrong',
        path: 'panels?pair=K7M4QX',
        act: async (page) => {
          await page.getByLabel('Name', { exact: true }).fill('Lobby');
          await page.getByRole('dialog').getByRole('button', { name: 'Approve screen' }).click();
          await page.getByText('No screen is waiting').waitFor();
        },
      },
      {
        name: 'drawer',
        path: 'panels',
        act: async (page) => {
          await page.getByRole('button', { name: /^NOC east wall C/ }).click();
          await page.getByRole('dialog').waitFor();
        },
      },
      {
        name: 'drawer-display',
        path: 'panels',
        act: async (page) => {
          await page.getByRole('button', { name: /^NOC east wall C/ }).click();
          await page.getByLabel('Maximum cards').fill('7');
          await page.getByText('Appearance', { exact: true }).scrollIntoViewIfNeeded();
          await page.getByRole('combobox', { name: 'Time zone' }).scrollIntoViewIfNeeded();
        },
      },
      {
        name: 'drawer-look',
        path: 'panels',
        act: async (page) => {
          await page.getByRole('button', { name: /^NOC east wall C/ }).click();
          await page.getByLabel('Size', { exact: true }).fill('150');
          await page.getByText('Light', { exact: true }).click();
          await page.getByRole('combobox', { name: 'Minimum level' }).scrollIntoViewIfNeeded();
        },
      },
      {
        name: 'add-phone-ntfy',
        path: 'panels',
        act: async (page) => {
          await addPhone(page, 'Pixel 8', 'ntfy');
          const [server, topic, , token = ''] = await page
            .getByRole('dialog')
            .locator('pre')
            .allTextContents();
          await subscribe(`${server}/${topic}/json?since=none`, appHeaders(token));
          await page.getByText('Connected:').waitFor();
          await page.evaluate(withoutToken, 'https://belfry.example.org/ntfy');
        },
      },
      {
        name: 'add-phone-gotify',
        path: 'panels',
        act: async (page) => {
          await addPhone(page, 'Galaxy S24', 'Gotify');
          await page.evaluate(withoutToken, 'https://belfry.example.org/gotify');
        },
      },
      { name: 'phone-drawer', path: 'panels', act: (page) => openNewPhone(page, 'Fairphone') },
      {
        name: 'phone-settings',
        path: 'panels',
        act: async (page) => {
          await openNewPhone(page, 'Galaxy A35');
          await page
            .getByRole('radiogroup', { name: 'Pause between sounds' })
            .getByText('Set', { exact: true })
            .click();
          await page.getByLabel('Critical always rings').scrollIntoViewIfNeeded();
        },
      },
      {
        name: 'phone-connect',
        path: 'panels',
        act: async (page) => {
          await openNewPhone(page, 'Telephone of the second shift');
          await page.getByRole('button', { name: 'Connect another phone' }).click();
          await page.getByRole('dialog', { name: 'Connect another phone' }).waitFor();
        },
      },
      {
        name: 'phone-list',
        path: 'panels',
        act: async (page) => {
          await addPhone(page, 'Telephone of the first shift', 'ntfy');
          await page.getByRole('button', { name: 'Done' }).click();
        },
      },
      { name: 'phone-overview', path: 'overview' },
      {
        name: 'delete',
        path: 'panels',
        act: async (page) => {
          await page.getByRole('button', { name: /^NOC east wall C/ }).click();
          await page.getByRole('button', { name: 'Delete…' }).click();
          await page.getByRole('button', { name: 'Delete panel' }).waitFor();
        },
      },
    ],
  },
  { name: 'panels-none', fill: async () => undefined, scenes: [{ name: 'empty', path: 'panels' }] },
];
