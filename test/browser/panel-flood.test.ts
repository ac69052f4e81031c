import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { flood, levels, repaintsOf, restlessnessOf, subjects, watchWall } from './flood.ts';
import { PanelLab } from './panel-lab.ts';

const perSecond = 500;
const seconds = 3;

test('at 500 events a second the screen stays smooth, bounded and up to date', async () => {
  const lab = await PanelLab.start(inject('browserPath'));
  const { page } = await lab.screen({ name: 'flood' });
  const token = await lab.server.token({ scopes: ['notify'] });
  await page.evaluate(countFrames);
  await sleep(1_000);
  const idle = await page.evaluate(() => (window as unknown as { frames: () => Frames }).frames());
  await page.evaluate(countFrames);
  const started = performance.now();
  let sent = 0;
  while (performance.now() - started < seconds * 1_000) {
    const due = Math.floor(((performance.now() - started) / 1_000) * perSecond);
    const burst = [];
    for (; sent < due; sent++) burst.push(notify(lab.server.url, token, sent));
    await Promise.all(burst);
    await sleep(10);
  }
  const frames = await page.evaluate(() => (window as unknown as { frames: () => Frames }).frames());
  // What moves by itself has the screen drawn anew with every frame: here that is nothing.
  const moving = await page.evaluate(() => document.getAnimations().length);
  const elements = await page.evaluate(() => document.querySelectorAll('*').length);
  process.stdout.write(
    `panel at ${Math.round(sent / seconds)} events/s: ${frames.perSecond} frames/s (idle: ${idle.perSecond}), longest ${frames.longestMs} ms, ${elements} elements\n`,
  );
  expect(elements).toBeLessThan(1_000);
  expect(moving).toBeLessThanOrEqual(3);
  await notify(lab.server.url, token, sent, 'critical');
  await page.locator('.card.critical').waitFor();
  await lab.stop();
});

/** Alarms of these kinds, from as many hosts for each. */
async function alarms(lab: PanelLab, kinds: number, hosts: number): Promise<void> {
  const token = await lab.server.token({ scopes: ['notify'] });
  for (let host = 0; host < hosts; host++) {
    await Promise.all(
      subjects.slice(0, kinds).map((title, kind) =>
        lab.server.notify(token, {
          title: `${title} ${host}`,
          message: 'Seen by the monitoring',
          host: `edge-${String(kind).padStart(2, '0')}-${host}`,
          level: levels[kind % levels.length],
          ttl: 0,
        }),
      ),
    );
  }
}

const sizes = [
  ['wall', { width: 1920, height: 1080 }],
  ['4k', { width: 3840, height: 2160 }],
  ['upright', { width: 1080, height: 1920 }],
] as const;

/** At 5 m, letters 25 mm high can be read: a two-hundredth of the distance. A 55-inch screen is 685 mm high. */
const readableShare = 25 / 685;

/** The counts in the header that can be seen, how high their digits are as a share of the window, and whether anything leaves it. */
function readCounts() {
  const list = document.querySelector('header .counts') as HTMLElement;
  const { bottom } = list.getBoundingClientRect();
  const texts = [...list.querySelectorAll('span')].filter(
    (each) => each.getBoundingClientRect().top < bottom,
  );
  const context = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
  const { fontWeight, fontSize, fontFamily } = getComputedStyle(texts[0] as Element);
  context.font = `${fontWeight} ${fontSize} ${fontFamily}`;
  const { actualBoundingBoxAscent } = context.measureText('0123456789');
  const header = document.querySelector('header') as HTMLElement;
  const ends = [...texts, document.querySelector('.clock') as HTMLElement].map((each) =>
    each.getBoundingClientRect(),
  );
  const floor = header.getBoundingClientRect().bottom;
  return {
    levels: texts.length,
    digitShare: actualBoundingBoxAscent / innerHeight,
    areInside:
      document.documentElement.scrollWidth <= innerWidth &&
      ends.every(({ right, bottom: end }) => right <= innerWidth && end <= floor + 1),
  };
}

/** Resolves once the page has drawn itself for the size. */
async function resize(page: Page, size: { readonly width: number; readonly height: number }): Promise<void> {
  const { width, height } = page.viewportSize() ?? size;
  if (width === size.width && height === size.height) return;
  const resized = await page.evaluateHandle(() => ({
    drawn: new Promise((resolve) => {
      const twoFrames = () => requestAnimationFrame(() => requestAnimationFrame(resolve));
      addEventListener('resize', twoFrames, { once: true });
    }),
  }));
  await page.setViewportSize(size);
  await resized.evaluate(({ drawn }) => drawn.then(() => undefined));
}

