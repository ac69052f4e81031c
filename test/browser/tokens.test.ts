import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { faultsIn } from './accessibility.ts';
import { DashboardLab, type Desk, type DeskOptions } from './dashboard-lab.ts';
import { fillTokens } from './settings-scenes.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
  await fillTokens(lab);
});
afterAll(() => lab.close());

async function at<T>(options: DeskOptions, work: (desk: Desk) => Promise<T>): Promise<T> {
  const desk = await lab.desk({ path: 'settings/tokens', role: 'admin', ...options });
  try {
    return await work(desk);
  } finally {
    await desk.close();
  }
}

test('a token is made, shown once with commands for this server, and ends its screen’s stream when it is revoked', () =>
  at({}, async ({ page, errors }) => {
    await page.keyboard.press('n');
    await page.getByLabel('Name', { exact: true }).fill('new sender');
    await page.getByRole('checkbox', { name: 'panel' }).check();
    await page.getByRole('dialog').getByRole('button', { name: 'Create token' }).click();
    const dialog = page.getByRole('dialog', { name: '“new sender” created' });
    const secret = (await dialog.locator('pre').first().textContent()) ?? '';
    expect(secret).toMatch(/^bfy_/);
    const command = await dialog.locator('pre').nth(1).textContent();
    expect(command).toContain(`${lab.server.url}/api/notify`);
    expect(command).toContain(secret);
    await page.keyboard.press('Escape');
    expect(await dialog.isVisible()).toBe(true);
    await dialog.getByText('Send as headers').click();
    expect(await dialog.locator('pre').nth(1).textContent()).toContain('X-Title');
    await dialog.getByRole('button', { name: 'I’ve saved it' }).click();
    expect((await lab.server.notify(secret, { title: 'a', message: 'b' })).status).toBe(200);
    const { stream } = await lab.server.panel(secret, 'watched');
    await page.getByRole('button', { name: 'new sender' }).click();
    await page.getByRole('button', { name: 'Revoke…' }).click();
    await page.getByText('Requests with this token fail within a second (401)').waitFor();
    const question = page.getByRole('dialog', { name: 'Revoke “new sender”?' });
    await question.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('button', { name: 'new sender' }).waitFor({ state: 'detached' });
    await expect
      .poll(async () => (await lab.server.notify(secret, { title: 'a', message: 'b' })).status)
      .toBe(401);
    await stream.ended;
    await page.getByLabel(/Show 2 revoked or expired/).click({ force: true });
    await page.getByRole('row', { name: 'new sender' }).getByText('revoked').waitFor();
    expect(errors).toEqual([]);
  }));

test('what would be refused is said at its place before it is sent', () =>
  at({}, async ({ page }) => {
    await page.keyboard.press('n');
    const create = page.getByRole('dialog').getByRole('button', { name: 'Create token' });
    await page.getByLabel('Name', { exact: true }).fill('narrow');
    await page.getByText('Restrictions').click();
    await page.getByRole('textbox', { name: 'Allowed addresses' }).fill('10.0.0.0/8\n10.0.0.0/33');
    await page.getByText('“10.0.0.0/33” is not an IP address or CIDR block').waitFor();
    expect(await create.isDisabled()).toBe(true);
    await page.getByRole('textbox', { name: 'Allowed addresses' }).fill('10.0.0.0/8');
    await page.getByRole('checkbox', { name: 'notify' }).uncheck();
    await page.getByText('Select at least one scope.').waitFor();
    expect(await create.isDisabled()).toBe(true);
  }));

test('a token is changed, one that ends soon is named, and a screen’s own names its panel', () =>
  at({}, async ({ page }) => {
    await page.getByText('1 expires soon:').getByRole('button', { name: 'grafana' }).click();
    const drawer = page.getByRole('dialog', { name: 'grafana' });
    await drawer.getByText('Never', { exact: true }).click();
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.getByText('Saved', { exact: true }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('1 expires soon:').waitFor({ state: 'detached' });
    await page
      .getByRole('row', { name: 'panel NOC east wall' })
      .getByText('panel NOC east wall')
      .first()
      .waitFor();
  }));

test('a key is made with at most one’s own role', () =>
  at({ path: 'settings/tokens?tab=keys' }, async ({ page }) => {
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('searcher');
    expect(await page.getByRole('radio', { name: 'owner' }).count()).toBe(0);
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    const secret = (await page.getByRole('dialog').locator('pre').first().textContent()) ?? '';
    expect(await page.getByRole('dialog').getByText('Token', { exact: true }).count()).toBe(0);
    expect((await lab.server.call('GET', '/api/history', { token: secret })).status).toBe(200);
    expect((await lab.server.call('GET', '/api/tokens', { token: secret })).status).toBe(403);
  }));

test('a person who is not an admin sees the reason, and no token', () =>
  at({ role: 'member' }, async ({ page }) => {
    await page.getByText('Only admins and owners can view this page.').waitFor();
    expect(await page.locator('table').count()).toBe(0);
  }));

test('creation and drawer have no accessibility problem', () =>
  at({}, async ({ page }) => {
    await page.getByRole('row', { name: 'alertmanager' }).waitFor();
    await page.keyboard.press('n');
    await page.getByText('Restrictions').click();
    expect(await faultsIn('dark', page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'alertmanager' }).click();
    await page.getByRole('button', { name: 'Revoke…' }).waitFor();
    expect(await faultsIn('light', page)).toEqual([]);
  }));
