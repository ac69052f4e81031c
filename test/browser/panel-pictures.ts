import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { closeWindows } from './browser.ts';
import { PanelLab } from './panel-lab.ts';
import type { Pictures } from './pictures.ts';
import { fullBoard, hostileNotifications, type Sent, type SentAgo, singleCritical } from './scenes.ts';

const screens = {
  '1080p': { width: 1920, height: 1080 },
  '4k': { width: 3840, height: 2160 },
  desk: { width: 1366, height: 768 },
  phone: { width: 390, height: 844 },
} as const;
/** As on a kiosk: the pictures of the empty board show the hint that there is without it. */
const soundAllowed = '--autoplay-policy=no-user-gesture-required';
const scenes: Readonly<Record<string, readonly (Sent | SentAgo)[]>> = {
  full: fullBoard,
  critical: singleCritical,
  empty: [],
  hostile: hostileNotifications.slice(0, 9),
};

/** The server is in this process: what is sent while its clock is set back was received then. */
let setBackMs = 0;
const now = Date.now;
Date.now = () => now() - setBackMs;

/** Every state, on a wall (1080p and 4K), a desk and a phone, dark and light. */
export async function takePanelPictures({ browserPath, folder, only }: Pictures): Promise<void> {
  for (const [scene, notifications] of Object.entries(scenes)) {
    if (!scene.includes(only)) continue;
    const lab = await PanelLab.start(browserPath, {}, scene === 'empty' ? [] : [soundAllowed]);
    for (const [size, viewport] of Object.entries(screens)) {
      for (const scheme of ['dark', 'light'] as const) {
        // Sent anew for each picture, so that each has the same ages in it.
        await lab.clearAll();
        await send(lab, notifications);
        const { page, context } = await open(lab, viewport, scheme);
        await picture(page, join(folder, `${scene}-${size}-${scheme}.png`));
        await context.close();
      }
    }
    if (scene === 'empty') {
      await pairing(lab, folder);
      await settings(lab, folder);
      await trouble(lab, folder);
    }
    await lab.stop();
  }
  if ('commands'.includes(only))
    await commands(await PanelLab.start(browserPath, {}, [soundAllowed]), folder);
  if ('stale'.includes(only))
    await stale(await PanelLab.start(browserPath, { BELFRY_HEARTBEAT_MS: '1000' }), folder);
}

async function send({ server }: PanelLab, notifications: readonly (Sent | SentAgo)[]): Promise<void> {
  const token = await server.token({ scopes: ['notify'] });
  for (const notification of [...notifications].reverse()) {
    setBackMs = 'agoMs' in notification ? notification.agoMs : 0;
    const { status, text } = await server.notify(token, notification);
    setBackMs = 0;
    if (status !== 200) throw new Error(text);
  }
}

async function open(lab: PanelLab, viewport: { width: number; height: number }, scheme: 'dark' | 'light') {
  const screen = await lab.screen({
    viewport,
    deviceScaleFactor: viewport.width < 500 ? 2 : 1,
    locale: 'en-GB',
  });
  await screen.page.evaluate((chosen) => localStorage.setItem('belfry.screen', JSON.stringify(chosen)), {
    scheme,
  });
  await screen.page.reload();
  await screen.page.locator('header[data-health="online"]').waitFor();
  return screen;
}

async function stale(lab: PanelLab, folder: string): Promise<void> {
  await send(lab, fullBoard);
  const opened = [];
  for (const [size, viewport] of Object.entries(screens))
    opened.push({ size, ...(await open(lab, viewport, 'dark')) });
  await lab.server.stop();
  for (const { page, size } of opened) {
    await page.locator('.screen.stale').waitFor();
    await picture(page, join(folder, `stale-${size}-dark.png`));
  }
  await closeWindows(lab.browser);
}

/** What somebody at the dashboard can have a screen do. */
async function commands(lab: PanelLab, folder: string): Promise<void> {
  const token = await lab.server.key('admin');
  for (const [size, viewport] of Object.entries(screens)) {
    for (const scheme of ['dark', 'light'] as const) {
      for (const command of ['identify', 'test']) {
        const { page, context, panelId } = await open(lab, viewport, scheme);
        await page.emulateMedia({ reducedMotion: 'reduce' });
        await lab.server.call('POST', `/api/panels/${panelId}/${command}`, { token });
        await page.locator('.overlay').waitFor();
        await picture(page, join(folder, `${command}-${size}-${scheme}.png`));
        await context.close();
      }
    }
  }
  await lab.stop();
}

async function pairing({ browser, server }: PanelLab, folder: string): Promise<void> {
  for (const [size, viewport] of Object.entries(screens)) {
    for (const colorScheme of ['dark', 'light'] as const) {
      const context = await browser.newContext({
        viewport,
        colorScheme,
        locale: size === 'desk' ? 'de-DE' : 'en-GB',
      });
      await context.addInitScript((chosen) => localStorage.setItem('belfry.screen', JSON.stringify(chosen)), {
        scheme: colorScheme,
      });
      const page = await context.newPage();
      await page.goto(`${server.url}/panel`);
      await page.locator('.pairing .qr svg').waitFor();
      await picture(page, join(folder, `pairing-${size}-${colorScheme}.png`));
      await context.close();
    }
  }
}

async function settings(lab: PanelLab, folder: string): Promise<void> {
  for (const size of ['desk', 'phone'] as const) {
    for (const scheme of ['dark', 'light'] as const) {
      const { page, context } = await open(lab, screens[size], scheme);
      await page.keyboard.press('s');
      await picture(page, join(folder, `settings-${size}-${scheme}.png`));
      await context.close();
    }
  }
}

async function trouble(lab: PanelLab, folder: string): Promise<void> {
  const { page, context } = await open(lab, screens['1080p'], 'dark');
  await page.route('**/events', (route) => route.abort());
  await page.reload();
  await page.locator('.notice[data-kind="problem"]').waitFor();
  await picture(page, join(folder, 'trouble-1080p-dark.png'));
  await context.close();
}

/** Once faces are there and nothing moves. */
async function picture(page: Page, path: string): Promise<void> {
  await page.evaluate(() => document.fonts.ready);
  await page.waitForTimeout(700);
  await page.evaluate(() => document.documentElement.classList.add('idle'));
  await page.waitForTimeout(250);
  await page.screenshot({ path });
  process.stdout.write(`${path}\n`);
}
