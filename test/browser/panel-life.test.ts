import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { TestServer } from '../support/server.ts';
import { PanelLab, type Screen } from './panel-lab.ts';

let lab: PanelLab;
let open: Screen | undefined;
let settings: Record<string, string>;
beforeAll(async () => {
  // A port that nobody takes while the server is restarted.
  settings = { BELFRY_HEARTBEAT_MS: '700', BELFRY_PORT: String(await freePort()) };
  lab = await PanelLab.start(inject('browserPath'), settings);
});
afterAll(() => lab.stop());
afterEach(async () => {
  await open?.close();
  open = undefined;
  await lab.clearAll();
});

/** A screen of its own name, so that no test sees the notifications of another. */
async function screenWithRule(name: string): Promise<Screen & { send: (body: object) => Promise<string> }> {
  open = await lab.screen({ name });
  const token = await lab.server.token({ scopes: ['notify'] });
  const send = async (body: object) => {
    const { json, text } = await lab.server.notify(token, { message: 'm', ...body });
    expect(json?.ok, text).toBe(true);
    return json.id as string;
  };
  return { ...open, send };
}

const cards = ({ page }: Screen) => page.locator('.card[data-id]');
const titles = (screen: Screen) => cards(screen).locator('h2').allTextContents();

test('a screen without a token shows a code, and its panel once someone has approved it', async () => {
  const { page, close, errors } = await lab.window();
  await page.goto(`${lab.server.url}/panel`);
  await page.locator('.pairing .qr svg').waitFor();
  const code = await page.locator('.code').textContent();
  expect(code).toMatch(/^[2-9A-Z]{6}$/);
  const { status } = await lab.server.call('POST', `/api/pairings/${code}/approve`, {
    token: await lab.server.key('admin'),
    json: { name: 'lobby' },
  });
  expect(status).toBe(200);
  await page.locator('header[data-health="online"] h1', { hasText: 'lobby' }).waitFor();
  await page.locator('.notice h2', { hasText: 'All quiet' }).waitFor();
  await page.reload();
  await page.locator('header[data-health="online"] h1', { hasText: 'lobby' }).waitFor();
  expect(new URL(page.url()).search).toBe('');
  expect(errors).toEqual([]);
  await close();
});

test('a notification appears, a later one with its key takes its place, and clearing takes it off', async () => {
  const screen = await screenWithRule('keys');
  await screen.send({ title: 'db is down', key: 'db', level: 'critical', host: 'db-01', ip: '10.0.0.7' });
  await screen.page.locator('.card.critical h2', { hasText: 'db is down' }).waitFor();
  expect(await screen.page.locator('.card.critical .origin').textContent()).toBe('db-0110.0.0.7');
  const up = await screen.send({ title: 'db is up', key: 'db', level: 'success', ttl: 60_000 });
  await screen.page.locator('.card h2', { hasText: 'db is up' }).waitFor();
  await expect.poll(() => titles(screen)).toEqual(['db is up']);
  const key = await lab.server.key('admin');
  await lab.server.call('POST', `/api/notifications/${up}/clear`, { token: key });
  await screen.page.locator('.notice h2', { hasText: 'All quiet' }).waitFor();
});

