import type { Locator, Page, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { faultsIn, faultsInBothSchemes } from './accessibility.ts';
import { answers, openAnswer, seedAnswers } from './answers-scenes.ts';
import { DashboardLab, type Desk, type DeskOptions } from './dashboard-lab.ts';
import { seedDay } from './watch-scenes.ts';

let lab: DashboardLab;
let desk: Desk | undefined;
let admin: string;
let sender: string;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
  await seedDay(lab.server);
  admin = await lab.server.key('admin');
  sender = await lab.server.token({ scopes: ['notify'], name: 'live' });
});
afterAll(() => lab.close());
afterEach(async () => {
  expect(desk?.errors).toEqual([]);
  await desk?.close();
  desk = undefined;
});

async function open(search: Record<string, string> = {}, options: DeskOptions = {}) {
  desk = await lab.desk({ path: `history?${new URLSearchParams(search)}`, ...options });
  const { page } = desk;
  const rows = page.locator('[role=grid] [id^=row-]');
  const query = () => new URL(page.url()).searchParams.get('q');
  const box = page.getByRole('combobox', { name: 'Search' });
  const drawer = page.getByRole('complementary', { name: 'Notification' });
  return { page, query, rows, box, drawer };
}

const send = (title: string, more: object = {}) =>
  lab.server.notify(sender, { title, message: 'm', host: 'live-1', ...more });
const rules = async () => (await lab.server.call('GET', '/api/rules', { token: admin })).json.rules;

test('a search is typed, refined by clicks on values, and stands in the address with what is open', async () => {
  const { page, query, rows, box, drawer } = await open();
  await rows.first().waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('level:>=error host:db-*');
  await page.keyboard.press('Enter');
  await expect.poll(query).toBe('level:>=error host:db-*');
  await expect.poll(() => rows.first().textContent()).toContain('Replication stopped');
  await rows.first().getByText('db-02.internal').click();
  await expect.poll(query).toBe('level:>=error host:db-* host:db-02.internal');
  await expect.poll(() => box.inputValue()).toBe('level:>=error host:db-* host:db-02.internal');
  await page.getByText(/^[0-9]+ notifications$/).waitFor();
  await rows
    .first()
    .getByText('10.0.4.18')
    .click({ modifiers: ['Alt'] });
  await expect.poll(query).toBe('level:>=error host:db-* host:db-02.internal -ip:10.0.4.18');
  await page.goBack();
  await page.goBack();
  await expect.poll(() => box.inputValue()).toBe('level:>=error host:db-*');
  await expect.poll(() => rows.first().textContent()).toContain('Replication stopped');
  await rows.first().getByText('Replication stopped').click();
  await drawer.getByText('Display receipts').waitFor();
  await expect.poll(() => drawer.textContent()).toContain('DB to the NOC');
  await page.reload();
  await drawer.getByText('NOC east wall').waitFor();
  await expect.poll(() => box.inputValue()).toBe('level:>=error host:db-*');
});

test('keys act on the notification that is open, also when the way back opened it', async () => {
  await send('Opened first');
  await send('Opened second');
  const { page, rows, drawer } = await open({ q: 'host:live-1 title:Opened' });
  await rows.getByText('Opened first').click();
  await drawer.getByRole('heading', { name: 'Opened first' }).waitFor();
  await drawer.getByRole('button', { name: 'Close' }).click();
  await drawer.waitFor({ state: 'detached' });
  await rows.getByText('Opened second').click();
  await drawer.getByRole('heading', { name: 'Opened second' }).waitFor();
  await page.goBack();
  await page.goBack();
  await drawer.getByRole('heading', { name: 'Opened first' }).waitFor();
  await page.keyboard.press('c');
  await page.getByText('Cleared: Opened first').waitFor();
});

test('an error is shown at its place, what was found before stays, and the nearest is one click away', async () => {
  const { page, query, rows, box } = await open();
  await rows.first().waitFor();
  await box.fill('host:db-* level:>=waring');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('Unknown value “waring”').waitFor();
  expect(await rows.count()).toBeGreaterThan(5);
  expect(await box.getAttribute('aria-invalid')).toBe('true');
  await page.getByRole('button', { name: 'Use “warning”' }).click();
  await expect.poll(query).toBe('host:db-* level:>=warning');
  await expect.poll(() => rows.first().textContent()).toContain('Replication stopped');
});

