import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { DashboardLab, type Desk, type DeskOptions } from './dashboard-lab.ts';
import { fillPanels } from './panels-scenes.ts';
import { manyKinds, seedRules } from './rules-scenes.ts';
import { fillLevels, fillTokens } from './settings-scenes.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
  await fillLevels(lab);
  await fillTokens(lab);
  await fillPanels(lab);
  await seedRules(lab.server, manyKinds());
});
afterAll(() => lab.close());

async function at<T>(options: DeskOptions, work: (desk: Desk) => Promise<T>): Promise<T> {
  const desk = await lab.desk({ role: 'admin', reducedMotion: 'no-preference', ...options });
  try {
    return await work(desk);
  } finally {
    await desk.close();
  }
}

const hasFocus = (page: Page, text: RegExp) =>
  expect.poll(() => page.evaluate(() => document.activeElement?.textContent ?? '')).toMatch(text);

for (const { path, opener, asking } of [
  { path: 'settings/levels', opener: /^security/, asking: 'Delete…' },
  { path: 'settings/tokens', opener: /^alertmanager/, asking: 'Revoke…' },
  { path: 'settings/tokens?tab=keys', opener: /^viewer script/, asking: 'Revoke…' },
  { path: 'panels', opener: /^Workshop kiosk/, asking: 'Delete…' },
  { path: 'rules', opener: /^DB to the NOC/, asking: 'Delete…' },
]) {
  test(`${path}: Esc closes the question alone, then the drawer, and the focus goes back each time`, () =>
    at({ path }, async ({ page, errors }) => {
      await page.locator('main button, main a').filter({ hasText: opener }).first().press('Enter');
      const dialogs = page.getByRole('dialog');
      const ask = dialogs.getByRole('button', { name: asking });
      await ask.press('Enter');
      await expect.poll(() => dialogs.count()).toBe(2);
      await hasFocus(page, /^Cancel$/);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      await hasFocus(page, /^Cancel$/);
      await page.keyboard.press('Escape');
      await expect.poll(() => dialogs.count()).toBe(1);
      await hasFocus(page, new RegExp(`^${asking}$`));
      await page.keyboard.press('Escape');
      await expect.poll(() => dialogs.count()).toBe(0);
      await hasFocus(page, opener);
      expect(errors).toEqual([]);
    }));
}

for (const { path, field, action, text } of [
  { path: 'settings/tokens', field: 'Name', action: 'Create token', text: /^Copy it now/ },
  {
    path: 'settings/members',
    field: 'Email address (optional)',
    action: 'Create link',
    text: /^Copy this link now/,
  },
]) {
  test(`${path}: the focus is on what is new in a dialog, or again on the button that failed`, () =>
    at({ path }, async ({ page }) => {
      await page.keyboard.press('n');
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel(field, { exact: true }).fill('ada@example.org');
      const url = `**/api/${path === 'settings/tokens' ? 'tokens' : 'invitations'}`;
      await page.route(url, (route) => route.fulfill({ status: 503, json: { error: 'the disk is full' } }));
      await dialog.getByRole('button', { name: action }).press('Enter');
      await dialog.getByRole('alert').waitFor();
      await hasFocus(page, new RegExp(`^${action}$`));
      await page.unroute(url);
      await page.keyboard.press('Enter');
      await hasFocus(page, text);
      await page.keyboard.press('Tab');
      await hasFocus(page, /^Copy$/);
    }));
}

test('a change of page moves the focus to its heading; the first page leaves it where it is', () =>
  at({ path: 'overview' }, async ({ page }) => {
    const focused = () =>
      page.evaluate(() => `${document.activeElement?.tagName} ${document.activeElement?.textContent}`);
    expect(await focused()).toMatch(/^BODY/);
    await page.getByRole('link', { name: 'Levels' }).press('Enter');
    await expect.poll(focused).toBe('H1 Levels');
    await page.keyboard.press('g');
    await page.keyboard.press('h');
    await expect.poll(focused).toBe('H1 History');
    await page.getByRole('link', { name: 'Panels' }).click();
    await expect.poll(focused).toBe('H1 Panels');
    await page.goBack();
    await expect.poll(focused).toBe('H1 History');
  }));
