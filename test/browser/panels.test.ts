import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { openGotify } from '#test/support/gotify-client.ts';
import { eventually } from '../support/eventually.ts';
import { appHeaders, subscribe } from '../support/ntfy-client.ts';
import { faultsIn } from './accessibility.ts';
import { DashboardLab, type Desk, type DeskOptions } from './dashboard-lab.ts';
import { fillPanels } from './panels-scenes.ts';

let lab: DashboardLab;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
  await fillPanels(lab);
});
afterAll(() => lab.close());

async function at<T>(options: DeskOptions, work: (desk: Desk) => Promise<T>): Promise<T> {
  const desk = await lab.desk({ path: 'panels', ...options });
  try {
    return await work(desk);
  } finally {
    await desk.close();
  }
}

const row = (page: Page, name: string) => page.getByRole('row', { name });
const panelOf = async (name: string) => {
  const { json } = await lab.server.call('GET', '/api/panels', { token: await lab.server.key('viewer') });
  return json.panels.find((panel: { name: string }) => panel.name === name);
};

test('a screen that shows a code is let in from its QR address, and comes online before one’s eyes', () =>
  at({}, async ({ page, errors }) => {
    const wall = await lab.browser.newContext();
    const screen = await wall.newPage();
    await screen.goto(`${lab.server.url}/panel`);
    const shown = screen.locator('.pairing .code:not(.empty)');
    await shown.waitFor();
    const code = (await shown.getAttribute('data-code')) ?? '';
    await page.goto(`${lab.server.url}/?pair=${code}`);
    const dialog = page.getByRole('dialog', { name: 'Approve screen' });
    await expect.poll(() => dialog.getByLabel('Code on the screen').inputValue()).toBe(code);
    await dialog.getByLabel('Name', { exact: true }).fill('Lobby');
    await dialog.getByLabel('Tags').fill('Lobby');
    await page.keyboard.press('Tab');
    await dialog.getByRole('button', { name: 'Approve screen' }).click();
    await dialog.getByText('The screen is online.').waitFor();
    await screen.locator('header h1', { hasText: 'Lobby' }).waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await row(page, 'Lobby').getByText('online').waitFor();
    expect(await panelOf('Lobby')).toMatchObject({ tags: ['lobby'], online: true });
    expect(errors).toEqual([]);
    await wall.close();
  }));

test('a code that no screen shows is refused where it was typed; characters of no code are named', () =>
  at({}, async ({ page }) => {
    await page.keyboard.press('n');
    const code = page.getByLabel('Code on the screen');
    await code.fill('k7 m4-q0');
    expect(await code.inputValue()).toBe('K7M4Q0');
    await page.getByText('Codes don’t contain “0”').waitFor();
    await code.fill('zzzzzz');
    await page.getByLabel('Name', { exact: true }).fill('Nowhere');
    await page.getByRole('dialog').getByRole('button', { name: 'Approve screen' }).click();
    await page.getByText('No screen is waiting with this code').waitFor();
    expect(await panelOf('Nowhere')).toBeUndefined();
  }));

test('what a panel shows stands in its row, and whole in its drawer; a button makes it say who it is', () =>
  at({ role: 'member' }, async ({ page, errors }) => {
    await row(page, 'NOC east wall').getByTitle('1 critical').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('control room');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    const drawer = page.getByRole('dialog', { name: 'NOC east wall' });
    await drawer.getByRole('link', { name: 'Power lost in rack 4, on battery' }).waitFor();
    await drawer.getByRole('button', { name: 'Identify' }).click();
    await drawer.getByText('NOC east wall is flashing its name.').waitFor();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await page.getByRole('searchbox').fill('');
    await row(page, 'Workshop kiosk').getByRole('button', { name: 'Test card: Workshop kiosk' }).click();
    await page.getByText('Workshop kiosk is offline. Nothing was sent.').waitFor();
    expect(errors).toEqual([]);
  }));