test('keys and values are completed with the keyboard alone', async () => {
  const { page, query, rows, box } = await open();
  await rows.first().waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('ho');
  await page.getByRole('option', { name: 'host:' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.keyboard.type('up');
  await page.getByRole('option', { name: 'ups-4.dc1' }).waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  expect(await box.inputValue()).toBe('host:ups-4.dc1 ');
  await page.keyboard.press('Enter');
  await expect.poll(query).toBe('host:ups-4.dc1');
});

test('labels are completed, found, and clicked as the values of other fields', async () => {
  await send('Labelled', { labels: { area: 'north', zone: 'plant 2, "west"' } });
  const { page, query, rows, box, drawer } = await open();
  await rows.first().waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('lab');
  for (const [name, taken] of [
    ['label:', 'label:'],
    ['area=', 'label:area='],
    ['area=north', 'label:area=north '],
  ] as const) {
    await page.getByRole('option', { name, exact: name !== 'label:' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await expect.poll(() => box.inputValue()).toBe(taken);
  }
  await page.keyboard.press('Enter');
  await expect.poll(query).toBe('label:area=north');
  await rows.getByText('Labelled').click();
  await drawer.getByText('area=north').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await drawer.getByRole('button', { name: 'zone=plant 2, "west"', exact: true }).press('Enter');
  await expect.poll(query).toBe('label:area=north label:"zone=plant 2, \\"west\\""');
  await expect.poll(() => rows.count()).toBe(1);
  await drawer.getByRole('button', { name: 'Exclude label:area=north' }).press('Enter');
  await expect.poll(query).toBe('label:"zone=plant 2, \\"west\\"" -label:area=north');
  await page.getByText('No results').waitFor();
});

test('a notification shows its runbook as a link, and the instructions of its rules as plain text with links', async () => {
  const text = 'Look first.\n<b>Call</b> https://plant.example.org/a?b=1. Not javascript:alert(1)';
  const { json: rule } = await lab.server.call('POST', '/api/rules', {
    token: admin,
    json: { name: 'gate', when: { host: ['gate'] }, then: { instructions: text }, continue: true },
  });
  const runbook_url = 'https://wiki.example.org/gate';
  await send('Gate open', { host: 'gate', labels: { runbook_url } });
  const { page, rows, drawer } = await open({ q: 'host:gate' });
  await rows.getByText('Gate open').click();
  const part = drawer.locator('section', { hasText: 'Instructions of the rule “gate”' });
  await part.waitFor();
  expect(await part.locator('p').innerText()).toBe(text);
  const links = await drawer
    .getByRole('link')
    .evaluateAll((all) => all.map((link) => [link.getAttribute('href'), link.getAttribute('rel')]));
  expect(links).toEqual(
    expect.arrayContaining([
      ['https://plant.example.org/a?b=1', 'noopener noreferrer nofollow'],
      [runbook_url, 'noopener noreferrer nofollow'],
    ]),
  );
  expect(links.filter(([href]) => href?.startsWith('javascript:'))).toEqual([]);
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await lab.server.call('DELETE', `/api/rules/${rule.id}`, { token: admin });
});

/**
 * Moves the mouse over the list by a pixel each 50 ms, until `stop` is called. The page does it itself, so that the mouse never rests for the
 * page's own timers, however busy the machine is.
 */
async function moveMouse(page: Page) {
  const moves = await page.getByRole('grid').evaluate((grid) => {
    let step = 0;
    const move = () => {
      step += 1;
      const at = { screenX: 700 + (step % 2), screenY: 500 };
      grid.dispatchEvent(new PointerEvent('pointermove', { bubbles: true, pointerType: 'mouse', ...at }));
    };
    move();
    return setInterval(move, 50) as unknown as number;
  });
  return { stop: () => page.evaluate((timer) => clearInterval(timer), moves) };
}

test('new ones come in by themselves, and wait while somebody reads further down', async () => {
  const { page, rows } = await open({ live: 'true' });
  await page.getByRole('button', { name: /^Live ?: on/ }).waitFor();
  await send('Came in by itself');
  await expect.poll(() => rows.first().textContent()).toContain('Came in by itself');
  await page.getByRole('grid').evaluate((grid) => grid.scrollTo({ top: 700 }));
  await expect.poll(() => rows.first().textContent()).not.toContain('Came in');
  const place = () =>
    page.getByRole('grid').evaluate((grid) => {
      const top = grid.getBoundingClientRect().top + 100;
      return [...grid.querySelectorAll('[id^=row-]')].find((row) => row.getBoundingClientRect().top > top)
        ?.id;
    });
  const before = await place();
  await send('Waits one');
  await send('Waits two');
  await page.getByRole('button', { name: '2 new' }).waitFor();
  expect(await place()).toBe(before);
  await page.getByRole('button', { name: '2 new' }).click();
  await expect.poll(() => rows.first().textContent()).toContain('Waits two');
  await rows.nth(2).hover();
  const mouse = await moveMouse(page);
  try {
    await send('Waits for the mouse');
    await page.getByRole('button', { name: '1 new' }).waitFor();
  } finally {
    await mouse.stop();
  }
  // A mouse at rest is no reason to wait for ever.
  await expect.poll(() => rows.first().textContent()).toContain('Waits for the mouse');
});

test('a value is excluded by touch too', async () => {
  const { query, rows, drawer } = await open(
    { q: 'title:"Replication stopped"' },
    { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
  );
  await rows.first().tap();
  await drawer.getByRole('button', { name: 'Exclude ip:10.0.4.18' }).tap();
  await expect.poll(query).toContain('-ip:10.0.4.18');
});

test('Enter opens a row where the drawer covers the list, and gets the focus', async () => {
  const { page, rows, drawer } = await open({}, { viewport: { width: 720, height: 450 } });
  await rows.first().waitFor();
  await page.getByRole('grid').press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect.poll(() => page.evaluate(() => document.activeElement?.ariaLabel)).toBe('Close');
  expect(await drawer.count()).toBe(1);
  expect(new URL(page.url()).searchParams.get('id')).not.toBeNull();
});

test('a title from right to left that is too long is cut at its end', async () => {
  const title = 'القرص ممتلئ على الخادم db-01 (91%) يرجى التحقق في أقرب وقت ممكن من فضلكم الآن وليس غدا';
  await send(title, { host: 'rtl' });
  for (const width of [1100, 390]) {
    const { rows } = await open({ q: 'host:rtl' }, { viewport: { width, height: 844 } });
    await rows.first().waitFor();
    // Where the first word is, within the element that cuts it off.
    const isInside = await rows
      .first()
      .locator('strong')
      .evaluate((strong) => {
        const range = document.createRange();
        const text = document.createTreeWalker(strong, NodeFilter.SHOW_TEXT).nextNode() as Text;
        range.setStart(text, 0);
        range.setEnd(text, 5);
        const cell = (strong.closest('[role=gridcell]') as HTMLElement).getBoundingClientRect();
        const word = range.getBoundingClientRect();
        return word.left >= cell.left && word.right <= cell.right;
      });
    expect(isInside).toBe(true);
    if (width > 390) await desk?.close();
  }
});

test('what was cleared is said to be, though it cannot be read again; what was not looks like a failure', async () => {
  for (const title of ['First to clear', 'Second to clear'])
    await send(title, { host: 'clearing', level: 'error' });
  const { page, rows } = await open({ q: 'host:clearing' });
  const fails = (route: Route) => route.fulfill({ status: 503, json: { error: 'the disk is full' } });
  const variable = (element: Locator, name: string) =>
    element.evaluate((on, of) => getComputedStyle(on).getPropertyValue(of), name);
  const colorOf = (toast: Locator) => variable(toast, '--notification-color');
  await page.route(/\/api\/notifications\/[^/]+$/, fails);
  await rows.last().focus();
  await page.getByRole('grid').press('End');
  await page.keyboard.press('c');
  const done = page.getByRole('alert').filter({ hasText: 'First to clear' });
  await done.waitFor();
  // Looked at now, as it is gone soon.
  const marksOf = (toast: Locator) => toast.locator('svg').count();
  const [doneMarks, doneColor] = [await marksOf(done), await colorOf(done)];
  await rows.last().getByText('cleared', { exact: true }).waitFor();
  await page.route('**/clear', fails);
  await page.getByRole('grid').press('Home');
  await page.keyboard.press('c');
  const failed = page.getByRole('alert').filter({ hasText: 'the disk is full' });
  await failed.waitFor();
  expect(await marksOf(failed)).toBeGreaterThan(doneMarks);
  const error = await variable(page.locator('html'), '--error');
  expect(await colorOf(failed)).toBe(error);
  expect(doneColor).not.toBe(error);
});

test('what arrives one by one is not read out one by one', async () => {
  const { page, rows } = await open({ live: 'true' });
  await page.getByRole('button', { name: /^Live ?: on/ }).waitFor();
  await page.getByText(/^[0-9]+ notifications$/).waitFor();
  const announced = await page.evaluateHandle(() => {
    const texts: string[] = [];
    const speaking = '[aria-live]:not([aria-live="off"]), [role="status"], [role="alert"]';
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        const region = (target instanceof Element ? target : target.parentElement)?.closest(speaking);
        if (region) texts.push(region.textContent ?? '');
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true });
    return texts;
  });
  const count = () => page.getByText(/^[0-9]+ notifications$/).textContent();
  const before = await count();
  for (const title of ['Arrives first', 'Arrives second', 'Arrives third']) {
    await send(title);
    await expect.poll(() => rows.first().textContent()).toContain(title);
  }
  await expect.poll(count).not.toBe(before);
  expect(await announced.jsonValue()).toEqual([]);
  await page.getByRole('combobox', { name: 'Search' }).fill('title:Arrives');
  await page.keyboard.press('Enter');
  await expect.poll(() => announced.jsonValue()).toContain('3 notifications');
});

test('the down arrow leads into the list from the page itself, and from no control beside it', async () => {
  const { page, rows } = await open();
  await rows.first().waitFor();
  const table = page.getByRole('button', { name: 'Show as table' });
  await table.focus();
  await page.keyboard.press('ArrowDown');
  expect(await table.evaluate((button) => button === document.activeElement)).toBe(true);
  await table.evaluate((button) => button.blur());
  await page.keyboard.press('ArrowDown');
  expect(await page.getByRole('grid').evaluate((grid) => grid === document.activeElement)).toBe(true);
});

test('without a line to the server the rows stay and say so; what was missed is there afterwards', async () => {
  const { page, rows } = await open({ live: 'true' });
  await page.getByRole('button', { name: /^Live ?: on/ }).waitFor();
  await desk?.context.setOffline(true);
  await page.route('**/api/**', (route) => route.abort());
  await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
  await rows.first().click();
  await page.mouse.move(20, 800);
  await page.getByText('Can’t refresh this page').waitFor();
  expect(await rows.count()).toBeGreaterThan(5);
  await send('While nobody listened');
  await page.unroute('**/api/**');
  await desk?.context.setOffline(false);
  await expect.poll(() => rows.first().textContent(), { timeout: 40_000 }).toContain('While nobody listened');
});

test('a host is muted until 08:00 by one key, the rule stands first, and is taken back by one click', async () => {
  const { page, rows } = await open({ q: 'host:db-03.internal' });
  await rows.first().waitFor();
  const before = await rules();
  await page.getByRole('grid').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('m');
  await page.getByText('db-03.internal is muted until').waitFor();
  const [first, ...others] = await rules();
  expect(first).toMatchObject({ then: { mute: true }, enabled: true });
  expect(first.when).toEqual({ host: ['db-03.internal'], not: { minLevel: 'critical' } });
  expect(first.activeUntil).toMatch(/T08:00:00/);
  expect(Date.parse(first.activeUntil) - Date.now()).toBeLessThanOrEqual(86_400_000);
  expect(others.map(({ id }: { id: string }) => id)).toEqual(before.map(({ id }: { id: string }) => id));
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('db-03.internal is no longer muted').waitFor();
  expect(await rules()).toEqual(before);
});

test('what a search finds is muted by a rule, without what is critical', async () => {
  const { page, rows } = await open({ q: 'host:db-03.internal since:30d' });
  await rows.first().waitFor();
  await page.keyboard.press('Shift+M');
  const sheet = page.getByRole('dialog', { name: 'Create rule' });
  await sheet.getByText(/^When host is db-03.internal and level is below critical → mute/).waitFor();
  await sheet.getByText('since:30d Left out.').waitFor();
  await page.goto(page.url().replace(/rules.*/, 'history?q=since:30d'));
  await page.getByRole('button', { name: 'Mute these…' }).click();
  await page.getByText('Search for a host, a label or a level first.').waitFor();
});

test('a search becomes the conditions of a rule, and the editor says what a rule cannot say', async () => {
  const { page, rows } = await open({ q: 'host:db-03.internal since:30d query' });
  await rows.first().waitFor();
  await page.keyboard.press('r');
  const sheet = page.getByRole('dialog', { name: 'Create rule' });
  const notice = sheet.getByRole('region', { name: 'The rule differs from the search' });
  await notice.getByText('since:30d Left out.').waitFor();
  await notice.getByText('query Only the title must contain it').waitFor();
  await sheet.getByText('When host is db-03.internal and title contains “query”').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await sheet.getByRole('button', { name: 'Save' }).click();
  await sheet.getByText('Add at least one action.').waitFor();
});

test('the keyboard moves, opens, clears and closes; a viewer may look only', async () => {
  await send('To be cleared', { level: 'error', host: 'key-1' });
  const { page, rows, drawer } = await open({ q: 'host:key-1' });
  await rows.first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await drawer.getByRole('heading', { name: 'To be cleared' }).waitFor();
  await page.keyboard.press('c');
  await page.getByText('Cleared: To be cleared').waitFor();
  await drawer.getByText('Cleared on').waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => drawer.count()).toBe(0);
  await desk?.close();
  const viewer = await open({ q: 'host:ups-4.dc1' }, { role: 'viewer' });
  await viewer.rows.first().click();
  await viewer.drawer.getByText('Why it is on these panels').waitFor();
  expect(await viewer.drawer.getByRole('button', { name: /^(Clear|Mute)/ }).count()).toBe(0);
  expect(await viewer.page.getByRole('button', { name: 'Rule from this search' }).count()).toBe(0);
  await viewer.page.keyboard.press('m');
  await viewer.page.getByText('Muting requires the admin role').waitFor();
});

test('a time is drawn over the bars, and chosen from the menu', async () => {
  const { page, query, rows } = await open({ q: 'since:24h' });
  await rows.first().waitFor();
  const bars = page.getByRole('img', { name: /notifications over time/ });
  const { x = 0, y = 0, width = 0 } = (await bars.boundingBox()) ?? {};
  await page.mouse.move(x + width * 0.5, y + 30);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.7, y + 30, { steps: 4 });
  await page.mouse.up();
  await expect.poll(query).toMatch(/^after:\d{4}-\d\d-\d\dT\d\d:\d\d before:\d{4}-\d\d-\d\dT\d\d:\d\d$/);
  await page.getByRole('button', { name: /^Time/ }).click();
  await page.getByRole('button', { name: '7 d' }).click();
  await expect.poll(query).toBe('since:7d');
  await page.getByRole('button', { name: 'Show as table' }).click();
  await page.getByRole('columnheader', { name: 'warning' }).waitFor();
});

test('a time range without a beginning is counted whole, and its end stays when the range is changed', async () => {
  const { page, query, rows } = await open({ q: 'host:db-* before:2999-01-01' });
  await rows.first().waitFor();
  await page.getByText(/^[1-9][0-9]* notifications$/).waitFor();
  await page.getByRole('button', { name: /2999-01-01/ }).click();
  await page.getByLabel('From', { exact: true }).fill('01/01/2020 08:00');
  await page.getByRole('button', { name: 'Apply' }).click();
  await expect.poll(query).toBe('host:db-* after:2020-01-01T08:00 before:2999-01-01T00:00');
});

test('all that a search finds is cleared at once, as the question said; a viewer is not asked', async () => {
  for (let n = 0; n < 10; n++) await send(`Storm ${n}`, { host: 'storm-1', level: 'error' });
  const shelved = await send('Storm is shelved', { host: 'storm-1', level: 'error' });
  const json = { action: 'shelve', ids: [shelved.json.id], untilMs: Date.now() + 3_600_000 };
  await lab.server.call('POST', '/api/alarms/actions', { token: admin, json });
  await send('Storm is over', { host: 'storm-1', level: 'success' });
  const { page, rows } = await open({ q: 'host:storm-1' }, { role: 'member' });
  await rows.first().waitFor();
  await page.getByRole('button', { name: 'Clear found notifications' }).click();
  const dialog = page.getByRole('dialog', { name: 'Clear 12 notifications?' });
  await dialog.waitFor();
  expect(await faultsIn('light', page)).toEqual([]);
  await send('Came after the question', { host: 'storm-1', level: 'error' });
  const calls: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && calls.push(request.url()));
  await dialog.getByRole('button', { name: 'Clear' }).click();
  await page.getByText('Cleared 12 notifications').waitFor();
  expect(calls).toEqual([expect.stringContaining('/api/alarms/actions')]);
  const left = '/api/history?q=host:storm-1%20is:live,shelved';
  const { notifications } = (await lab.server.call('GET', left, { token: admin })).json;
  expect(notifications).toMatchObject([{ title: 'Came after the question' }]);
  await page.getByRole('button', { name: 'Clear found notifications' }).click();
  await page
    .getByRole('dialog', { name: 'Clear 1 notification?' })
    .getByRole('button', { name: 'Clear' })
    .click();
  await page.getByText('Cleared 1 notification').waitFor();
  await page.getByRole('button', { name: 'Clear found notifications' }).click();
  await page.getByRole('dialog', { name: 'Nothing to clear' }).waitFor();
  await desk?.close();
  const viewer = await open({ q: 'host:storm-1' }, { role: 'viewer' });
  await viewer.rows.first().waitFor();
  expect(await viewer.page.getByRole('button', { name: 'Clear found notifications' }).count()).toBe(0);
});

