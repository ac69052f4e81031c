import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { makePerson } from '../support/person.ts';
import { DashboardLab, type Desk } from './dashboard-lab.ts';

let lab: DashboardLab;
let desk: Desk;
let key: string;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
  key = await lab.server.key('admin');
});
afterAll(() => lab.close());
afterEach(async () => {
  expect(desk.errors).toEqual([]);
  await desk.close();
});

const call = async (method: string, path: string, json: object) =>
  (await lab.server.call(method, path, { token: key, json })).json;

async function open(
  path: string,
  width: number,
  look: { reducedMotion?: 'no-preference'; locale?: string } = {},
): Promise<Page> {
  desk = await lab.desk({ path, role: 'admin', viewport: { width, height: 844 }, locale: 'en-GB', ...look });
  return desk.page;
}

/** The parts of the element that its ancestors do not clip, as a share of it. */
const visibleShare = (element: Locator) =>
  element.evaluate((of) => {
    const box = of.getBoundingClientRect();
    let { left, right } = box;
    for (let each = of.parentElement; each; each = each.parentElement) {
      if (getComputedStyle(each).overflowX === 'visible') continue;
      const clip = each.getBoundingClientRect();
      left = Math.max(left, clip.left);
      right = Math.min(right, clip.right, innerWidth);
    }
    return (right - left) / box.width;
  });

test('on a phone, a long address leaves room for the actions on a member', async () => {
  const email = `a-mailbox-that-goes-on@operations-${'x'.repeat(48)}.example.org`;
  await makePerson(lab.server, 'member', { email, name: 'Max' });
  const page = await open('settings/members', 390);
  const remove = page.getByRole('button', { name: 'Remove Max' });
  await remove.waitFor();
  expect(await visibleShare(remove)).toBe(1);
  expect(await visibleShare(page.getByText(email.split('@')[0] as string))).toBe(1);
});

test('a long name of a level ends with an ellipsis', async () => {
  await call('PUT', '/api/levels/security-incident-of-the-year', { color: '#8855ff', icon: 'shield' });
  for (const width of [320, 390]) {
    const page = await open('settings/levels', width);
    const names = page.locator('[data-row] span > span');
    await names.first().waitFor();
    expect(await Promise.all((await names.all()).map(visibleShare))).toEqual(
      Array(await names.count()).fill(1),
    );
    const title = await page.locator('td[title^="security-incident"]').count();
    expect(title).toBe(1);
    if (width === 320) await desk.close();
  }
});

test.each([768, 910, 1_000, 1_110, 1_280, 1_440])('at %i px, the name of a row has room', async (width) => {
  const sender = await lab.server.token({ scopes: ['notify', 'panel'] });
  await lab.server.call('POST', '/api/panels', { token: sender, json: { name: `Panel ${width}` } });
  await lab.server.notify(
    sender,
    { title: 't', message: 'm', key: `k-${width}` },
    { 'x-expect-every': '1h' },
  );
  const settings = { url: 'https://ntfy.example.org', topic: 'ops' };
  await call('POST', '/api/channels', { kind: 'ntfy', name: `Channel ${width}`, settings });
  const page = await open('panels', width);
  const mapping = { title: '{/t}', message: '{/m}' };
  await call('PUT', '/api/mappings/ups', mapping);
  const settingsPages = ['channels', 'expectations', 'tokens', 'levels', 'integrations'];
  for (const path of ['panels', ...settingsPages.map((each) => `settings/${each}`)]) {
    await page.goto(`${lab.server.url}/t/default/${path}`);
    const names = page.locator('td:has([data-row])');
    await names.first().waitFor();
    const had = await names.evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().width));
    expect(Math.min(...had), path).toBeGreaterThan(180);
  }
});

test('an IPv4 address is whole in its column, and stands for the host where only that has one', async () => {
  const sender = await lab.server.token({ scopes: ['notify'] });
  const ip = '192.168.100.200';
  await lab.server.notify(sender, { title: 'From an address', message: 'm', ip });
  for (const width of [768, 1_100, 1_440]) {
    const page = await open(`history?q=ip:${ip}`, width);
    const address = page.locator('[role=gridcell]').getByText(ip);
    await address.waitFor();
    expect(await visibleShare(address)).toBe(1);
    if (width < 1_440) await desk.close();
  }
});

test('in German, the word for the highest level is whole in the list', async () => {
  const sender = await lab.server.token({ scopes: ['notify'] });
  await lab.server.notify(sender, { title: 'Power lost', message: 'm', level: 'critical' });
  const page = await open('history?q=level:critical', 1_280, { locale: 'de-DE' });
  const word = page.locator('[role=gridcell]').getByText('Kritisch');
  await word.waitFor();
  expect(await word.evaluate((of) => of.scrollWidth - of.clientWidth)).toBe(0);
});

