import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { DashboardLab } from './dashboard-lab.ts';
import { fillPanels } from './panels-scenes.ts';
import { manyKinds, seedRules } from './rules-scenes.ts';
import { fillLevels, fillTokens } from './settings-scenes.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
  await fillLevels(lab);
  await fillTokens(lab);
  await fillPanels(lab);
  await seedRules(lab.server, manyKinds().slice(1, 3));
});
afterAll(() => lab.close());

/** Saves something, where other requests only ask what it would do. */
const isChange = (request: Request) =>
  ['PATCH', 'PUT'].includes(request.method()) ||
  (request.method() === 'POST' && request.url().endsWith('/api/rules'));

/** Changes are sent, and not answered before it is called. */
async function holdSaving(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route('**/api/**', async (route) => {
    if (isChange(route.request())) await promise;
    await route.continue();
  });
  return resolve;
}

for (const { path, opener, field } of [
  { path: 'settings/levels', opener: 'security', field: 'Rank' },
  { path: 'settings/tokens', opener: 'grafana', field: 'Name' },
  { path: 'panels', opener: 'Workshop kiosk', field: 'Location' },
  { path: 'rules', opener: 'DB to the NOC', field: 'Note' },
  { path: 'rules?mute=db-9', opener: undefined, field: 'Note' },
]) {
  test(`${path}: what is typed while a save is under way stays, and is saved by the next`, async () => {
    const { page, close } = await lab.desk({ path, role: 'admin' });
    const drawer = page.getByRole('dialog');
    if (opener)
      await page
        .locator('main [data-row], main [data-rule-link]')
        .filter({ hasText: new RegExp(`^${opener}`) })
        .press('Enter');
    const text = drawer.getByRole('textbox', { name: field, exact: true });
    const save = drawer.getByRole('button', { name: 'Save' });
    await text.fill('41');
    const answer = await holdSaving(page);
    const sent = page.waitForRequest(isChange);
    await save.click();
    await sent;
    await text.fill('42');
    const answered = page.waitForResponse((response) => isChange(response.request()));
    answer();
    await answered;
    await expect.poll(() => save.isEnabled()).toBe(true);
    expect(await text.inputValue()).toBe('42');
    const second = page.waitForRequest(isChange);
    await save.click();
    expect((await second).postData()).toContain('42');
    expect((await second).method()).not.toBe('POST');
    await close();
  });
}