test('a card is cleared from the screen itself, and expires by its ttl; receipts report both', async () => {
  const screen = await screenWithRule('receipts');
  const cleared = await screen.send({ title: 'to clear', level: 'error' });
  const expired = await screen.send({ title: 'to expire', level: 'info', ttl: 4_000 });
  const key = await lab.server.key('admin');
  const receipt = async (id: string) => {
    const { json } = await lab.server.call('GET', `/api/notifications/${id}`, { token: key });
    const all = json.deliveries as { panel: { id: string } }[];
    return all.find(({ panel }) => panel.id === screen.panelId);
  };
  const at = expect.stringMatching(/^20/);
  await expect.poll(() => receipt(expired)).toMatchObject({ shownAt: at, expiredAt: at, clearedAt: null });
  await expect.poll(() => titles(screen)).toEqual(['to clear']);
  await cards(screen).first().hover();
  await cards(screen).getByRole('button', { name: 'Acknowledge “to clear”' }).click();
  await expect.poll(() => cards(screen).locator('.seen').textContent()).toMatch(/^Acknowledged by token /);
  await lab.server.call('POST', `/api/alarms/${cleared}/acknowledge`, {
    token: key,
    json: { forMs: 3_600_000, take: true, note: 'on my way' },
  });
  await expect
    .poll(() => cards(screen).locator('.seen').textContent())
    .toMatch(/^Acknowledged by key .* until .*: on my way$/);
  // It looks different now, and smaller.
  await cards(screen).first().hover();
  await cards(screen).getByRole('button', { name: 'Clear “to clear”' }).click();
  await expect.poll(() => titles(screen)).toEqual([]);
  await expect.poll(() => receipt(cleared)).toMatchObject({ shownAt: at, expiredAt: null, clearedAt: at });
});

test('the most serious stand first whatever came last, and similar ones that do not fit are one card', async () => {
  const screen = await screenWithRule('order');
  for (let n = 1; n <= 20; n++) await screen.send({ title: `info ${n}`, ttl: 60_000, host: `web-${n}` });
  await screen.send({ title: 'worst', level: 'critical', ttl: 60_000 });
  await screen.send({ title: 'bad', level: 'warning', ttl: 60_000 });
  const board = () =>
    screen.page.evaluate(() => ({
      titles: [...document.querySelectorAll('.card[data-id] h2, .card .heading')].map(
        (each) => each.textContent,
      ),
      fits: document.documentElement.scrollHeight <= innerHeight,
    }));
  await expect.poll(board).toEqual({ titles: ['worst', 'bad', 'info20 hosts'], fits: true });
});

test('an alarm in a group counts as shown when the group is on the screen, and not while it has no room', async () => {
  const screen = await screenWithRule('grouped');
  const token = await lab.server.key('admin');
  const display = (maxCards: number) =>
    lab.server.call('PATCH', `/api/panels/${screen.panelId}`, { token, json: { display: { maxCards } } });
  await display(1);
  for (let n = 1; n <= 12; n++)
    await screen.send({ title: `BGP peer lost ${n}`, level: 'error', ttl: 0, host: `edge-${n}` });
  const worst = await screen.send({ title: 'worst', level: 'critical', ttl: 0 });
  await screen.page.locator('.card.critical h2', { hasText: 'worst' }).waitFor();
  await screen.page.locator('.row.rest', { hasText: '1 Error' }).waitFor();
  const late = await screen.send({ title: 'BGP peer lost 13', level: 'error', ttl: 0, host: 'edge-13' });
  const shownAt = async (id: string) => {
    const { json } = await lab.server.call('GET', `/api/notifications/${id}`, { token });
    const all = json.deliveries as { panel: { id: string }; shownAt: string | null }[];
    return all.find(({ panel }) => panel.id === screen.panelId)?.shownAt;
  };
  // Receipts leave in the order of what was shown: one that came later says that there is none for what came before.
  const next = await screen.send({ title: 'worse', level: 'critical', ttl: 0 });
  await expect.poll(() => shownAt(next)).toMatch(/^20/);
  expect([await shownAt(worst), await shownAt(late)]).toEqual([expect.stringMatching(/^20/), null]);
  await display(10);
  await expect.poll(() => shownAt(late)).toMatch(/^20/);
  const { json } = await lab.server.call('GET', '/api/history?q=is:live%20is:unseen', { token });
  expect(json.notifications).toEqual([]);
});

