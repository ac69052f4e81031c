/** The documentation site in a browser. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { ensureBuilt } from '#scripts/build.mjs';
import { faultsIn, faultsInBothSchemes } from './accessibility.ts';
import { DashboardLab } from './dashboard-lab.ts';

let lab: DashboardLab;
beforeAll(async () => {
  await ensureBuilt('docs', `${import.meta.dirname}/../..`, process.execPath, process.env);
  lab = await DashboardLab.start(inject('browserPath'));
});
afterAll(() => lab.close());

test('is read and searched by keyboard, in both schemes, without accessibility problems', async () => {
  const { page, close, errors } = await lab.window();
  await page.goto(`${lab.server.url}/docs/`);
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.goto(`${lab.server.url}/docs/operations`);
  expect(await faultsInBothSchemes(page)).toEqual([]);

  await page.keyboard.press('/');
  await page.keyboard.type('disk full');
  const hit = page.locator('.results a[href="/docs/monitoring#a-full-disk"]');
  await hit.waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Escape');
  expect(await page.locator('.results').isHidden()).toBe(true);
  await page.keyboard.type(' ');
  await hit.click();
  await page.waitForURL(/\/docs\/monitoring#a-full-disk$/);
  expect(errors).toEqual([]);
  await close();
});

test('the reference of the API fits on a phone, and leads back to the documentation', async () => {
  const { page, close } = await lab.window();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${lab.server.url}/docs/api/`);
  const description = page.getByRole('link', { name: '/openapi.json' });
  expect(await description.getAttribute('href')).toMatch(/^(http:\/\/[^/]+)?\/openapi\.json$/);
  await page.locator('.opblock-summary').first().click();
  await page.locator('.opblock-body .parameters').first().waitFor();
  // It looks the same in both schemes.
  expect(await faultsIn('light', page)).toEqual([]);
  expect(await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth])).toEqual([390, 390]);
  expect(await page.locator('meta[name="viewport"]').getAttribute('content')).toContain('width=device-width');
  await page.getByRole('link', { name: 'Belfry documentation' }).click();
  await page.waitForURL(/\/docs\/$/);
  await close();
});

test('a page that does not exist says so, and its search works', async () => {
  const { page, close, errors } = await lab.window();
  await page.goto(`${lab.server.url}/docs/nothing/at/all`);
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.keyboard.press('/');
  await page.keyboard.type('disk full');
  await page.locator('.results a[href="/docs/monitoring#a-full-disk"]').waitFor();
  expect(errors.filter((error) => !error.includes('404'))).toEqual([]);
  await close();
});

test('fits on a phone, where its contents open from a button', async () => {
  const { page, close } = await lab.window();
  await page.setViewportSize({ width: 390, height: 844 });
  for (const path of ['/docs/', '/docs/operations', '/docs/integrations', '/docs/glossary']) {
    await page.goto(lab.server.url + path);
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    expect([path, width]).toEqual([path, 390]);
  }
  await page.getByText('Contents').click();
  await page.getByRole('link', { name: 'Operating Belfry' }).click();
  await page.getByRole('heading', { name: 'Operating Belfry', level: 1 }).waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await close();
});