test('of 500 alarms every kind can be read, on a wall, on 4K and upright', async () => {
  const lab = await PanelLab.start(inject('browserPath'));
  const { page } = await lab.screen({ name: 'flood', viewport: sizes[0][1] });
  await alarms(lab, 20, 25);
  for (const [name, viewport] of sizes) {
    await resize(page, viewport);
    await expect
      .poll(() => page.locator('.common, .row .what').allTextContents(), { timeout: 20_000 })
      .toHaveLength(20);
    const cut = await page.evaluate(
      () =>
        [...document.querySelectorAll('.heading, .word, .what, .card em, .row b')].filter(
          (each) => each.scrollWidth > each.clientWidth + 1 || each.scrollHeight > each.clientHeight + 8,
        ).length,
    );
    expect([name, cut]).toEqual([name, 0]);
    const halves = await page.evaluate(
      () =>
        [...document.querySelectorAll('.group .hosts')].filter((hosts) => {
          const lines =
            hosts.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(hosts).lineHeight);
          return Math.abs(lines - Math.round(lines)) > 0.1;
        }).length,
    );
    expect([name, halves]).toEqual([name, 0]);
    const counts = await page.evaluate(readCounts);
    expect([name, counts.levels, counts.areInside]).toEqual([name, 4, true]);
    if (viewport.width > viewport.height)
      expect(counts.digitShare, name).toBeGreaterThanOrEqual(readableShare);
  }
  await resize(page, { width: 390, height: 844 });
  await page.locator('html.narrow').waitFor({ state: 'attached' });
  expect(await page.evaluate(readCounts)).toMatchObject({ levels: 4, areInside: true });
  await lab.stop();
});

test('in a flood nothing on a wall overtakes another, moves without a reason or falls apart', async () => {
  const lab = await PanelLab.start(inject('browserPath'));
  const viewports = [sizes[0][1], sizes[2][1], { width: 390, height: 844 }];
  const screens = await Promise.all(viewports.map((viewport) => lab.screen({ viewport })));
  for (const { page } of screens) await watchWall(page);
  await flood(lab.server, { count: 240, ms: 3_000 });
  for (const { page } of screens) {
    const kinds = page.locator('.common, .row .what');
    await expect
      .poll(async () => (await kinds.allTextContents()).sort(), { timeout: 60_000 })
      .toEqual(subjects.toSorted());
    const { overtook, withoutReason, fellApart, grewEarly, floodedAgain } = restlessnessOf(
      await repaintsOf(page),
    );
    const found = { overtook, withoutReason, fellApart, grewEarly, floodedAgain };
    expect(Object.entries(found).filter(([, count]) => count > 0)).toEqual([]);
    expect(await page.evaluate(() => document.querySelectorAll('*').length)).toBeLessThan(1_000);
  }
  await lab.stop();
});

test('alarms with different titles that a rule groups by a label are one card, which names the label and the titles', async () => {
  const lab = await PanelLab.start(inject('browserPath'));
  const rule = { name: 'by cluster', then: { group: ['label:cluster'] } };
  const key = await lab.server.key();
  await lab.server.call('POST', '/api/rules', { token: key, json: rule });
  const { page } = await lab.screen({ name: 'groups', viewport: sizes[0][1] });
  const token = await lab.server.token({ scopes: ['notify'] });
  let last = '';
  for (const [n, title] of [...subjects, ...subjects].entries()) {
    const { json } = await lab.server.notify(token, {
      ...{ title, message: 'm', host: `edge-${n}`, level: 'error', ttl: 0 },
      labels: { cluster: n < subjects.length ? 'eu-1' : 'us-2' },
    });
    last = json.id;
  }
  const headings = page.locator('.card.group .heading');
  await expect
    .poll(() => headings.allTextContents(), { timeout: 20_000 })
    .toEqual(['cluster=us-220 hosts', 'cluster=eu-120 hosts']);
  const listed = await page.locator('.card.group .hosts').first().textContent();
  expect(listed?.split(' · ')).toEqual(subjects.toReversed());
  await page.locator('.card.group').first().click();
  await page.locator('dialog.details').getByText('cluster=us-2 · 20 alarms').waitFor();
  await expect
    .poll(async () => {
      const { json } = await lab.server.call('GET', `/api/notifications/${last}`, { token: key });
      return json.deliveries;
    })
    .toMatchObject([{ shownAt: expect.any(String), inGroup: true }]);
  await lab.stop();
});

