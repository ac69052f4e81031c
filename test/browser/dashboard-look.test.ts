import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { faultsInBothSchemes } from './accessibility.ts';
import { DashboardLab, type Desk } from './dashboard-lab.ts';
import { fullBoard, hostileNotifications } from './scenes.ts';

let lab: DashboardLab;
let firstId = '';
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
  await seed();
});
afterAll(() => lab.close());

/** Something on every page, hostile things among it. */
async function seed(): Promise<void> {
  const { server } = lab;
  const token = await server.token({ name: 'prometheus' });
  const key = await server.key('owner');
  const make = (path: string, json: object) => server.call('POST', path, { token: key, json });
  await server.call('POST', '/api/panels', { token, json: { name: 'NOC east wall', tags: ['noc'] } });
  await server.call('POST', '/api/panels', { token, json: { name: '"><b>‮wall', location: 'Berlin' } });
  await make('/api/rules', {
    name: 'DB to the NOC',
    when: { host: ['db-*'], minLevel: 'warning', not: { ip: ['10.9.0.0/16'] } },
    then: { panels: { tags: ['noc'] }, setTtl: 5000 },
  });
  await make('/api/tokens', { name: '<i>ci</i>', scopes: ['notify'], expiresAt: '2030-01-01T00:00:00Z' });
  await make('/api/searches', { name: 'databases', q: 'host:db-*' });
  await server.call('PUT', '/api/levels/deploy', { token: key, json: { color: '#8855ff', icon: 'rocket' } });
  await make('/api/invitations', { role: 'member', email: 'grace@example.org' });
  for (const { agoMs: _, ...sent } of fullBoard) await server.notify(token, sent);
  for (const sent of hostileNotifications.slice(0, 40)) {
    const { json } = await server.notify(token, sent);
    firstId = json.id;
  }
}

/** Each page, and what is open on it; never two of the same page in a row. */
const pages: Readonly<Record<string, () => string>> = {
  alarms: () => 'alarms',
  overview: () => 'overview',
  history: () => 'history',
  panels: () => 'panels',
  'history with the drawer': () => `history?id=${firstId}`,
  rules: () => 'rules',
  'history with a mistake in the search': () => 'history?q=hots:db-1',
  tokens: () => 'settings/tokens',
  integrations: () => 'settings/integrations',
  'a new rule': () => 'rules?id=new',
  levels: () => 'settings/levels',
  members: () => 'settings/members',
  tenant: () => 'settings/tenant',
  'the audit log': () => 'settings/audit',
  welcome: () => 'welcome',
  'a page that does not exist': () => 'nope',
};

/** The page is still when what it asked for has come, and it asks for nothing more. */
async function settled({ page, awaited }: Pick<Desk, 'page' | 'awaited'>): Promise<void> {
  await page.locator('main h1').waitFor({ state: 'attached' });
  await page.waitForLoadState('load');
  for (let quiet = 0; quiet < 3; quiet = awaited.size === 0 ? quiet + 1 : 0) await page.waitForTimeout(50);
}

/** Goes to another page as a link does: loading everything anew takes ten times the processor time. */
async function go({ page, awaited }: Desk, path: string): Promise<void> {
  await page.evaluate((to) => {
    document.querySelector('main h1')?.setAttribute('data-of-last-page', '');
    history.pushState({}, '', to);
  }, path);
  await page.locator('main h1:not([data-of-last-page])').waitFor({ state: 'attached' });
  await settled({ page, awaited });
}

describe('on a desk, dark and light', () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await lab.desk({ path: 'history' });
  });
  afterAll(() => desk.close());

  test.each([...Object.keys(pages), 'the account'])('axe finds nothing on %s', async (name) => {
    const path = name === 'the account' ? '/account' : `/t/default/${pages[name]?.()}`;
    await go(desk, path);
    expect(await faultsInBothSchemes(desk.page)).toEqual([]);
    expect(desk.errors).toEqual([]);
  });

  test('a page that does not exist keeps the navigation', async () => {
    await go(desk, '/t/default/settings/levels');
    await go(desk, '/t/default/nope');
    await desk.page.getByRole('heading', { name: 'Page not found' }).waitFor();
    await desk.page.getByRole('navigation').getByRole('link', { name: 'History' }).click();
    await desk.page.getByRole('combobox', { name: /search/i }).waitFor();
  });

  test('axe finds nothing on the ways in', async () => {
    const { page, close, awaited } = await lab.window();
    for (const path of ['/sign-in', '/setup', `/invite#${'x'.repeat(40)}`]) {
      await page.goto(lab.server.url + path);
      await settled({ page, awaited });
      expect(await faultsInBothSchemes(page), path).toEqual([]);
    }
    await close();
  });
});

describe("on a phone's width", () => {
  let desk: Desk;
  beforeAll(async () => {
    desk = await lab.desk({
      path: 'history',
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
  });
  afterAll(() => desk.close());

  test.each(Object.keys(pages))('nothing of %s is out of reach', async (name) => {
    await go(desk, `/t/default/${pages[name]?.()}`);
    const wide = await desk.page.evaluate(() => ({
      page: document.documentElement.scrollWidth - innerWidth,
      main: (document.querySelector('main')?.scrollWidth ?? 0) - innerWidth,
    }));
    expect(wide).toEqual({
      page: expect.toSatisfy((n: number) => n <= 0),
      main: expect.toSatisfy((n: number) => n <= 0),
    });
    expect(desk.errors).toEqual([]);
  });
});

describe('in another language', () => {
  test("the pages speak the browser's language, write dates as it does, and keep the one that is chosen", async () => {
    const { page, close, errors } = await lab.desk({ locale: 'de-DE', path: 'settings/audit' });
    await page.getByRole('heading', { name: 'Änderungsprotokoll' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('de');
    await page
      .getByRole('cell', { name: /^\d{2}\. \p{L}+\.?, \d{2}:\d{2}:\d{2}$/u })
      .first()
      .waitFor();
    await page.getByRole('button', { name: /@example\.org/ }).click();
    await page.getByRole('menuitemradio', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
    expect(errors).toEqual([]);
    await close();
  });
});

describe('hostile text', () => {
  test('two hundred payloads are text in the list and in the drawer: none runs, none is changed', async () => {
    const desk = await lab.desk({ tenant: 'hostile', path: 'history' });
    const { page } = desk;
    const token = await lab.server.token({ tenant: 'hostile' });
    for (const sent of hostileNotifications) {
      const { json, text } = await lab.server.notify(token, sent);
      expect(json?.ok, text).toBe(true);
      // Every twentieth in the drawer too: there the whole text stands.
      if (hostileNotifications.indexOf(sent) % 20 !== 0) continue;
      await page.evaluate((id) => history.pushState({}, '', `/t/hostile/history?id=${id}`), json.id);
      const drawer = page.getByRole('complementary');
      await drawer.waitFor();
      await expect.poll(() => drawer.textContent()).toContain(sent.title);
      await expect.poll(() => drawer.textContent()).toContain(sent.message);
    }
    await page.goto(`${lab.server.url}/t/hostile/history`);
    await settled(desk);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(
      await page.locator('main script, main iframe, main form[action], main img, main base').count(),
    ).toBe(0);
    expect(desk.errors).toEqual([]);
    await desk.close();
  });
});
