import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { faultsInBothSchemes } from './accessibility.ts';
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
  const key = await lab.server.key('admin');
  await lab.server.call('PATCH', '/api/tenant', { token: key, json: { title: 'Plant 2' } });
  await page.locator('footer .brand', { hasText: 'Plant 2' }).waitFor();
});

test('cards show the labels that the settings name, each as its text', async () => {
  const { page, display, send } = await open({ name: 'labels' });
  const labels = { site: 'plant 2', env: '<b>prod</b>', cluster: 'c1' };
  await send({ title: 'a', host: 'db-01', labels });
  await page.locator('.card h2').waitFor();
  expect(await page.locator('.card .label').count()).toBe(0);
  await display({ labels: ['env', 'site', 'constructor'] });
  await expect
    .poll(() => page.locator('.card .label').allTextContents())
    .toEqual(['env<b>prod</b>', 'siteplant 2']);
});

test('cards, also in the dialog of a row, show the runbook as a link, and nothing else as one', async () => {
  const { page, send } = await open({ name: 'runbook' });
  const runbook_url = 'https://wiki.example.org/disk';
  await send({ title: 'good', labels: { runbook_url } });
  await send({ title: 'bad', labels: { runbook_url: 'javascript:alert(1)' } });
  await page.locator('.card h2', { hasText: 'bad' }).waitFor();
  const links = page.locator('.card a', { hasText: 'Runbook' });
  expect(
    await links.evaluateAll((all) =>
      all.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]),
    ),
  ).toEqual([[runbook_url, 'noopener noreferrer']]);
  for (let i = 0; i < 80; i++)
    await send({ title: `Disk full on ${i}`, host: `db-${i}`, labels: { runbook_url } });
  await page.locator('.row[data-id], .card.group').first().click();
  const opened = page.locator('dialog.details .card').filter({ hasText: 'Disk full' });
  expect(await opened.first().locator('a', { hasText: 'Runbook' }).getAttribute('href')).toBe(runbook_url);
});

test('a card with instructions says so, and a touch or Enter shows them as plain text', async () => {
  const { page, send } = await open({ name: 'instructions' });
  const key = await lab.server.key('admin');
  const text = `Call <b>the plant</b>.\n${'Then wait. '.repeat(300)}\nhttps://plant.example.org`;
  const json = { name: 'plant', when: { host: ['plant'] }, then: { instructions: text }, continue: true };
  const { json: rule } = await lab.server.call('POST', '/api/rules', { token: key, json });
  const labels = { runbook_url: 'https://wiki.example.org/plant' };
  await send({ title: 'without' });
  await send({ title: 'Pump failed', host: 'plant', key: 'pump', level: 'critical', labels });
  const button = page.getByRole('button', { name: 'Instructions for “Pump failed”' });
  await button.waitFor();
  expect(await page.locator('button.todo').count()).toBe(1);
  await page.locator('.card h2', { hasText: 'without' }).click();
  expect(await page.locator('dialog.details').isVisible()).toBe(false);
  await page.locator('.card h2', { hasText: 'Pump failed' }).click();
  const shown = page.locator('dialog.details .what-to-do .text');
  await expect.poll(() => shown.allInnerTexts()).toEqual([text, labels.runbook_url]);
  const dialog = page.locator('dialog.details');
  expect(await dialog.evaluate((each) => each.scrollHeight - each.clientHeight)).toBeGreaterThan(100);
  expect(await dialog.locator('.what-to-do a').count()).toBe(0);
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.locator('.cards button.todo').focus();
  await page.keyboard.press('Enter');
  await shown.first().waitFor();
  await lab.server.call('DELETE', `/api/rules/${rule.id}`, { token: key });
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

const letters = [...'abcdefghijklmnopqrstuvwxyz'];

test('a wall shows eleven critical alarms, and cuts neither a level nor a host nor the counts of the others', async () => {
  const { page, send } = await open({ name: 'critical' });
  const levels = ['error', 'warning', 'success', 'info'];
  for (const [n, letter] of letters.entries())
    for (const again of ['once', 'twice'])
      await send({
        title: `Event ${letter} ${again}`,
        level: levels[n % 4],
        host: `${letter}-server-1.example`,
      });
  for (const letter of letters.slice(0, 11))
    await send({ title: `Power lost in rack ${letter}, on battery`, level: 'critical', ttl: 0 });
  await expect.poll(() => page.locator('.critical').count()).toBe(11);
  await page.locator('.row.rest').waitFor();
  const cut = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('.word, .levels, .row b, .row .end')]
        .filter((each) => each.scrollWidth > each.clientWidth + 1)
        .map(({ textContent }) => textContent),
    );
  await expect.poll(cut).toEqual([]);
});

test('on a full wall a title of four words is smaller rather than cut', async () => {
  const { page, send } = await open({ name: 'titles' });
  const message = 'Message 609: /var is at 9 % and growing 2 % per hour.';
  for (let n = 0; n < 6; n++) {
    const title = n % 3 === 0 ? 'A title that goes on for long '.repeat(7) : 'Replication stopped on db-02';
    await send({ title, message, host: 'db-02.internal', level: 'error', ttl: 0 });
  }
  const titles = page.locator('.card h2', { hasText: 'Replication' });
  await expect.poll(() => titles.count()).toBe(4);
  const cut = () =>
    titles.evaluateAll((all) => all.filter((each) => each.scrollHeight > each.clientHeight + 4).length);
  await expect.poll(cut).toBe(0);
});

