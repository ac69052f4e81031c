import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Receiver } from '../support/receiver.ts';
import { faultsInBothSchemes } from './accessibility.ts';
import { DashboardLab } from './dashboard-lab.ts';

let lab: DashboardLab;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await Receiver.start();
  lab = await DashboardLab.start(inject('browserPath'), { BELFRY_OUTBOUND_ALLOW: '127.0.0.1' });
});
afterAll(async () => {
  await lab.close();
  await receiver.close();
});

test('a channel is made, tried, chosen in a rule and looked after, on a phone too', async () => {
  const { page, close } = await lab.desk({ path: 'settings/channels' });
  await page.getByText('No channels').waitFor();
  await page.getByRole('button', { name: 'Create channel' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Ops hook');
  await dialog.getByLabel('URL').fill(`${receiver.url}/hook`);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('It is shown once').waitFor();
  await page.getByRole('button', { name: 'I’ve saved it' }).click();
  await page.getByRole('button', { name: 'Send test' }).click();
  await page.getByText('answered 200: ok').waitFor();
  expect(receiver.received[0]?.json.data.title).toBe('Test of a channel');
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await faultsInBothSchemes(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Ops hook' }).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await close();
});