test('a group whose level rises, as by an escalation, cuts no line of its hosts', async () => {
  const lab = await PanelLab.start(inject('browserPath'));
  const { page } = await lab.screen({ name: 'rising', viewport: { width: 1920, height: 993 } });
  const token = await lab.server.token({ scopes: ['notify'] });
  const send = (n: number, level: string) =>
    lab.server.notify(token, {
      ...{ title: `Host web-${n} unreachable`, message: 'm', host: `web-${n}`, key: `web-${n}` },
      ...{ level, ttl: 0 },
    });
  for (let n = 10; n < 50; n++) await send(n, 'error');
  const group = page.locator('.card.group', { hasText: '40 hosts' });
  await group.waitFor({ timeout: 20_000 });
  await send(10, 'critical');
  await page.locator('.card.group.critical').waitFor();
  /** How many lines there are, as a fraction if one is cut. */
  const lines = () =>
    group
      .locator('.hosts')
      .evaluate((hosts) => hosts.clientHeight / Number.parseFloat(getComputedStyle(hosts).lineHeight));
  await expect.poll(async () => Math.abs((await lines()) - Math.round(await lines()))).toBeLessThan(0.05);
  expect(await lines()).toBeGreaterThan(4);
  await lab.stop();
});

test('of 60 different alarms a wall shows most, and a touch opens one', async () => {
  const lab = await PanelLab.start(inject('browserPath'));
  const { page } = await lab.screen({ name: 'sixty', viewport: sizes[0][1] });
  await alarms(lab, 20, 2);
  const token = await lab.server.token({ scopes: ['notify'] });
  for (const title of subjects)
    await lab.server.notify(token, {
      title: `${title} again`,
      message: 'm',
      host: 'nas-2',
      level: 'error',
      ttl: 0,
    });
  await allDrawn(page, 60);
  const counts = [];
  for (const [, viewport] of sizes) {
    await resize(page, viewport);
    await laidOut(page, viewport);
    counts.push(await page.locator('.card[data-id], .row[data-id]').count());
  }
  const [wall = 0, large = 0, upright = 0] = counts;
  expect(Math.min(wall, large, upright)).toBeGreaterThanOrEqual(24);
  expect([large >= wall, upright <= wall]).toEqual([true, true]);
  const chips = page.locator('.row.rest .chip');
  const half = await chips.evaluateAll(
    (all) =>
      all.filter((chip) => {
        const [is, line] = [chip.getBoundingClientRect(), chip.parentElement?.getBoundingClientRect()];
        return line !== undefined && is.top < line.bottom - 2 && is.right > line.right + 1;
      }).length,
  );
  expect(half).toBe(0);
  const added = await page.evaluate(elementsAddedUntilNextPaint);
  expect(added).toBe(0);
  // With one of two cleared, the other is still there to be cleared, though it is no group any more.
  await page.locator('.row[data-id]').first().click();
  const opened = page.locator('dialog.details .card');
  await opened.nth(1).waitFor();
  await opened.first().getByRole('button', { name: 'Clear' }).click();
  await expect.poll(() => opened.count(), { timeout: 20_000 }).toBe(1);
  await opened.getByRole('button', { name: 'Clear' }).click();
  await page.locator('dialog.details').waitFor({ state: 'hidden' });
  await lab.stop();
});

/** Resolves once the screen has drawn so many alarms: a flood is drawn four times a second. */
async function allDrawn(page: Page, count: number): Promise<void> {
  const counted = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('header .counts span')].reduce(
        (sum, { textContent }) => sum + Number.parseInt(textContent ?? '', 10),
        0,
      ),
    );
  await expect.poll(counted, { timeout: 20_000 }).toBe(count);
  await page.waitForTimeout(600);
}

/** Resolves once the rows stand as this size wants them. */
async function laidOut(
  page: Page,
  { width, height }: { readonly width: number; readonly height: number },
): Promise<void> {
  const columns = () =>
    page.evaluate(() => {
      const [row] = document.querySelectorAll('.row');
      return Number(row && getComputedStyle(row.parentElement as Element).getPropertyValue('--columns'));
    });
  const isHigh = height > width;
  await expect.poll(async () => (await columns()) === 1, { timeout: 20_000 }).toBe(isHigh);
}

/** How many rows there are, and how many of them have a host or a title that is cut. */
function readRows() {
  const rows = [...document.querySelectorAll('.row[data-id]')];
  const isCut = (each: Element) => each.scrollWidth > each.clientWidth;
  return {
    rows: rows.length,
    cut: rows.filter((row) => [...row.querySelectorAll('b, .what')].some(isCut)).length,
  };
}