test.each([
  ['one card', [20]],
  ['one critical card', [50]],
  ['two cards', [40, 40]],
  ['five cards', [40, 40, 30, 20, 20]],
])('a wall cuts no title while its card is empty below: %s', async (_, ranks) => {
  const { page, send } = await open({ name: 'long' });
  const title =
    'Backup of the file server in building seven did not finish within its window, and the next one '
      .repeat(3)
      .slice(0, 250);
  const levels = new Map([
    [20, 'info'],
    [30, 'warning'],
    [40, 'error'],
    [50, 'critical'],
  ]);
  for (const [at, rank] of ranks.entries())
    await send({
      title: at === ranks.length - 1 ? title : `Event ${at}`,
      level: levels.get(rank),
      host: 'web-1',
    });
  await expect.poll(() => page.locator('.card[data-id]').count()).toBe(ranks.length);
  const isCut = () =>
    page.locator('.card h2', { hasText: 'Backup' }).evaluate((h2) => h2.scrollHeight > h2.clientHeight + 1);
  for (const viewport of [
    { width: 1920, height: 1080 },
    { width: 1440, height: 900 },
  ]) {
    await page.setViewportSize(viewport);
    await expect.poll(isCut).toBe(false);
  }
});

test('on a wall the notice about sound covers nothing of the footer, in German and upright too', async () => {
  const { page } = await open({ name: 'upright', locale: 'de', viewport: { width: 1080, height: 1920 } });
  await page.locator('.hint').waitFor();
  const covered = () =>
    page.evaluate(() => {
      const box = (selector: string) => (document.querySelector(selector) as Element).getBoundingClientRect();
      const [line, hint, date] = [box('footer .line'), box('.hint'), box('footer .date')];
      return line.right > hint.left || hint.right > date.left || hint.bottom > innerHeight;
    });
  for (const width of [1080, 1366, 1920]) {
    await page.setViewportSize({ width, height: 1080 });
    await expect.poll(covered, { message: `at ${width} px` }).toBe(false);
  }
});

test('on a wall the controls cover no button of a card', async () => {
  const { page, send } = await open({ name: 'wall', viewport: { width: 1920, height: 1080 } });
  await send({ title: 'Disk full', level: 'critical' });
  const covered = () =>
    page.evaluate(() => {
      const { left, top } = (document.querySelector('.tools') as Element).getBoundingClientRect();
      const buttons = [...document.querySelectorAll('.card .actions button')].map((each) =>
        each.getBoundingClientRect(),
      );
      return [buttons.length, buttons.filter(({ right, bottom }) => right > left && bottom > top).length];
    });
  await page.locator('.card[data-id]').waitFor();
  for (const [width, height] of [
    [1920, 1080],
    [1280, 720],
    [1080, 1920],
  ] as const) {
    await page.setViewportSize({ width, height });
    await expect.poll(covered, { message: `at ${width} px` }).toEqual([2, 0]);
  }
});

test('on a phone the controls and the notice about sound cover neither each other nor the end of the page', async () => {
  const { page, send } = await open({ name: 'phone', viewport: { width: 390, height: 844 } });
  const boxes = (...selectors: string[]) =>
    page.evaluate(
      (all) =>
        all.map((selector) => {
          const { top, bottom, left, right } = (
            document.querySelector(selector) as Element
          ).getBoundingClientRect();
          return { top, bottom, inside: left >= 0 && right <= innerWidth && bottom <= innerHeight };
        }) as [Box, Box, Box],
      selectors,
    );
  await page.locator('.hint').waitFor();
  const check = async () => {
    const [footer, tools, hint] = await boxes('footer', '.tools', '.hint');
    expect([tools.inside, hint.inside]).toEqual([true, true]);
    // A page is scrolled by whole pixels.
    expect(footer.bottom).toBeLessThan(tools.top + 1);
    expect(tools.bottom).toBeLessThanOrEqual(hint.top);
  };
  await check();
  for (let n = 0; n < 12; n++) await send({ title: `Event ${n}`, level: 'error' });
  await expect.poll(() => page.locator('.card[data-id]').count()).toBe(12);
  const [, tools, hint] = await boxes('footer', '.tools', '.hint');
  expect([tools.inside, hint.inside]).toEqual([true, true]);
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  await check();
});

interface Box {
  readonly top: number;
  readonly bottom: number;
  readonly inside: boolean;
}

test('a screen can be unpaired at the screen, by pressing twice', async () => {
  const { page } = await open({ name: 'unpaired' });
  await page.keyboard.press('s');
  // At once, because the second click must come within four seconds.
  const asked = await page.getByRole('button', { name: 'Unpair this screen' }).evaluate((button) => {
    (button as HTMLElement).click();
    const { textContent } = button;
    (button as HTMLElement).click();
    return textContent;
  });
  expect(asked).toBe('Press again to unpair');
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

test('an escalated alarm keeps its cause on the card, says how often, and its age goes on from the first', async () => {
  const { page, send } = await open({ name: 'escalated' });
  await lab.server.call('POST', '/api/rules', {
    token: await lab.server.key('admin'),
    json: {
      name: 'on call',
      when: { host: ['esc-*'] },
      then: { escalate: [{ afterMs: 1_000, setLevel: 'critical' }, { afterMs: 1_000 }] },
    },
  });
  await send({ title: 'Disk full', message: '/var', host: 'esc-1', level: 'error', key: 'esc' });
  const card = page.locator('.card[data-id]');
  await card.locator('.escalated', { hasText: 'escalated ×2' }).waitFor();
  expect(await card.locator('h2, .body p').allTextContents()).toEqual(['Disk full', '/var']);
  // The second step is one second old at first, and the alarm two.
  expect(await card.locator('.age').textContent()).toMatch(/^(?![01] s)/);
  expect(await faultsInBothSchemes(page)).toEqual([]);
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