test('a phone is shown as one, with its topic, and without what only screens do', () =>
  at({}, async ({ page, errors }) => {
    const token = await lab.server.key('admin');
    const { json } = await lab.server.call('POST', '/api/panels', {
      token,
      json: { name: 'Ada’s phone', kind: 'phone' },
    });
    const phone = row(page, 'Ada’s phone');
    await phone.getByText('Phone · ada-s-phone').waitFor();
    expect(await phone.getByRole('button', { name: 'Identify' }).count()).toBe(0);
    await phone.getByRole('button', { name: 'Ada’s phone' }).first().click();
    const drawer = page.getByRole('dialog', { name: 'Ada’s phone' });
    await drawer.getByRole('button', { name: 'Send a test alarm' }).waitFor();
    await drawer.getByText('No rule names this phone yet.').waitFor();
    await drawer.getByLabel('Quiet hours: from').fill('22:00');
    await drawer.getByLabel('Quiet hours: until').fill('06:00');
    for (const day of ['Sat', 'Sun']) await drawer.getByRole('checkbox', { name: day }).uncheck();
    await drawer.getByLabel('Critical always rings').click();
    const pause = drawer.getByRole('radiogroup', { name: 'Pause between sounds' });
    await pause.getByText('Set').click();
    await drawer.getByRole('textbox', { name: 'Pause between sounds' }).fill('2');
    await drawer.getByLabel('Deleting clears for everyone').click();
    for (const scheme of ['light', 'dark'] as const) expect(await faultsIn(scheme, page)).toEqual([]);
    await drawer.getByRole('button', { name: 'Save' }).click();
    await expect
      .poll(async () => (await panelOf('Ada’s phone')).display)
      .toEqual({
        ...{ quietFrom: '22:00', quietUntil: '06:00', criticalRings: false, deleteClears: true },
        ringPauseMs: 120_000,
        quietDays: ['mon', 'tue', 'wed', 'thu', 'fri'],
      });
    // Nobody knows its app before it has connected.
    await drawer.getByText('Gotify', { exact: true }).click();
    expect(await drawer.locator('pre').allTextContents()).toEqual([`${lab.server.url}/gotify`]);
    await drawer.getByText('ntfy', { exact: true }).click();
    expect(await drawer.locator('pre').allTextContents()).toEqual([`${lab.server.url}/ntfy`, json.topic]);
    await page.keyboard.press('Escape');
    expect(errors).toEqual([]);
    await lab.server.call('DELETE', `/api/panels/${json.id}`, { token });
  }));

