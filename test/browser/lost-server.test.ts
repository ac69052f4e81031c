import type { Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { DashboardLab, type Desk } from './dashboard-lab.ts';

let lab: DashboardLab;
let desk: Desk;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
});
afterAll(() => lab.close());
afterEach(() => desk.close());

async function open(path = 'overview'): Promise<Page> {
  desk = await lab.desk({ path, usedOnce: true });
  return desk.page;
}

const unreachable = /The server does not respond\. Check your connection, then try again\./;
const leave = (page: Page) => page.route('**/*', (route: Route) => route.abort());
/** After an upgrade, the server has other files. */
const upgrade = (page: Page) => page.route('**/assets/**', (route: Route) => route.fulfill({ status: 404 }));

test('a page that cannot be loaded says that the server does not respond, and is loaded by Try again', async () => {
  const page = await open();
  await leave(page);
  await page.getByRole('link', { name: 'Levels' }).click();
  const notice = page.getByRole('alert').filter({ hasText: unreachable });
  await notice.waitFor();
  expect(await page.getByText('Something went wrong').count()).toBe(0);
  const ofLevels = await notice.elementHandle();
  await page.getByRole('link', { name: 'Members' }).click();
  await ofLevels?.waitForElementState('hidden');
  await notice.waitFor();
  await page.unroute('**/*');
  await notice.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('heading', { name: 'Members' }).waitFor();
});

test('a dialog that cannot be loaded leaves the page as it is, and a message says why', async () => {
  const page = await open();
  await leave(page);
  await page.keyboard.press('?');
  await page.getByRole('alert').filter({ hasText: unreachable }).waitFor();
  expect(await page.locator('main h1').textContent()).toBe('Overview');
  expect(await page.getByRole('dialog').count()).toBe(0);
});

test('after an upgrade a page is reloaded once', async () => {
  const page = await open();
  await upgrade(page);
  const loads: string[] = [];
  page.on('domcontentloaded', () => void loads.push(page.url()));
  await page.evaluate(() => Object.assign(window, { isOld: true }));
  await page.getByRole('link', { name: 'Levels' }).hover();
  await page.getByRole('link', { name: 'Levels' }).click();
  await page.waitForFunction(() => !('isOld' in window));
  await page.unroute('**/assets/**');
  await page.reload();
  await page.getByRole('heading', { name: 'Levels' }).waitFor();
  await upgrade(page);
  await page.evaluate(() => Object.assign(window, { isOld: true }));
  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByText('Couldn’t load the page').waitFor();
  expect(await page.evaluate(() => 'isOld' in window)).toBe(true);
});

test('a message is shown though the library for messages cannot be loaded', async () => {
  const sender = await lab.server.token({ scopes: ['notify'], name: 'lost' });
  await lab.server.notify(sender, { title: 'Disk full', message: 'm' });
  const page = await open('history');
  await page.locator('[id^=row-]').first().waitFor();
  await upgrade(page);
  await page.getByRole('grid').press('End');
  await page.keyboard.press('c');
  await page.getByRole('alert').filter({ hasText: 'Disk full' }).waitFor();
  expect(await page.getByRole('grid').count()).toBe(1);
  // It goes by itself.
  await expect.poll(() => page.getByRole('alert').count(), { timeout: 30_000 }).toBe(0);
});
