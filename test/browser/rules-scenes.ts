/** Rules, panels and notifications for tests and pictures of the page of routing rules. */

import type { Page } from 'playwright-core';
import type { RuleCreate } from '#contract/routing/rule.ts';
import type { TestServer } from '../support/server.ts';
import type { DashboardScenes } from './dashboard-scene.ts';
import { fullBoard } from './scenes.ts';

const hourMs = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * hourMs).toISOString();

export const manyKinds = (): readonly RuleCreate[] => [
  {
    name: 'Mute ups-4 until the electrician has been',
    when: { host: ['ups-4.dc1'] },
    then: { mute: true },
    activeUntil: inHours(9.4),
    note: 'Ticket 4711',
  },
  { name: 'Mute lab', when: { ip: ['10.9.0.0/16'] }, then: { mute: true } },
  {
    name: 'DB to the NOC',
    when: { host: ['db-*'], minLevel: 'warning' },
    then: { panels: { tags: ['noc'] }, setTtl: 5_000 },
  },
  {
    name: 'Flapping links once in five minutes',
    when: { title: { contains: ['link down', 'link up'] } },
    then: { throttle: { by: ['host', 'title'], perMs: 300_000 }, group: ['title', 'label:cluster'] },
    continue: true,
  },
  {
    name: 'Quiet nights',
    when: { not: { minLevel: 'error' } },
    then: { mute: true },
    windows: [
      { days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '22:00', until: '07:00' },
      { days: ['sat', 'sun'], from: '20:00', until: '09:00' },
    ],
    timeZone: 'Europe/Berlin',
  },
  {
    name: 'Deployments to the lobby',
    when: { token: ['ci'], level: ['success', 'info'], not: { host: ['canary-*', 'lab-*'] } },
    then: { panels: { tags: ['lobby'] }, setTtl: 30_000 },
    enabled: false,
  },
  {
    name: 'Certificates are errors',
    when: { title: { regex: '^[Cc]ertificate ends in [0-7] days' } },
    then: { setLevel: 'error', panels: 'all' },
  },
  {
    name: 'Production at plant 2',
    when: {
      labels: { env: ['prod', 'stag*'], site: ['plant 2'], cluster: ['*'] },
      not: { labels: { team: ['test'], job: ['*-canary'] } },
    },
    then: { panels: { tags: ['noc'] }, throttle: { by: ['title', 'label:cluster'], perMs: 300_000 } },
    continue: true,
  },
  { name: 'Noise', when: { key: ['cron/*'], message: { glob: '*OK*' } }, then: { panels: 'none' } },
];

/** Panels of two rooms, a token called ci, and what came in; then the rules, in their order. */
export async function seedRules(
  server: TestServer,
  rules: readonly RuleCreate[],
  { sent = fullBoard }: { readonly sent?: readonly object[] } = {},
): Promise<void> {
  const key = await server.key('admin');
  const panelToken = await server.token({ scopes: ['panel'] });
  for (const [name, tags] of [
    ['NOC east wall', ['noc']],
    ['NOC west wall', ['noc']],
    ['Lobby', ['lobby']],
    ['Desk of Grace', []],
  ] as const)
    await server.call('POST', '/api/panels', { token: panelToken, json: { name, tags } });
  const ci = await server.token({ scopes: ['notify'], name: 'ci' });
  for (const json of rules) {
    const { status, text } = await server.call('POST', '/api/rules', { token: key, json });
    if (status !== 201) throw new Error(text);
  }
  for (const notification of sent) {
    const { agoMs: _, ...body } = { agoMs: 0, ...notification };
    await server.notify(ci, body);
  }
}

const edit = async (page: Page, name = 'DB to the NOC') => {
  await page.locator('main ol > li', { hasText: name }).click();
  await page.getByRole('dialog').waitFor();
};

/** Pictures of the page. */
export const rulesScenes: readonly DashboardScenes[] = [
  {
    name: 'rules',
    fill: ({ server }) => seedRules(server, manyKinds()),
    scenes: [
      { name: 'list', path: 'rules' },
      { name: 'viewer', path: 'rules', role: 'viewer' },
      { name: 'new', path: 'rules?id=new' },
      { name: 'suppress', path: 'rules?id=new&example=cause' },
      { name: 'mute', path: 'rules?mute=db-01.internal' },
      {
        name: 'explain',
        path: 'rules',
        act: async (page) => {
          await edit(page);
          await page.getByRole('textbox', { name: 'Title', exact: true }).fill('Disk almost full');
          await page.getByRole('textbox', { name: 'Host', exact: true }).fill('db-01');
          await page.getByRole('combobox', { name: 'Level', exact: true }).selectOption('warning');
          await page.getByText('Shown on 2 panels').waitFor();
        },
      },
      {
        name: 'labels',
        path: 'rules',
        act: async (page) => {
          await edit(page, 'Production at plant 2');
          await page.getByRole('combobox', { name: 'Labels', exact: true }).pressSequentially('env=test,');
          // Otherwise the quiet nights end the evaluation at some hours.
          await page.getByRole('combobox', { name: 'Level', exact: true }).selectOption('error');
          await page.getByText('(value: test)').waitFor();
          await page.getByRole('button', { name: 'Add condition' }).click();
          await page.getByRole('menuitem', { name: 'Labels', exact: true }).click();
          await page.getByRole('combobox', { name: 'Name of the label' }).last().fill('env');
          await page.getByText('This label already has a condition.').first().waitFor();
        },
      },
      {
        name: 'replay',
        path: 'rules',
        act: async (page) => {
          await edit(page);
          await page.getByRole('button', { name: 'Remove: Choose panels' }).click();
          await page.getByRole('tab', { name: 'Replay' }).click();
          await page.getByRole('button', { name: 'Replay', exact: true }).click();
          await page.getByText(/in \d+ notifications/).waitFor();
        },
      },
      {
        name: 'json',
        path: 'rules',
        act: async (page) => {
          await edit(page);
          await page.getByRole('tab', { name: 'JSON' }).click();
        },
      },
      {
        name: 'wrong',
        path: 'rules?id=new',
        act: async (page) => {
          await page.getByRole('button', { name: 'Add condition' }).click();
          await page.getByRole('menuitem', { name: 'IP', exact: true }).click();
          await page
            .getByRole('combobox', { name: 'Values for IP' })
            .pressSequentially('10.0.0.0/8,10.0.0.0/33,');
          await page.getByRole('button', { name: 'Add action' }).click();
          await page.getByRole('menuitem', { name: /Mute/ }).click();
          await page.getByRole('alert').waitFor();
        },
      },
      { name: 'ask', path: 'rules?explain=typed' },
    ],
  },
];
