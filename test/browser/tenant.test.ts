import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { faultsIn } from './accessibility.ts';
import { DashboardLab, type Desk, type DeskOptions } from './dashboard-lab.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
});
afterAll(() => lab.close());

async function at<T>(options: DeskOptions, work: (desk: Desk) => Promise<T>): Promise<T> {
  const desk = await lab.desk({ path: 'settings/tenant', role: 'admin', ...options });
  try {
    return await work(desk);
  } finally {
    await desk.close();
  }
}

const settings = async () =>
  (await lab.server.call('GET', '/api/tenant', { token: await lab.server.key('viewer') })).json;

test('each part of the settings is saved by itself, and what is wrong is said at its place', () =>
  at({}, async ({ page, errors }) => {
    await page.getByLabel('Tenant name').fill('Example Operations');
    await page.getByRole('button', { name: 'Save: Name' }).click();
    await page.getByRole('navigation').getByText('Example Operations').waitFor();
    await page.getByRole('combobox', { name: 'Time zone' }).fill('new york');
    await page.getByRole('option', { name: /America\/New York/ }).click();
    await page.getByRole('button', { name: 'Save: Time zone' }).click();
    await expect.poll(async () => (await settings()).timeZone).toBe('America/New_York');
    await page.getByRole('radiogroup', { name: 'By age' }).getByText('Custom').click();
    const days = page.getByRole('textbox', { name: 'By age: days' });
    await days.fill('40000');
    await page.getByText('Enter more than 0 and at most 36,500 days.').waitFor();
    expect(await page.getByRole('button', { name: /^Save: History retention/ }).isDisabled()).toBe(true);
    await days.fill('30');
    await page.getByText('Saving deletes all notifications beyond this limit').waitFor();
    await page.getByRole('button', { name: /^Save: History retention/ }).click();
    await page.getByRole('radiogroup', { name: 'All tokens combined' }).getByText('Custom').click();
    await page.getByRole('textbox', { name: 'Per second' }).fill('50');
    await page.getByRole('textbox', { name: 'Burst' }).fill('500');
    await page.getByRole('button', { name: 'Save: Rate limit' }).click();
    await expect.poll(settings).toMatchObject({
      title: 'Example Operations',
      retentionDays: 30,
      retentionCount: null,
      rate: { perSecond: 50, burst: 500 },
    });
    expect(errors).toEqual([]);
  }));

test('a person who is not an admin reads the settings, without fields', () =>
  at({ role: 'member' }, async ({ page }) => {
    await page.getByText('30 days').waitFor();
    await page.getByText('50 per second, burst 500').waitFor();
    expect(await page.locator('main input').count()).toBe(0);
    expect(await faultsIn('dark', page)).toEqual([]);
  }));

test('a suspended tenant is a page that says so, until it is resumed', () =>
  at({ role: 'member' }, async ({ page }) => {
    const { tenants } = lab.server.running.directory;
    const set = async (state: 'active' | 'suspended') =>
      tenants.setState(await lab.server.tenant(), state, 'test', Date.now());
    await page.getByRole('navigation').waitFor();
    await set('suspended');
    await page.reload();
    await page.getByRole('heading', { name: /is suspended$/ }).waitFor();
    expect(await faultsIn('dark', page)).toEqual([]);
    await set('active');
    await page.reload();
    await page.getByRole('navigation').waitFor();
  }));