test('the question before clearing continues a search that ran out of time, up to the newest thousand', async () => {
  const { page, rows } = await open();
  await rows.first().waitFor();
  const [first] = (await lab.server.call('GET', '/api/history', { token: admin })).json.notifications;
  const cursors: (string | null)[] = [];
  await page.route(/api\/history\?.*is%3Alive/, (route) => {
    const cursor = new URL(route.request().url()).searchParams.get('cursor');
    cursors.push(cursor);
    const number = Number(cursor ?? 0);
    const count = number === 0 ? 0 : 200;
    const notifications = Array.from({ length: count }, (_, n) => ({ ...first, id: `${number}-${n}` }));
    const searchedTo = number === 0 ? first.receivedAt : null;
    return route.fulfill({ json: { notifications, nextCursor: `${number + 1}`, searchedTo } });
  });
  await page.getByRole('button', { name: 'Clear found notifications' }).click();
  const dialog = page.getByRole('dialog', { name: 'Clear 1,000 notifications?' });
  await dialog.getByText('These are the newest 1,000. There may be more').waitFor();
  expect(cursors).toEqual([null, '1', '2', '3', '4', '5']);
  expect(await faultsIn('light', page)).toEqual([]);
});

test('a search is saved for everyone, run again and forgotten; what it finds can be taken elsewhere', async () => {
  const { page, query } = await open({ q: 'level:critical' });
  await page.getByRole('button', { name: 'Saved searches' }).click();
  await page.getByLabel('Save this search').fill('What burns');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('button', { name: 'Clear search' }).click();
  await expect.poll(query).toBe(null);
  await page.getByRole('button', { name: 'Saved searches' }).click();
  await page.getByRole('button', { name: /^What burns/ }).click();
  await expect.poll(query).toBe('level:critical');
  await page.getByRole('button', { name: 'Export' }).click();
  const link = await page.getByRole('menuitem', { name: /^CSV/ }).getAttribute('href');
  const csv = await page.evaluate(async (href) => (await fetch(href ?? '')).text(), link);
  expect(csv.trim().split('\n')).toHaveLength(2);
  expect(csv).toContain('Power lost in rack 4');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Saved searches' }).click();
  await page.getByRole('button', { name: 'Delete “What burns”' }).click();
  await page.getByText('No saved searches yet').waitFor();
});

