import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { faultsInBothSchemes } from './accessibility.ts';
import { DashboardLab } from './dashboard-lab.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
});
afterAll(() => lab.close());

test('what is expected is listed, found, looked at and ended, on a phone too', async () => {
  const { page, close, errors } = await lab.desk({ path: 'settings/expectations' });
  await page.getByText('Nothing is expected').waitFor();
  await page.getByText("-H 'X-Expect-Every: 1d'").waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  const token = await lab.server.token({ name: 'nightly' });
  const expecting = (title: string, key: string, expectEvery: string) =>
    lab.server.notify(token, { title, message: 'm', host: 'db-1', key, expectEvery });
  await expecting('Backup', 'a "quoted" key', '1s');
  await expecting('Certificates', 'certificates', '7d');
  await page.getByText('overdue').waitFor();
  await page.getByText(/due in 7 days/).waitFor();
  expect(await page.locator('[data-row]').allTextContents()).toEqual(['Backup', 'Certificates']);
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.getByRole('searchbox').fill('quoted');
  await expect.poll(() => page.locator('[data-row]').count()).toBe(1);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.getByRole('button', { name: 'Backup' }).click();
  const drawer = page.getByRole('dialog', { name: 'Backup' });
  await drawer.getByRole('link', { name: 'Open notification' }).waitFor();
  expect(await drawer.getByRole('link', { name: 'a "quoted" key' }).getAttribute('href')).toContain('key');
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await drawer.getByRole('button', { name: 'End expectation…' }).click();
  await page.getByRole('button', { name: 'End expectation', exact: true }).click();
  await page.getByText('No expectation matches the filter.').waitFor();
  const key = await lab.server.key('admin');
  const { json } = await lab.server.call('GET', '/api/expectations', { token: key });
  expect(json.expectations).toMatchObject([{ key: 'certificates' }]);
  expect(errors).toEqual([]);
  await close();
});

test('the steps of an escalation are added, changed, moved and removed', async () => {
  const { page, close } = await lab.desk({ path: 'rules?id=new', locale: 'en-GB' });
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('button', { name: 'Add action' }).click();
  await page.getByRole('menuitem', { name: /Escalate/ }).click();
  const step = (number: number) => sheet.getByRole('listitem', { name: `Step ${number}` });
  const add = sheet.getByRole('button', { name: 'Add step' });
  await add.click();
  await step(2).getByRole('combobox', { name: 'unless' }).selectOption('shown on a panel');
  await step(2).getByRole('combobox', { name: 'Choose panels' }).selectOption('the same, and panels tagged');
  await step(2)
    .getByRole('combobox', { name: 'the same, and panels tagged' })
    .last()
    .pressSequentially('management,');
  await sheet.getByText(/, then to 0 panels tagged management after another 15\smin unless shown/).waitFor();
  const amount = step(2).getByRole('textbox', { name: 'Time until the escalation' });
  await amount.press('End');
  for (const key of ['Backspace', 'Backspace', '2', '0']) await amount.press(key);
  await sheet.getByText(/management after another 20\smin unless shown/).waitFor();
  await amount.fill('15');
  await page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  expect(await faultsInBothSchemes(page)).toEqual([]);
  for (let more = 0; more < 3; more += 1) await add.click();
  await expect.poll(() => add.count()).toBe(0);
  for (let less = 0; less < 3; less += 1) await step(3).getByRole('button', { name: 'Remove step' }).click();
  await step(1).getByRole('combobox', { name: 'Level of the escalation' }).selectOption('the same level');
  await step(2).getByRole('button', { name: 'Move step up' }).click();
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.waitFor({ state: 'detached' });
  const key = await lab.server.key('admin');
  const { json } = await lab.server.call('GET', '/api/rules', { token: key });
  expect(json.rules).toMatchObject([{ then: { escalate: expect.anything() } }]);
  expect(json.rules[0].then.escalate).toEqual([
    { afterMs: 900_000, unless: 'shown', panels: { tags: ['management'] } },
    { afterMs: 300_000 },
  ]);
  const token = await lab.server.token({ name: 'disks' });
  const sent = await lab.server.notify(token, { title: 'Disk', message: 'm' });
  await page.goto(`${lab.server.url}/t/default/history?id=${sent.json.id}`);
  await page.getByText(/Escalates at .* unless shown on a panel: step 1 of 2/).waitFor();
  await close();
});
