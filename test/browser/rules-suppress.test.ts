import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { coreSwitch } from '../support/core-switch.ts';
import { faultsInBothSchemes } from './accessibility.ts';
import { DashboardLab, type Desk } from './dashboard-lab.ts';
import { seedRules } from './rules-scenes.ts';

let lab: DashboardLab;
let desk: Desk;
let key: string;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
  key = await lab.server.key('admin');
  await seedRules(lab.server, [], { sent: [] });
});
afterAll(() => lab.close());
afterEach(async () => {
  expect(desk.errors).toEqual([]);
  await desk.close();
  for (const { id } of await rulesNow()) await call('DELETE', `/api/rules/${id}`);
});

const call = (method: string, path: string, json?: unknown) =>
  lab.server.call(method, path, { token: key, ...(json !== undefined && { json }) });
const rulesNow = async (): Promise<{ id: string }[]> => (await call('GET', '/api/rules')).json.rules;
async function open(path = 'rules', options: object = {}): Promise<Page> {
  desk = await lab.desk({ role: 'admin', path, locale: 'en-GB', ...options });
  return desk.page;
}
const suppressIn = (sheet: Locator) => sheet.getByRole('group', { name: /suppress other alarms/ });

test('a rule that suppresses is begun from its template, changed by keyboard, and saved', async () => {
  const page = await open();
  await page.getByRole('link', { name: /A switch is down/ }).click();
  const sheet = page.getByRole('dialog');
  await sheet
    .getByText(
      'suppress other alarms whose title contains “unreachable” with the same label site while the alarm stands, then continue',
    )
    .waitFor();
  const suppress = suppressIn(sheet);
  await suppress.getByRole('button', { name: 'Add condition' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Host', exact: true }).press('Enter');
  await page.keyboard.type('lab-*,');
  await suppress.getByRole('combobox', { name: 'Operator for host' }).selectOption('is not');
  const same = suppress.getByRole('combobox', { name: 'Suppress alarms with the same' });
  await same.press('Backspace');
  await same.pressSequentially('label:room');
  await page.getByRole('option', { name: 'label:room' }).waitFor();
  await page.keyboard.press('Enter');
  await sheet
    .getByText('and host does not match lab-* with the same label room while the alarm stands')
    .waitFor();
  // Closes the list of fields.
  await page.keyboard.press('Tab');
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.waitFor({ state: 'detached' });
  const then = {
    suppress: {
      when: { title: { contains: 'unreachable' }, not: { host: ['lab-*'] } },
      equal: ['label:room'],
    },
  };
  expect(await rulesNow()).toMatchObject([{ when: { host: ['core-sw-*'] }, then, continue: true }]);
});

test('an error in what a rule suppresses is shown at its place', async () => {
  const page = await open('rules?id=new');
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('button', { name: 'Add action' }).click();
  await page.getByRole('menuitem', { name: 'Suppress other alarms while this one stands' }).click();
  const suppress = suppressIn(sheet);
  const add = async (field: string) => {
    await suppress.getByRole('button', { name: 'Add condition' }).click();
    await page.getByRole('menuitem', { name: field, exact: true }).click();
  };
  await add('Title');
  await sheet.getByRole('button', { name: 'Save' }).click();
  await suppress.getByRole('alert').getByText('Enter at least one value.').waitFor();
  await suppress.getByRole('combobox', { name: 'Operator for title' }).selectOption('matches regex');
  await suppress.getByRole('combobox', { name: 'Values for title' }).pressSequentially('(');
  await page.keyboard.press('Enter');
  // The server checks the pattern: until it answers, there may be no alert.
  await suppress.getByRole('alert').filter({ hasNotText: 'Enter at least one value.' }).waitFor();
  await expect.poll(() => sheet.getByRole('alert').count()).toBe(1);
  await suppress.getByRole('button', { name: 'Remove condition: title' }).click();
  await add('Level');
  await suppress.getByRole('combobox', { name: 'Values for level' }).pressSequentially('eror,');
  await suppress.getByRole('status').getByText('No level is named “eror”').waitFor();
  await sheet.getByRole('button', { name: 'Save' }).click();
  await suppress.getByRole('alert').getByText('This level does not exist.').waitFor();
  expect(await rulesNow()).toEqual([]);
});

test('on a phone, no part of it is wider than the page', async () => {
  const suppress = { when: { title: { contains: 'unreachable' } }, equal: ['label:site', 'host'] };
  await call('POST', '/api/rules', { name: 'core', when: { host: ['core'] }, then: { suppress } });
  const page = await open('rules', { viewport: { width: 360, height: 740 } });
  await page.getByRole('link', { name: 'core' }).click();
  const group = suppressIn(page.getByRole('dialog'));
  await group.waitFor();
  await group.scrollIntoViewIfNeeded();
  const widest = await group.evaluate((element) =>
    Math.max(...[...element.querySelectorAll('*')].map((each) => each.getBoundingClientRect().right)),
  );
  expect(widest).toBeLessThanOrEqual(360);
});

test('a replay says what would be suppressed, and that it is shown later', async () => {
  const token = await lab.server.token({ scopes: ['notify'] });
  for (const [title, host] of [
    ['core switch down', 'core-sw-1'],
    ['host unreachable', 'db-1'],
    ['host unreachable', 'db-2'],
  ])
    await lab.server.notify(token, {
      title,
      message: 'm',
      host,
      level: 'error',
      labels: { site: 'plant 2' },
    });
  const page = await open('rules?id=new&example=cause');
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('tab', { name: 'Replay' }).click();
  await sheet.getByRole('button', { name: 'Replay', exact: true }).click();
  await sheet.getByText('2 suppressed').waitFor();
  await sheet.getByText('Another alarm would have suppressed them.').waitFor();
  await sheet.getByRole('link', { name: 'host unreachable' }).first().waitFor();
  await sheet.getByText('all panels').first().waitFor();
});

test('what is suppressed says by which alarm and which rule, in the explanation and in its details', async () => {
  const { switchDown, hostDown, clear } = await coreSwitch(lab.server);
  const cause = await switchDown();
  const id = await hostDown('host-1');
  const page = await open(`rules?explain=${id}`);
  const answer = page
    .getByRole('dialog', { name: 'Explain routing' })
    .getByRole('region', { name: 'Result' });
  await answer.getByText('Suppressed: off the panels while “Core switch down” stands').waitFor();
  await answer.getByText('By the rule “Hosts follow their core switch”.').waitFor();
  await answer.getByText('; it suppresses this notification').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  expect(desk.errors).toEqual([]);
  await desk.close();
  const details = (await open(`history?id=${id}`)).getByRole('complementary', { name: 'Notification' });
  await details.getByText('It is on no panel: it is suppressed by “Core switch down”').waitFor();
  await details.getByText('The rule “Hosts follow their core switch” says so.').waitFor();
  await details.getByText('; it suppresses this notification').waitFor();
  for (const each of [id, cause]) await clear(each);
});

test('a rule that suppresses every other alarm is warned of, in the editor and in the list', async () => {
  const page = await open('rules?id=new');
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('button', { name: 'Add action' }).click();
  await page.getByRole('menuitem', { name: 'Suppress other alarms while this one stands' }).click();
  const suppress = suppressIn(sheet);
  const warned = (text: string) => suppress.getByRole('status').getByText(text).waitFor();
  await warned(
    'This also suppresses alarms of a higher level. Add a condition on the level to prevent that.',
  );
  await suppress.getByRole('combobox', { name: 'Suppress alarms with the same' }).press('Backspace');
  const all = 'It suppresses every other alarm, also of a higher level.';
  await warned(all);
  await page.keyboard.press('Tab');
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.waitFor({ state: 'detached' });
  await page.getByText(all).waitFor();
});