test('a search that ran out of time says how far back it got, and is continued by a button', async () => {
  const { page, rows, box } = await open();
  await rows.first().waitFor();
  const { notifications } = (await lab.server.call('GET', '/api/history', { token: admin })).json;
  const answers: Record<string, object> = {
    start: { notifications: [], nextCursor: 'a', searchedTo: '2026-11-02T10:00:00.000Z' },
    a: { notifications: notifications.slice(0, 3), nextCursor: 'b', searchedTo: '2026-11-01T10:00:00.000Z' },
    b: { notifications: notifications.slice(3, 5), nextCursor: null, searchedTo: null },
  };
  await page.route(/api\/history\?/, (route) => {
    const cursor = new URL(route.request().url()).searchParams.get('cursor') ?? 'start';
    return route.fulfill({ json: answers[cursor] });
  });
  await box.press('Enter');
  await page.getByText(/Searched back to (2 Nov|Nov 2)\b/).waitFor();
  expect(await faultsIn('light', page)).toEqual([]);
  await page.getByRole('button', { name: 'Continue search' }).click();
  await page.getByText(/Searched back to (1 Nov|Nov 1)\b/).waitFor();
  await expect.poll(() => rows.count()).toBe(3);
  await page.getByRole('button', { name: 'Continue search' }).click();
  await page.getByText('End of results').waitFor();
  await expect.poll(() => rows.count()).toBe(5);
});

