import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { PanelLab, type Screen, type ScreenOptions } from './panel-lab.ts';

let lab: PanelLab;
let screen: Screen;
beforeAll(async () => {
  lab = await PanelLab.start(inject('browserPath'));
});
afterAll(() => lab.stop());
afterEach(async () => {
  await screen.close();
  await lab.clearAll();
});

async function open(options: ScreenOptions) {
  screen = await lab.screen(options);
  const key = await lab.server.key('admin');
  return {
    ...screen,
    display: (display: object) =>
      lab.server.call('PATCH', `/api/panels/${screen.panelId}`, { token: key, json: { display } }),
    send: async (body: object) =>
      lab.server.notify(await lab.server.token({ scopes: ['notify'] }), {
        message: 'm',
        ttl: 60_000,
        ...body,
      }),
    isLight: () => screen.page.evaluate(() => document.documentElement.classList.contains('light')),
  };
}

test('settings of the panel reach an open screen at once', async () => {
  const { page, display, isLight, send } = await open({ name: 'settings' });
  await send({ title: 'a' });
  await page.locator('.card h2').waitFor();
  await display({ scheme: 'light', locale: 'de-DE', dimFrom: '00:00', dimUntil: '00:00', minLevel: 'error' });
  await page.locator('.notice h2', { hasText: 'Alles ruhig' }).waitFor();
  expect(await isLight()).toBe(true);
  expect(await page.locator('.night.dimmed').count()).toBe(1);
  await display({ timeZone: 'Asia/Tokyo' });
  await page.locator('footer .date', { hasText: 'Asia/Tokyo' }).waitFor();
  expect([await isLight(), await page.locator('.night.dimmed').count()]).toEqual([false, 0]);
});

test('what is chosen at the screen goes first and stays, and the focus stays where it was', async () => {
  const { page, isLight, display } = await open({ name: 'own' });
  await page.keyboard.press('s');
  await page.getByRole('button', { name: 'Light' }).click();
  await expect.poll(isLight).toBe(true);
  expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Light');
  await display({ scheme: 'dark', scale: 1.1 });
  // With its settings the page is built anew, under a click as well.
  const unit = () => page.evaluate(() => document.documentElement.style.getPropertyValue('--u'));
  await expect.poll(unit).toBe('1.1px');
  expect(await isLight()).toBe(true);
  await page.getByRole('button', { name: 'Deutsch' }).click();
  await page.getByRole('heading', { name: 'Einstellungen des Bildschirms' }).waitFor();
  await page.keyboard.press('Escape');
  await page.reload();
  await page.locator('.notice h2', { hasText: 'Alles ruhig' }).waitFor();
  expect(await isLight()).toBe(true);
});

test('a screen can be unpaired at the screen, by pressing twice', async () => {
  const { page } = await open({ name: 'unpaired' });
  await page.keyboard.press('s');
  await page.getByRole('button', { name: 'Unpair this screen' }).click();
  await page.getByRole('button', { name: 'Press again to unpair' }).click();
  await page.locator('.pairing .ended', { hasText: 'was unpaired' }).waitFor();
});

test('what a throttle holds back is counted on its card', async () => {
  const { page, send } = await open({ name: 'throttle' });
  await lab.server.call('POST', '/api/rules', {
    token: await lab.server.key('admin'),
    json: {
      name: 'flapping',
      when: { host: ['flap-*'] },
      then: { throttle: { by: ['host'], perMs: 60_000 } },
    },
  });
  for (let n = 0; n < 4; n++) await send({ title: 'Link down', host: 'flap-1', level: 'error' });
  await page.locator('.card .count', { hasText: '×4' }).waitFor();
  expect(await page.locator('.card[data-id]').count()).toBe(1);
});

test('a screen whose clock is wrong by an hour shows the time, the age and the ttl of the server', async () => {
  screen = await lab.screen({ name: 'skewed', usedOnce: true });
  const { page } = screen;
  await page.addInitScript(() => {
    const now = Date.now;
    Date.now = () => now() + 3_600_000;
  });
  await page.reload();
  await page.locator('header[data-health="online"]').waitFor();
  await lab.server.notify(await lab.server.token({ scopes: ['notify'] }), {
    title: 'skewed',
    message: 'm',
    ttl: 60_000,
  });
  const card = page.locator('.card', { hasText: 'skewed' });
  await card.locator('.age', { hasText: /^[0-9] s$/ }).waitFor();
  const left = await card.locator('.ttl i').evaluate((bar) => Number(bar.style.getPropertyValue('--left')));
  expect(left).toBeGreaterThan(0.8);
  const utc = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', hour: '2-digit', minute: '2-digit' });
  const near = [-60_000, 0, 60_000].map((ms) => utc.format(Date.now() + ms));
  expect(near).toContain(await page.locator('.clock').textContent());
});

test('a screen without an answer from the server says so, and shows its panel when there is one', async () => {
  screen = await lab.screen({ name: 'late' });
  const { page } = screen;
  await page.route('**/events', (route) => route.abort());
  await page.reload();
  await page.locator('.notice[data-kind="problem"] h2', { hasText: 'No answer yet' }).waitFor();
  await page.unroute('**/events');
  await page.locator('header[data-health="online"]').waitFor();
});
