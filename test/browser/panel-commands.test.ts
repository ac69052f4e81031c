import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { PanelLab, type Screen, type ScreenOptions } from './panel-lab.ts';

let lab: PanelLab;
let open: Screen | undefined;
let key: string;
beforeAll(async () => {
  lab = await PanelLab.start(inject('browserPath'));
  key = await lab.server.key('admin');
});
afterAll(() => lab.stop());
afterEach(async () => {
  expect(open?.errors).toEqual([]);
  await open?.close();
  open = undefined;
  await lab.clearAll();
});

async function screen(options: ScreenOptions): Promise<Screen> {
  open = await lab.screen(options);
  return open;
}

async function sendCommand({ panelId }: Screen, command: string): Promise<void> {
  const { json } = await lab.server.call('POST', `/api/panels/${panelId}/${command}`, { token: key });
  expect(json).toEqual({ ok: true, reached: true });
}

const panelOf = async ({ panelId }: Screen) =>
  (await lab.server.call('GET', `/api/panels/${panelId}`, { token: key })).json;

test('on the command identify a screen shows the name and place of its panel, large, for five seconds', async () => {
  const shown = await screen({ name: 'NOC east wall' });
  await lab.server.call('PATCH', `/api/panels/${shown.panelId}`, {
    token: key,
    json: { location: 'Hall 3' },
  });
  const overlay = shown.page.locator('.overlay');
  expect(await overlay.isVisible()).toBe(false);
  // All at once, as it is gone soon.
  const look = () =>
    overlay.evaluate((node) => ({
      text: node.querySelector('.identify')?.textContent,
      width: node.getBoundingClientRect().width,
      letters: node.querySelector('strong')?.getBoundingClientRect().height,
      animation: getComputedStyle(node.querySelector('.identify') ?? node).animationName,
    }));
  await expect
    .poll(async () => {
      await sendCommand(shown, 'identify');
      return look();
    })
    .toEqual({
      text: 'This screen isNOC east wallHall 3',
      width: 1920,
      letters: expect.toSatisfy((height: number) => height > 150),
      animation: 'flash',
    });
  await overlay.waitFor({ state: 'hidden' });
});

test('where motion is unwelcome the name is shown and does not flash', async () => {
  const shown = await screen({ name: 'still', reducedMotion: 'reduce' });
  const look = () =>
    shown.page.evaluate(() => {
      const name = document.querySelector('.identify');
      return name && getComputedStyle(name).animationName;
    });
  // Again and again, as it is gone soon.
  await expect
    .poll(async () => {
      await sendCommand(shown, 'identify');
      return look();
    })
    .toBe('none');
});

test('on the command reload the page loads anew once in a minute and keeps its pairing', async () => {
  const shown = await screen({ name: 'reloads' });
  const loads = () => shown.page.evaluate(() => performance.timeOrigin);
  const first = await loads();
  await sendCommand(shown, 'reload');
  await expect.poll(() => loads().catch(() => first)).not.toBe(first);
  await shown.page.locator('header[data-health="online"] h1', { hasText: 'reloads' }).waitFor();
  const second = await loads();
  await expect.poll(async () => (await panelOf(shown)).online).toBe(true);
  await sendCommand(shown, 'reload');
  await sendCommand(shown, 'identify');
  await shown.page.locator('.identify').waitFor();
  expect(await loads()).toBe(second);
});

test('the test card shows name, size, every level and the time, until something critical comes', async () => {
  const shown = await screen({ name: 'tested' });
  await lab.server.call('PUT', '/api/levels/audit', {
    token: key,
    json: { rank: 15, color: '#aa33ff', icon: 'shield' },
  });
  await expect
    .poll(async () => {
      await sendCommand(shown, 'test');
      return shown.page.locator('.test-levels li').allTextContents();
    })
    .toEqual(['Critical', 'Error', 'Warning', 'Info', 'audit', 'Success']);
  const card = shown.page.locator('.test-card');
  expect(await card.locator('h2').textContent()).toBe('tested');
  expect(await card.locator('p').textContent()).toMatch(
    /^1920 × 1080, pixel ratio 1, size 100 % · Belfry \d+\.\d+\.\d+/,
  );
  expect(await card.locator('.clock').textContent()).toMatch(/^\d\d:\d\d/);
  expect(await card.locator('.test-levels svg').count()).toBe(6);
  expect(await card.locator('.corner').count()).toBe(4);
  expect(await card.evaluate((node) => node.scrollHeight <= innerHeight)).toBe(true);
  const token = await lab.server.token({ scopes: ['notify'] });
  const { json: quiet } = await lab.server.notify(token, {
    title: 'behind it',
    message: 'm',
    level: 'error',
  });
  await expect.poll(() => shown.page.title()).toContain('(1)');
  expect(await card.isVisible()).toBe(true);
  const shownAt = async (id: string) => {
    const { json } = await lab.server.call('GET', `/api/notifications/${id}`, { token: key });
    const own = json.deliveries.find(({ panel }: { panel: { id: string } }) => panel.id === shown.panelId);
    return own.shownAt as string | null;
  };
  // What the test card hides was not displayed, and no receipt says so.
  expect(await shownAt(quiet.id)).toBeNull();
  await lab.server.notify(token, { title: 'worst', message: 'm', level: 'critical' });
  await card.waitFor({ state: 'hidden' });
  await expect.poll(() => shownAt(quiet.id)).toMatch(/^20/);
});

test('a touch takes the test card away, and the screen says which page it is', async () => {
  const shown = await screen({ name: 'touched', locale: 'de-DE' });
  await sendCommand(shown, 'test');
  await shown.page.locator('.test-card', { hasText: 'Testbild' }).click();
  await shown.page.locator('.overlay').waitFor({ state: 'hidden' });
  expect(await panelOf(shown)).toMatchObject({
    version: expect.stringMatching(/^panel\/\d+\.\d+\.\d+/),
    address: '127.0.0.1',
  });
});