test('of 60 alarms with long hosts and titles 24 are complete on each screen, and on a phone all, on rows and on cards', async () => {
  const lab = await PanelLab.start(inject('browserPath'));
  const { page } = await lab.screen({ name: 'long', viewport: sizes[0][1] });
  const token = await lab.server.token({ scopes: ['notify'] });
  for (const [n, name] of [...subjects, ...subjects, ...subjects].entries()) {
    const words = ['alpha', 'delta', 'sierra'][Math.floor(n / subjects.length)];
    const title = `Hall ${words}: ${name} again and again`.slice(0, 30);
    const host = `host-${words}-${n}.example.net`;
    await lab.server.notify(token, {
      title,
      message: 'm',
      host,
      level: n < 3 ? 'critical' : 'error',
      ttl: 0,
    });
  }
  await allDrawn(page, 60);
  for (const [name, viewport] of sizes) {
    await resize(page, viewport);
    await page.locator('.row.rest').waitFor();
    await laidOut(page, viewport);
    await expect
      .poll(async () => (await page.evaluate(readRows)).cut, { message: name, timeout: 20_000 })
      .toBe(0);
    expect(
      (await page.evaluate(readRows)).rows + (await page.locator('.card').count()),
      name,
    ).toBeGreaterThanOrEqual(24);
  }
  await resize(page, { width: 390, height: 844 });
  await page.locator('html.narrow').waitFor({ state: 'attached' });
  await expect.poll(async () => (await page.evaluate(readRows)).rows).toBeGreaterThan(40);
  expect((await page.evaluate(readRows)).cut).toBe(0);
  const cutHosts = await page
    .locator('.card .host')
    .evaluateAll((all) => all.filter((each) => each.scrollWidth > each.clientWidth).length);
  expect(cutHosts).toBe(0);
  await lab.stop();
});

test('the row of a group has its worst level and counts the acknowledged, and a row of one has the note', async () => {
  const lab = await PanelLab.start(inject('browserPath'));
  const { page } = await lab.screen({ name: 'rows', viewport: sizes[0][1] });
  const [token, key] = await Promise.all([lab.server.token({ scopes: ['notify'] }), lab.server.key('admin')]);
  const send = async (title: string, host: string, level = 'error') =>
    (await lab.server.notify(token, { title, message: 'm', host, level, ttl: 0 })).json.id as string;
  const acknowledge = (id: string, note: string) =>
    lab.server.call('POST', `/api/notifications/${id}/acknowledge`, { token: key, json: { note } });
  await acknowledge(await send('Link flapping 1', 'sw-1', 'critical'), 'seen');
  for (const n of [2, 3, 4]) await send(`Link flapping ${n}`, `sw-${n}`, 'warning');
  await acknowledge(await send('Gate is open', 'gate-1'), 'driving in, 20 min');
  for (const n of [1, 2, 3]) await send(`Disk ${n} is full`, `db-${n}`, 'info');
  await acknowledge(await send('Disk 4 is full', 'db-4', 'info'), 'seen');
  for (const title of [...subjects, ...subjects.map((each) => `${each} again`)]) await send(title, 'nas-2');
  const group = page.locator('.row', { hasText: /4 hosts\s*Link/ });
  await group.waitFor({ timeout: 20_000 });
  expect(await group.locator('.symbol').getAttribute('aria-label')).toBe('Critical');
  const row = page.locator('.row', { hasText: 'Gate is open' });
  await row.waitFor();
  expect(await row.locator('.facts').textContent()).toBe('driving in, 20 min');
  const facts = page.locator('.row', { hasText: /4 hosts\s*Disk/ }).locator('.facts');
  // Without the characters that keep words together.
  const text = (await facts.textContent())?.replace(/[\u200b\u2060]/g, '').replace(/\u00a0/g, ' ');
  expect(text).toMatch(/^1 acknowledged .*db-3 db-2 db-1 db-4$/);
  await lab.stop();
});

/** How many elements are new on a screen on which only the time has changed. */
function elementsAddedUntilNextPaint(): Promise<number> {
  const footer = document.querySelector('footer');
  const shown = () => footer?.textContent;
  const before = shown();
  let added = 0;
  return new Promise((resolve) => {
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes)
        for (const node of addedNodes) if (node instanceof Element) added += 1;
      if (shown() !== before) resolve(added);
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
  });
}

interface Frames {
  readonly perSecond: number;
  readonly longestMs: number;
}

function countFrames(): void {
  const since = performance.now();
  let count = 0;
  let last = since;
  let longest = 0;
  const frame = (at: number) => {
    count += 1;
    longest = Math.max(longest, at - last);
    last = at;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
  const frames = (): Frames => ({
    perSecond: Math.round(count / ((performance.now() - since) / 1_000)),
    longestMs: Math.round(longest),
  });
  Object.assign(window, { frames });
}

async function notify(url: string, token: string, n: number, level = 'info'): Promise<void> {
  const response = await fetch(`${url}/api/notify`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      title: `Event ${n}`,
      message: `of many, on its way`,
      host: `web-${n % 40}`,
      level,
      ttl: 20_000,
    }),
  });
  await response.text();
}
