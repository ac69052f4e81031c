import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { faultsIn } from './accessibility.ts';
import { DashboardLab, type Desk, type DeskOptions } from './dashboard-lab.ts';
import { fillLevels } from './settings-scenes.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
  await fillLevels(lab);
});
afterAll(() => lab.close());

async function at<T>(options: DeskOptions, work: (desk: Desk) => Promise<T>): Promise<T> {
  const desk = await lab.desk({ path: 'settings/levels', role: 'admin', ...options });
  try {
    return await work(desk);
  } finally {
    await desk.close();
  }
}

const levelOf = async (name: string) => {
  const { json } = await lab.server.call('GET', '/api/levels', { token: await lab.server.key('viewer') });
  return json.levels.find((level: { name: string }) => level.name === name);
};

test('a level is made, styled with its preview before one’s eyes, and deleted', () =>
  at({}, async ({ page, errors }) => {
    await page.keyboard.press('n');
    await page.getByLabel('Name', { exact: true }).fill('Warning');
    await page.getByText('This name is already in use.').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('billing');
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'billing', exact: true });
    await drawer.getByRole('textbox', { name: 'Colour' }).fill('#000033');
    await drawer.getByText('Adjusted to stay readable').waitFor();
    await drawer.getByRole('textbox', { name: 'Rank' }).fill('55');
    await drawer.getByText(/above critical \(50\)/i).waitFor();
    await drawer.getByRole('radio', { name: 'truck' }).check({ force: true });
    await drawer.getByRole('textbox', { name: 'Display time' }).fill('2');
    await drawer.getByRole('combobox', { name: 'Unit: ' }).selectOption('h');
    await drawer.getByText('After a time').click();
    await drawer.getByRole('textbox', { name: 'Acknowledgements end' }).fill('8');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.getByText('Saved', { exact: true }).waitFor();
    expect(await levelOf('billing')).toMatchObject({
      rank: 55,
      color: '#000033',
      icon: 'truck',
      durationMs: 7_200_000,
      acknowledgeForMs: 8 * 3_600_000,
    });
    await drawer.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete level' }).click();
    await drawer.waitFor({ state: 'detached' });
    expect(await levelOf('billing')).toBeUndefined();
    expect(errors).toEqual([]);
  }));

for (const other of [false, true])
  test(`a level is gone from the list at once, ${other ? 'deleted by somebody else' : 'even if it cannot be read again'}`, () =>
    at({}, async ({ page }) => {
      const token = await lab.server.key('admin');
      await lab.server.call('PUT', '/api/levels/short', { token, json: { rank: 12 } });
      await page.reload();
      const row = page.getByRole('row', { name: 'short' });
      await row.getByRole('button').first().press('Enter');
      await page.getByRole('button', { name: 'Delete…' }).click();
      if (other) await lab.server.call('DELETE', '/api/levels/short', { token });
      else await page.route('**/api/levels', (route) => route.abort());
      await page.getByRole('button', { name: 'Delete level' }).click();
      await row.waitFor({ state: 'detached' });
      await page.getByRole('dialog').first().waitFor({ state: 'detached' });
      await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
    }));