test('a group is acknowledged with one button, which asks again when it is large and says how many failed', async () => {
  const screen = await screenWithRule('acknowledge all');
  const { page } = screen;
  const token = await lab.server.key('admin');
  await lab.server.call('PATCH', `/api/panels/${screen.panelId}`, {
    token,
    json: { display: { maxCards: 1 } },
  });
  const ids: string[] = [];
  for (let n = 1; n <= 12; n++)
    ids.push(await screen.send({ title: `Link flapping ${n}`, level: 'error', ttl: 0, host: `edge-${n}` }));
  await page.locator('.card.group', { hasText: '12 hosts' }).click();
  const all = page.locator('dialog.details .all button');
  const failing = new Set(ids.slice(4, 6));
  await page.route('**/acknowledge', (route) =>
    failing.has(route.request().url().split('/').at(-2) ?? '')
      ? route.fulfill({ status: 500 })
      : route.continue(),
  );
  await all.filter({ hasText: 'Acknowledge all 12' }).click();
  await all.filter({ hasText: 'Press again to acknowledge 12' }).click();
  await page.locator('dialog.details .message', { hasText: /^2 of 12 not acknowledged: / }).waitFor();
  await page.unroute('**/acknowledge');
  await all.filter({ hasText: 'Acknowledge all 2' }).click();
  await page.locator('.card.group .rest', { hasText: '12 acknowledged' }).waitFor();
  await all.waitFor({ state: 'hidden' });
});

test('on a phone the banner of a lost connection covers neither the name nor a card, also while it is scrolled', async () => {
  const screen = await screenWithRule('lost phone');
  const { page } = screen;
  await page.setViewportSize({ width: 390, height: 844 });
  for (let n = 0; n < 9; n++) await screen.send({ title: `Event ${n}`, level: 'error' });
  await expect.poll(() => cards(screen).count()).toBe(9);
  const { folder } = lab.server;
  await lab.server.stop({ keep: true });
  await page.locator('.banner:not([hidden])').waitFor();
  const edges = () =>
    page.evaluate(() =>
      ['h1', '.clock', '.banner', '.card'].map((selector) => {
        const { top, bottom } = (document.querySelector(selector) as Element).getBoundingClientRect();
        return { top, bottom };
      }),
    );
  const [name, clock, banner, card] = (await edges()) as [Edge, Edge, Edge, Edge];
  expect(Math.max(name.bottom, clock.bottom)).toBeLessThanOrEqual(banner.top);
  expect(banner.bottom).toBeLessThanOrEqual(card.top);
  await page.evaluate(() => scrollTo(0, 300));
  expect((await edges())[2]).toEqual(banner);
  lab.server = await TestServer.start(settings, folder);
});

interface Edge {
  readonly top: number;
  readonly bottom: number;
}

test('through a restart of the server the screen keeps what it shows, says that it is stale, and goes on', async () => {
  const screen = await screenWithRule('restart');
  await screen.send({ title: 'before', level: 'error' });
  await screen.page.locator('.card h2', { hasText: 'before' }).waitFor();
  await screen.page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    new MutationObserver((records) => {
      for (const { addedNodes } of records)
        for (const node of addedNodes)
          if (node instanceof HTMLElement && node.dataset.id)
            seen.push(node.querySelector('h2')?.textContent ?? '');
    }).observe(document.body, { childList: true, subtree: true });
  });
  const { folder } = lab.server;
  await lab.server.stop({ keep: true });
  await screen.page.locator('.screen.stale').waitFor();
  expect(await screen.page.locator('.banner strong').textContent()).toMatch(/^No contact since \d/);
  expect(await titles(screen)).toEqual(['before']);
  lab.server = await TestServer.start(settings, folder);
  const token = await lab.server.token({ scopes: ['notify'] });
  await lab.server.notify(token, { title: 'while away', message: 'm', level: 'error' });
  await screen.page.locator('header[data-health="online"]').waitFor();
  await expect.poll(() => titles(screen)).toEqual(['while away', 'before']);
  await expect.poll(() => screen.page.locator('.screen.stale, .banner:not([hidden])').count()).toBe(0);
  expect(await screen.page.evaluate(() => (window as unknown as { seen: string[] }).seen)).toEqual([
    'while away',
  ]);
});