test('what completes a search can be used by everyone', async () => {
  const { page } = await open({ q: 'level:>=error' });
  await page.getByRole('combobox', { name: 'Search' }).fill('le');
  await page.getByRole('option').first().waitFor();
  await page.getByRole('button', { name: 'Show as table' }).isVisible();
  expect(await faultsIn('dark', page)).toEqual([]);
});

test('the drawer says at first sight whether a notification is on panels, and why or why not', async () => {
  await seedAnswers(lab.server, 'answers');
  // Before the page opens: its list holds new rows back while somebody reads further down.
  const key = await lab.server.key('viewer', 'answers');
  const escalated = async () =>
    (await lab.server.call('GET', '/api/history?q=title:Escalated', { token: key })).json.notifications;
  await expect.poll(escalated).toHaveLength(2);
  desk = await lab.desk({ tenant: 'answers', path: 'history' });
  const { page } = desk;
  const drawer = page.getByRole('complementary', { name: 'Notification' });
  const answer = () => drawer.locator('[class*=answer]').first().textContent();
  // Their states come with time; the list and the open drawer follow.
  for (const [title, expected] of Object.entries(answers)) {
    await openAnswer(page, title);
    await expect.poll(answer, { message: title }).toMatch(expected);
  }
  await drawer.getByRole('button', { name: 'Open the newer notification' }).click();
  await expect.poll(answer).toContain('Belfry sent it to escalate an earlier notification.');
  const row = page.getByRole('row', { name: /Escalated disk.*escalated since/ });
  await row.first().waitFor();
  await openAnswer(page, 'Shown disk');
  await drawer.getByText(/Next attempt in|Trying again now/).waitFor();
  await drawer.getByRole('link', { name: 'To ops' }).waitFor();
  expect(await faultsIn('light', page)).toEqual([]);
});