test('with forced colours, a switch, a bar and the open page are still to be seen', async () => {
  const sender = await lab.server.token({ scopes: ['notify'] });
  await lab.server.notify(sender, { title: 'Power lost', message: 'm', level: 'critical' });
  const rule = await call('POST', '/api/rules', {
    name: 'On',
    when: { host: ['x'] },
    then: { panels: 'none' },
  });
  const page = await open('overview', 1_280);
  await page.emulateMedia({ forcedColors: 'active' });
  const grounds = (selector: string) =>
    page.locator(selector).evaluateAll((all) => all.map((of) => getComputedStyle(of).backgroundColor));
  const canvas = await grounds('body');
  await page.locator('main i').first().waitFor();
  expect(await grounds('main i')).not.toContain(canvas[0]);
  expect(await grounds('nav [aria-current="page"]')).not.toEqual(canvas);
  await page.goto(`${lab.server.url}/t/default/rules`);
  await page.getByRole('switch').first().waitFor();
  expect(await grounds(':checked + .mantine-Switch-track')).not.toContain(canvas[0]);
  await lab.server.call('DELETE', `/api/rules/${rule.id}`, { token: key });
});

test('on a phone, a switch that fails says so where it can be seen', async () => {
  for (let at = 0; at < 14; at += 1)
    await call('POST', '/api/rules', {
      name: `Rule ${at}`,
      when: { host: [`h${at}`] },
      then: { panels: 'none' },
    });
  const page = await open('rules', 390);
  await page.route(/\/api\/rules\//, (route) =>
    route.fulfill({ status: 503, json: { error: 'the disk is full' } }),
  );
  const last = page.locator('main ol > li', { hasText: 'Rule 13' }).getByRole('switch');
  await last.scrollIntoViewIfNeeded();
  await last.press('Space');
  const failed = page.getByRole('alert').filter({ hasText: 'Change not saved' });
  await failed.waitFor();
  const box = await failed.boundingBox();
  expect(box && box.y >= 0 && box.y + box.height <= 844).toBe(true);
});

test('a message covers no button: not of the open notification, not of the navigation', async () => {
  const sender = await lab.server.token({ scopes: ['notify'] });
  for (const width of [1440, 820, 390]) {
    const { json } = await lab.server.notify(sender, { title: 'Disk full', message: 'm' });
    const page = await open(`history?id=${json.id}`, width, { reducedMotion: 'no-preference' });
    await page.getByRole('button', { name: 'Clear', exact: true }).click();
    const message = page.getByRole('alert').filter({ hasText: 'Cleared: Disk full' });
    await message.waitFor();
    // Also while it appears: how many it covers at most, in half a second.
    const covered = await message.evaluate(async (toast) => {
      const coveredNow = () => {
        const box = toast.getBoundingClientRect();
        return [...document.querySelectorAll('aside footer, nav button')].filter((each) => {
          const { left, right, top, bottom, width } = each.getBoundingClientRect();
          return width > 0 && left < box.right && right > box.left && top < box.bottom && bottom > box.top;
        }).length;
      };
      let most = coveredNow();
      for (const end = performance.now() + 500; performance.now() < end; ) {
        await new Promise(requestAnimationFrame);
        most = Math.max(most, coveredNow());
      }
      return most;
    });
    expect(covered, `at ${width} px`).toBe(0);
    if (width > 390) await desk.close();
  }
});

test('what a button shows while it works is in its middle', async () => {
  const page = await open('settings/tokens', 1440);
  await page.keyboard.press('n');
  await page.getByLabel('Name', { exact: true }).fill('slow');
  await page.route('**/api/tokens', () => undefined);
  const button = page.getByRole('dialog').getByRole('button', { name: 'Create token' });
  await button.click();
  const loader = button.locator('.mantine-Button-loader');
  await loader.waitFor();
  const middle = async (of: Locator) => {
    const { x = 0, y = 0, width = 0, height = 0 } = (await of.boundingBox()) ?? {};
    return [x + width / 2, y + height / 2].map(Math.round);
  };
  await expect.poll(() => middle(loader)).toEqual(await middle(button));
});

test('a channel that has delivered nothing yet says so', async () => {
  await call('POST', '/api/channels', {
    kind: 'ntfy',
    name: 'phones',
    settings: { url: 'https://ntfy.example.org', topic: 'ops' },
  });
  const page = await open('settings/channels', 1440);
  await page.getByRole('row', { name: 'phones' }).getByText('Not used yet').waitFor();
});