test('a level that is deleted late does not close what was opened in the meantime', () =>
  at({}, async ({ page }) => {
    const token = await lab.server.key('admin');
    await lab.server.call('PUT', '/api/levels/slow', { token, json: { rank: 13 } });
    await page.reload();
    await page.getByRole('row', { name: 'slow' }).getByRole('button').first().press('Enter');
    await page.getByRole('button', { name: 'Delete…' }).click();
    const { promise, resolve } = Promise.withResolvers<void>();
    await page.route('**/api/levels/slow', async (route) => {
      await promise;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Delete level' }).click();
    await page.goBack();
    await page.getByRole('dialog').first().waitFor({ state: 'detached' });
    await page.getByRole('row', { name: 'security' }).click();
    const other = page.getByRole('dialog', { name: 'security' });
    await other.waitFor();
    resolve();
    await page.locator('tr', { hasText: 'slow' }).waitFor({ state: 'detached' });
    expect(await other.count()).toBe(1);
    expect(page.url()).toContain('id=security');
  }));

test('what two people change of a level at the same time is kept, each part', () =>
  at({ path: 'settings/levels?id=deploy' }, async ({ page }) => {
    const drawer = page.getByRole('dialog', { name: 'deploy' });
    await drawer.getByRole('textbox', { name: 'Rank' }).fill('48');
    const token = await lab.server.key('admin');
    await lab.server.call('PUT', '/api/levels/deploy', { token, json: { color: '#123456' } });
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.getByText('Saved', { exact: true }).waitFor();
    expect(await levelOf('deploy')).toMatchObject({ rank: 48, color: '#123456' });
    await expect.poll(() => drawer.getByRole('textbox', { name: 'Colour' }).inputValue()).toBe('#123456');
  }));

test('what was changed of a level is not lost unasked: by Esc, or by the way back', () =>
  at({}, async ({ page }) => {
    await page.getByRole('row', { name: 'security' }).click();
    const drawer = page.getByRole('dialog', { name: 'security' });
    const rank = drawer.getByRole('textbox', { name: 'Rank' });
    await rank.fill('47');
    const question = page.getByRole('dialog', { name: 'Discard your changes?' });
    for (const leave of [() => page.keyboard.press('Escape'), () => page.goBack()]) {
      await leave();
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'detached' });
      expect(await rank.inputValue()).toBe('47');
    }
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Discard' }).click();
    await drawer.waitFor({ state: 'detached' });
    expect((await levelOf('security')).rank).not.toBe(47);
  }));

test('a built-in level cannot be deleted, and goes back to how it was at first', () =>
  at({ path: 'settings/levels?id=info' }, async ({ page }) => {
    const drawer = page.getByRole('dialog', { name: 'info' });
    await drawer.getByRole('textbox', { name: 'Rank' }).fill('1001');
    await drawer.getByText('Enter a whole number from 0 to 1,000.').waitFor();
    expect(await drawer.getByRole('button', { name: 'Delete…' }).count()).toBe(0);
    expect(await drawer.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await drawer.getByRole('textbox', { name: 'Rank' }).fill('25');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.getByText('Saved', { exact: true }).waitFor();
    expect((await levelOf('info')).rank).toBe(25);
    await drawer.getByRole('button', { name: 'Reset to default' }).click();
    await expect.poll(async () => (await levelOf('info')).rank).toBe(20);
  }));

test('a level that a rule names is not deleted, and the rule is named', () =>
  at({ path: 'settings/levels?id=deploy' }, async ({ page }) => {
    const { status } = await lab.server.call('POST', '/api/rules', {
      token: await lab.server.key('admin'),
      json: { name: 'quiet deploys', when: { minLevel: 'deploy' }, then: { mute: true } },
    });
    expect(status).toBe(201);
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete level' }).click();
    await page.getByRole('alert').getByText('quiet deploys').waitFor();
  }));

test('a viewer hears and sees a level, and changes none', () =>
  at({ role: 'viewer' }, async ({ page, errors }) => {
    const play = page.getByRole('row', { name: 'security' }).getByRole('button', { name: /^Play Alarm/ });
    // It is so for a second, in which a busy machine may not look.
    await expect
      .poll(async () => {
        await play.press('Enter');
        return play.getAttribute('aria-disabled');
      })
      .toBe('true');
    await page.keyboard.press('ArrowDown');
    expect(await play.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.getByRole('row', { name: 'security' }).click();
    const drawer = page.getByRole('dialog', { name: 'security' });
    await drawer.getByText('#101010').waitFor();
    expect(await drawer.getByRole('button', { name: /Save|Delete/ }).count()).toBe(0);
    expect(errors).toEqual([]);
  }));

test('the drawer has no accessibility problem', () =>
  at({}, async ({ page }) => {
    await page.getByRole('row', { name: 'security' }).click();
    await page.getByRole('textbox', { name: 'Rank' }).waitFor();
    expect(await faultsIn('light', page)).toEqual([]);
  }));