test('adding a phone shows what to enter in its app, and when it is connected', () =>
  at({}, async ({ page, errors }) => {
    await page.getByRole('button', { name: 'Add phone' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add phone' });
    const add = dialog.getByRole('button', { name: 'Add phone' });
    await dialog.getByLabel('Name of the phone').fill('NOC east wall');
    await dialog.getByText('A panel that is no phone has this name.').waitFor();
    expect(await add.isDisabled()).toBe(true);
    await dialog.getByLabel('Name of the phone').fill('Pixel 8');
    await add.click();
    await dialog.getByText('Waiting for the phone').waitFor();
    const values = await dialog.locator('pre').allTextContents();
    expect(values).toEqual([
      `${lab.server.url}/ntfy`,
      'pixel-8',
      'phone',
      expect.stringMatching(/^bfy_\w+$/),
    ]);
    for (const scheme of ['light', 'dark'] as const) expect(await faultsIn(scheme, page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    // Without it, the token is lost: neither Escape nor a click beside it closes the dialog.
    await page.keyboard.press('Escape');
    const [server = '', topic = '', , token = ''] = values;
    const phone = await subscribe(`${server}/${topic}/json?since=none`, appHeaders(token));
    await dialog.getByText('Connected: ntfy/1.25.0').waitFor();
    await dialog.getByText('No rule names this phone yet.').waitFor();
    await dialog.getByRole('button', { name: 'Send a test alarm' }).click();
    await dialog.getByText('Sent. The phone should ring now.').waitFor();
    await phone.next(({ title }) => title === 'Test alarm for Pixel 8');
    for (const [answer, text] of [
      [{ ok: true, reached: false }, 'Sent. The phone is not connected: it rings when it connects.'],
      [
        { ok: true, reached: true, rings: false },
        'Sent. The phone makes no sound now: see its quiet hours and minimum level.',
      ],
      [{ ok: true, reached: true }, 'Sent. The phone should ring now.'],
    ] as const) {
      await page.route('**/api/panels/*/test', (route) => route.fulfill({ json: answer }), { times: 1 });
      await dialog.getByRole('button', { name: 'Send a test alarm' }).click();
      await dialog.getByText(text).waitFor();
    }
    // The token reads no other topic, and makes none.
    for (const other of ['noc-east-wall', 'a-new-one'])
      await expect(
        subscribe(`${server}/${other}/json?since=none`, appHeaders(token)).then((it) => it.close()),
      ).rejects.toThrow('403');
    for (const scheme of ['light', 'dark'] as const) expect(await faultsIn(scheme, page)).toEqual([]);
    phone.close();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await panelOf('Pixel 8')).toMatchObject({ kind: 'phone', topic: 'pixel-8' });
    expect(errors).toEqual([]);
  }));

test('adding a phone with Gotify shows what to enter there; its token is for this panel alone', () =>
  at({}, async ({ page, errors }) => {
    await page.getByRole('button', { name: 'Add phone' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add phone' });
    await dialog.getByLabel('Name of the phone').fill('Galaxy');
    await dialog.getByText('Gotify', { exact: true }).click();
    await dialog.getByRole('button', { name: 'Add phone' }).click();
    await dialog.getByText('Waiting for the phone').waitFor();
    const values = await dialog.locator('pre').allTextContents();
    expect(values).toEqual([`${lab.server.url}/gotify`, 'phone', expect.stringMatching(/^bfy_\w+$/)]);
    const [, , token = ''] = values;
    const phone = await openGotify(lab.server.url, token);
    await dialog.getByText('Connected: gotify').waitFor();
    phone.close();
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect(await panelOf('Galaxy')).toMatchObject({ kind: 'phone', topic: 'galaxy' });
    expect(errors).toEqual([]);
  }));

test('a phone whose token could not be made is finished by the next try', () =>
  at({ timezoneId: 'Asia/Tokyo' }, async ({ page }) => {
    await page.route('**/api/tokens', (route) => route.fulfill({ status: 503, json: { error: 'busy' } }), {
      times: 1,
    });
    await page.getByRole('button', { name: 'Add phone' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add phone' });
    await dialog.getByLabel('Name of the phone').fill('Fairphone');
    await dialog.getByRole('button', { name: 'Add phone' }).click();
    await dialog.getByText('The phone was not added').waitFor();
    await dialog.getByText('A phone has this name.').waitFor();
    await dialog.getByRole('button', { name: 'Connect another phone' }).click();
    await dialog.getByText('Waiting for the phone').waitFor();
    const { id, display } = await panelOf('Fairphone');
    // The hours of a new phone are those of its browser.
    expect(display).toEqual({ timeZone: 'Asia/Tokyo' });
    const { json } = await lab.server.call('GET', '/api/tokens', { token: await lab.server.key('admin') });
    const own = json.tokens.filter(({ panelId }: { panelId: string | null }) => panelId === id);
    expect(own).toMatchObject([{ name: 'Fairphone', scopes: ['panel'] }]);
  }));

test('a second phone is connected to the same panel, which has the settings of phones alone', () =>
  at({}, async ({ page, errors }) => {
    const admin = await lab.server.key('admin');
    const json = { name: 'Bea’s phone', kind: 'phone' };
    const { json: panel } = await lab.server.call('POST', '/api/panels', { token: admin, json });
    const old = await lab.server.call('POST', '/api/tokens', {
      token: admin,
      json: { name: 'lost one', scopes: ['panel'], panelId: panel.id },
    });
    const topic = `${lab.server.url}/ntfy/${panel.topic}/json?since=none`;
    const first = await subscribe(topic, appHeaders(old.json.token));
    await page.goto(`${page.url()}?id=${panel.id}`);
    const drawer = page.getByRole('dialog', { name: 'Bea’s phone' });
    await expect
      .poll(() => drawer.locator('pre').allTextContents())
      .toEqual([`${lab.server.url}/ntfy`, panel.topic]);
    for (const ofScreens of ['Theme', 'Size', 'Location', 'Sound', 'Preview with sample notifications'])
      expect(await drawer.getByText(ofScreens, { exact: true }).count(), ofScreens).toBe(0);
    await drawer.getByRole('combobox', { name: 'Minimum level' }).waitFor();
    await drawer.getByRole('link', { name: 'lost one' }).waitFor();
    await drawer.getByRole('button', { name: 'Connect another phone' }).press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Connect another phone' });
    await dialog.getByRole('button', { name: 'Connect another phone' }).click();
    await dialog.getByText('Waiting for the phone').waitFor();
    const [, , , token = ''] = await dialog.locator('pre').allTextContents();
    const second = await subscribe(topic, appHeaders(token));
    await dialog.getByText('Connected: ntfy/1.25.0').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    for (const scheme of ['light', 'dark'] as const) expect(await faultsIn(scheme, page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await drawer.getByRole('link', { name: 'lost one' }).click();
    await page.waitForURL(new RegExp(`settings/tokens\\?id=${old.json.id}`));
    await page.getByRole('dialog', { name: 'lost one' }).waitFor();
    first.close();
    second.close();
    expect(errors).toEqual([]);
  }));

test('on a narrow screen, the list shows the whole topic of a phone', () =>
  at({ viewport: { width: 390, height: 844 } }, async ({ page }) => {
    const json = { name: 'Telephone of the second shift', kind: 'phone' };
    await lab.server.call('POST', '/api/panels', { token: await lab.server.key('admin'), json });
    const topic = page.getByText('telephone-of-the-second-shift', { exact: true });
    await topic.waitFor();
    const isCut = await topic.evaluate((element) => {
      const cell = element.closest('button') as HTMLElement;
      return element.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1;
    });
    expect(isCut).toBe(false);
  }));

test('settings are checked at their place, saved together, and not lost by closing', () =>
  at({ role: 'admin' }, async ({ page }) => {
    await row(page, 'Reception').getByRole('button', { name: 'Reception' }).first().click();
    const drawer = page.getByRole('dialog', { name: 'Reception' });
    await drawer.getByLabel('Maximum cards').fill('101');
    await drawer.getByText('Enter a whole number from 1 to 100').waitFor();
    await drawer.getByLabel('Maximum cards').fill('6');
    await drawer.getByLabel('Quiet hours: from').fill('22:00');
    await drawer.getByText('Enter both times').waitFor();
    expect(await drawer.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    await drawer.getByLabel('Quiet hours: until').fill('06:00');
    // A time that cannot be read is put back, and Enter does not send it.
    const from = drawer.getByLabel('Quiet hours: from');
    for (const wrong of ['25:00', '20:75', '8 pm']) {
      await from.fill('');
      await from.pressSequentially(wrong);
      await from.press('Enter');
      expect(await from.getAttribute('aria-invalid')).toBe('true');
      await from.press('Tab');
      expect(await from.inputValue()).toBe('22:00');
    }
    await page.keyboard.press('Escape');
    await page
      .getByRole('dialog', { name: 'Discard your changes?' })
      .getByRole('button', { name: 'Cancel' })
      .click();
    await drawer.getByLabel('Name', { exact: true }).fill('Reception desk');
    await drawer.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog', { name: 'Reception desk' }).getByText('Saved', { exact: true }).waitFor();
    expect((await panelOf('Reception desk')).display).toEqual({
      maxCards: 6,
      quietFrom: '22:00',
      quietUntil: '06:00',
    });
  }));

test('what two people change of a panel at the same time is kept, each part', () =>
  at({ role: 'admin' }, async ({ page }) => {
    const { id } = await panelOf('NOC west wall');
    await page.goto(`${page.url()}?id=${id}`);
    const drawer = page.getByRole('dialog');
    await drawer.getByLabel('Location').fill('Hall 7');
    const token = await lab.server.key('admin');
    const json = { tags: ['moved'], display: { maxCards: 9 } };
    await lab.server.call('PATCH', `/api/panels/${id}`, { token, json });
    await drawer.getByRole('button', { name: 'Save' }).click();
    await drawer.getByText('Saved', { exact: true }).waitFor();
    expect(await panelOf('NOC west wall')).toMatchObject({ location: 'Hall 7', ...json });
    await eventually(async () => expect(await drawer.getByLabel('Maximum cards').inputValue()).toBe('9'));
    // What others change while something is typed is taken over as well.
    await drawer.getByLabel('Location').fill('Hall 8');
    await lab.server.call('PATCH', `/api/panels/${id}`, { token, json: { display: { maxCards: 5 } } });
    await expect.poll(() => drawer.getByLabel('Maximum cards').inputValue()).toBe('5');
    expect(await drawer.getByLabel('Location').inputValue()).toBe('Hall 8');
    await drawer.getByRole('button', { name: 'Discard' }).click();
    expect(await drawer.getByLabel('Location').inputValue()).toBe('Hall 7');
  }));

test('deleting says what goes with it, down to the rules that name it', () =>
  at({ role: 'admin' }, async ({ page }) => {
    const { id } = await panelOf('Workshop kiosk');
    await lab.server.call('POST', '/api/rules', {
      token: await lab.server.key('admin'),
      json: { name: 'gate alarms', then: { panels: { ids: [id] } }, enabled: false },
    });
    await page.goto(`${page.url()}?id=${id}`);
    await page.getByRole('button', { name: 'Delete…' }).click();
    const confirm = page.getByRole('dialog', { name: 'Delete “Workshop kiosk”?' });
    await confirm.getByText('gate alarms').waitFor();
    await confirm.getByRole('button', { name: 'Delete panel' }).click();
    await row(page, 'Workshop kiosk').waitFor({ state: 'detached' });
    expect(await panelOf('Workshop kiosk')).toBeUndefined();
  }));

test('a viewer looks, and is offered nothing that would be refused', () =>
  at({ role: 'viewer' }, async ({ page }) => {
    await row(page, 'NOC west wall').waitFor();
    expect(await page.getByRole('button', { name: 'Approve screen' }).count()).toBe(0);
    await row(page, 'NOC west wall').click();
    const drawer = page.getByRole('dialog', { name: 'NOC west wall' });
    await drawer.getByText('You can view this but not change it').waitFor();
    expect(await drawer.getByRole('button', { name: /Identify|Save|Delete/ }).count()).toBe(0);
  }));

test('who scans a code and may not approve it gets a link for an admin', () =>
  at({ role: 'member', path: 'panels?pair=K7M4QX' }, async ({ page }) => {
    const dialog = page.getByRole('dialog', { name: 'Approve screen' });
    await dialog.getByText('Only admins can approve screens').waitFor();
    await dialog.getByText(/\/t\/default\/panels\?pair=K7M4QX$/).waitFor();
    expect(await faultsIn('light', page)).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }));

test('drawer and pairing have no accessibility problem', () =>
  at({}, async ({ page }) => {
    await row(page, 'NOC east wall').getByTitle('1 critical').waitFor();
    await row(page, 'NOC east wall').click();
    await page.getByRole('link', { name: 'Power lost in rack 4, on battery' }).waitFor();
    expect(await faultsIn('light', page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Approve screen' }).click();
    await page.getByLabel('Code on the screen').waitFor();
    expect(await faultsIn('dark', page)).toEqual([]);
  }));

test('adding a phone shows the public address of the server, and says that the browser uses another one', async () => {
  const behind = await DashboardLab.start(inject('browserPath'), {
    BELFRY_BASE_URL: 'http://belfry.example.org',
  });
  const { page, close } = await behind.desk({ path: 'panels' });
  await page.getByRole('button', { name: 'Add phone' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add phone' });
  await dialog.getByLabel('Name of the phone').fill('Pixel 8');
  await dialog.getByRole('button', { name: 'Add phone' }).click();
  await dialog.getByText('http://belfry.example.org/ntfy', { exact: true }).waitFor();
  await dialog.getByText(`Your browser uses ${behind.server.url};`).waitFor();
  expect(await faultsIn('light', page)).toEqual([]);
  await close();
  await behind.close();
});