test.each([
  ['revoked', 'This screen’s token was revoked'],
  ['deleted', 'This panel was deleted'],
])(
  'a screen whose token was revoked or whose panel was deleted says so and can be paired again: %s',
  async (how, message) => {
    const screen = await screenWithRule(how);
    const token = await lab.server.key('admin');
    const id = screen.token.split('_')[1];
    const path = how === 'revoked' ? `/api/tokens/${id}` : `/api/panels/${screen.panelId}`;
    const { status, text } = await lab.server.call('DELETE', path, { token });
    expect(status, text).toBeLessThan(300);
    await screen.page.locator('.pairing .ended', { hasText: message }).waitFor();
    await screen.page.locator('.pairing .qr svg').waitFor();
    expect(await screen.page.evaluate(() => localStorage.getItem('belfry.panel'))).toBeNull();
  },
);

test('what minLevel hides is neither announced nor answered by a receipt', async () => {
  const screen = await screenWithRule('hides');
  const key = await lab.server.key('admin');
  const call = (method: string, path: string, json?: unknown) =>
    lab.server.call(method, path, { token: key, ...(json !== undefined && { json }) });
  await call('PATCH', `/api/panels/${screen.panelId}`, { display: { minLevel: 'critical' } });
  const shown = await screen.send({ title: 'shown', level: 'critical' });
  await screen.page.locator('.announcement', { hasText: 'Critical: shown' }).waitFor({ state: 'attached' });
  const hidden = await screen.send({ title: 'hidden', level: 'error' });
  await call('POST', `/api/notifications/${hidden}/clear`);
  await call('POST', `/api/notifications/${shown}/clear`);
  await screen.page.locator('.notice h2', { hasText: 'All quiet' }).waitFor();
  expect(await screen.page.locator('.announcement').textContent()).toBe('Critical: shown');
  const delivery = async (id: string) =>
    (await call('GET', `/api/notifications/${id}`)).json.deliveries.find(
      ({ panel }: { panel: { id: string } }) => panel.id === screen.panelId,
    );
  await expect.poll(() => delivery(shown)).toMatchObject({ hidden: false, clearedAt: expect.anything() });
  expect(await delivery(hidden)).toMatchObject({ hidden: true, shownAt: null, clearedAt: null });
});

test('unpairing revokes the token, and leaves no listener and no sound device behind', async () => {
  const { page, context, close } = await lab.screen({ name: 'leaving', usedOnce: true });
  const inPage = await context.newCDPSession(page);
  const listeners = async () => {
    const { result } = await inPage.send('Runtime.evaluate', { expression: 'window' });
    const found = await inPage.send('DOMDebugger.getEventListeners', { objectId: result.objectId ?? '' });
    return found.listeners.map(({ type }) => type).toSorted();
  };
  await page.addInitScript(() => {
    const opened: AudioContext[] = [];
    const Usual = AudioContext;
    Object.assign(window, {
      opened,
      AudioContext: class extends Usual {
        constructor() {
          super();
          opened.push(this);
        }
      },
    });
  });
  await page.reload();
  const unpair = async () => {
    await page.locator('header[data-health="online"]').waitFor();
    await page.keyboard.press('s');
    // The second click must come within four seconds.
    await page.getByRole('button', { name: 'Unpair this screen' }).dblclick();
    await page.locator('.pairing .qr svg').waitFor();
  };
  await unpair();
  const ended = page.locator('.pairing .ended');
  expect(await ended.textContent()).toMatch(/its token is still valid/);
  const before = await listeners();
  const code = await page.locator('.code').getAttribute('data-code');
  const approval = { token: await lab.server.key('admin'), json: { name: 'leaving' } };
  await lab.server.call('POST', `/api/pairings/${code}/approve`, approval);
  await page.locator('header[data-health="online"]').waitFor();
  const { token } = JSON.parse((await page.evaluate(() => localStorage.getItem('belfry.panel'))) ?? '');
  const status = async () => (await lab.server.call('GET', '/api/panels', { token })).status;
  expect(await status()).toBe(200);
  await unpair();
  expect(await ended.textContent()).toBe('This screen was unpaired.');
  expect(await status()).toBe(401);
  expect(await listeners()).toEqual(before);
  const states = () =>
    page.evaluate(() => (window as unknown as { opened: AudioContext[] }).opened.map(({ state }) => state));
  await expect.poll(states).toEqual(['closed', 'closed']);
  await close();
});
