import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { faultsInBothSchemes } from './accessibility.ts';
import { DashboardLab, type Desk, type DeskOptions } from './dashboard-lab.ts';

let lab: DashboardLab;
let desk: Desk | undefined;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
});
afterAll(() => lab.close());
afterEach(async () => {
  expect(desk?.complaints).toEqual([]);
  await desk?.context.close();
  desk = undefined;
});

async function open(options: DeskOptions = {}) {
  desk = await lab.desk({ path: 'overview', ...options });
  return desk.page;
}

test('before the first notification it says how to send one, and gives way to it the moment it arrives', async () => {
  const page = await open();
  await page.getByText('Waiting for the first notification').waitFor();
  expect(await page.locator('pre').textContent()).toContain(`curl '${lab.server.url}/api/notify'`);
  await page.getByRole('link', { name: 'Make a token' }).waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  const token = await lab.server.token({ scopes: ['notify'] });
  await lab.server.notify(token, { title: 'The first', message: 'm', level: 'error', host: 'db-1' });
  await page.getByRole('row', { name: /The first/ }).waitFor();
  await page.getByRole('button', { name: '1 error' }).waitFor();
});

test('it tells what is on panels, which of them are not well, who sends most and what was refused', async () => {
  const { server } = lab;
  const token = await server.token();
  for (const name of ['Wall', 'Lobby']) await server.call('POST', '/api/panels', { token, json: { name } });
  const wall = await server.panel(token, 'Wall');
  await server.notify(token, { title: 'Noise', message: 'm', host: 'noisy-1', level: 'warning' });
  await server.notify(token, { title: 'Noise', message: 'm', host: 'noisy-1', level: 'critical' });
  await server.notify(token, { title: '' });
  const page = await open();
  const panels = page.locator('section', { hasText: 'Panels that need a look' });
  await panels.getByRole('link', { name: 'Lobby' }).waitFor();
  expect(await panels.getByRole('link', { name: 'Wall' }).count()).toBe(0);
  await page.getByText('1 of 2').waitFor();
  await page.getByText('a field was wrong or missing').waitFor();
  await page.getByRole('button', { name: 'Show as a table' }).click();
  await page.getByRole('columnheader', { name: 'critical' }).waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.getByRole('button', { name: /critical noisy-1 2$/ }).click();
  await page.waitForURL(/history\?q=host/);
  expect(new URL(page.url()).searchParams.get('q')).toBe('host:noisy-1 since:24h');
  await page.getByText('2 notifications').waitFor();
  await wall.stream.close();
});

test('what arrives comes in by itself, and opens in history', async () => {
  const page = await open({ role: 'viewer' });
  await page.getByText('live', { exact: true }).waitFor();
  const token = await lab.server.token({ scopes: ['notify'] });
  await lab.server.notify(token, { title: 'Just now', message: 'm', level: 'info' });
  await page.getByRole('row', { name: /Just now/ }).click();
  await page.getByRole('complementary', { name: 'Notification' }).getByText('Why it').waitFor();
});