test('the drawer distinguishes a panel without room for a card from one that connected too late', async () => {
  const token = await lab.server.token({ tenant: 'receipts' });
  const post = (title: string, more: object = {}) =>
    lab.server.notify(token, { title, message: 'm', level: 'error', ...more });
  const wall = await lab.server.panel(token, 'Full wall');
  const counted = (await post('Counted disk', { ttl: 0 })).json.id;
  await wall.stream.next(({ data }) => data.id === counted);
  await post('Late disk', { ttl: 1 });
  const late = await lab.server.panel(token, 'Late wall');
  desk = await lab.desk({ tenant: 'receipts', path: 'history' });
  const drawer = desk.page.getByRole('complementary', { name: 'Notification' });
  await openAnswer(desk.page, 'Counted disk');
  await drawer.getByText(/^\d of 2 panels have received it, but none has shown it as a card/).waitFor();
  await drawer.getByText('received, not shown as a card yet: it may be one of “+N more”').first().waitFor();
  await openAnswer(desk.page, 'Late disk');
  await expect.poll(() => drawer.getByText('not shown as a card before it left the panels').count()).toBe(2);
  wall.stream.close();
  late.stream.close();
});

test('one key mutes nothing critical: the rule opens in the editor, which says that it does', async () => {
  await send('Power lost', { level: 'critical', host: 'ups-9' });
  const { page, rows } = await open({ q: 'host:ups-9' });
  await rows.first().waitFor();
  const before = await rules();
  await page.getByRole('grid').focus();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('m');
  const sheet = page.getByRole('dialog', { name: 'Create rule' });
  await sheet.getByText(/^When host is ups-9 → mute, then stop · until .*08:00/).waitFor();
  await sheet.getByText('This also mutes critical notifications.').waitFor();
  expect(await rules()).toEqual(before);
});
