import type { CDPSession, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { makePerson, TestBrowser, type TestPerson } from '../support/person.ts';
import { faultsIn, faultsInBothSchemes } from './accessibility.ts';
import { DashboardLab, type Desk, type DeskOptions } from './dashboard-lab.ts';

let lab: DashboardLab;
let desk: Desk;
let count = 0;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
});
afterAll(() => lab.close());
afterEach(async () => {
  expect(desk.errors).toEqual([]);
  await desk.close();
});

interface Sent {
  readonly title: string;
  readonly level?: string;
  readonly host?: string;
  readonly key?: string;
  readonly message?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Alarms of a tenant of its own, and the page of a person there. */
async function open(sent: readonly Sent[], { path = 'alarms', ...options }: DeskOptions = {}) {
  count += 1;
  const tenant = `alarms-${count}`;
  const token = await lab.server.token({ tenant, scopes: ['notify'] });
  const key = await lab.server.key('admin', tenant);
  const send = (more: Sent) => lab.server.notify(token, { message: 'm', level: 'error', ...more });
  const ids: string[] = [];
  for (const each of sent) ids.push((await send(each)).json.id);
  desk = await lab.desk({ tenant, path, ...options });
  const { page } = desk;
  const rows = page.locator('[role=treegrid] [data-line]');
  const tab = (name: string) => page.getByRole('navigation', { name: 'State' }).getByRole('link', { name });
  const row = (title: string) => rows.filter({ hasText: title });
  const titles = () => rows.locator('strong').allTextContents();
  const alarm = async (id: string | undefined) =>
    (await lab.server.call('GET', `/api/alarms/${id}`, { token: key })).json;
  const bar = page.getByRole('region', { name: 'Actions for the selected alarms' });
  const drawer = page.getByRole('complementary');
  return { page, rows, row, tab, titles, alarm, bar, drawer, send, ids, key };
}

const several: readonly Sent[] = [
  { title: 'Disk almost full', level: 'warning', host: 'db-01', labels: { site: 'plant 1' } },
  { title: 'Core switch down', level: 'critical', host: 'sw-1', labels: { site: 'plant 2' } },
  ...['edge-1', 'edge-2', 'edge-3'].map((host) => ({
    title: 'BGP peer lost',
    host,
    labels: { site: 'plant 2' },
  })),
];

/** Keys work a moment after the lines are drawn. Pressed again, `k` stays on the first line. */
const toFirstLine = (page: Page) =>
  expect
    .poll(async () => {
      await page.keyboard.press('k');
      return page.getByRole('treegrid').getAttribute('aria-activedescendant');
    })
    .toMatch(/./);

const select = (page: Page, title: string) => page.getByRole('checkbox', { name: `Select ${title}` });

test('the worst comes first, similar alarms are one line, and tabs say how many are in each state', async () => {
  const { page, rows, titles, tab } = await open(several);
  await rows.first().waitFor();
  expect(await titles()).toEqual(['Core switch down', 'BGP peer lost', 'Disk almost full']);
  await expect.poll(() => tab('Open').textContent()).toBe('Open 5');
  await rows.nth(1).getByText('3 hosts').waitFor();
  await expect.poll(() => rows.nth(1).textContent()).toContain('edge-1 … edge-3');
  const link = page.getByRole('link', { name: 'Alarms' });
  await expect.poll(() => link.textContent()).toContain('4');
  expect(await faultsInBothSchemes(page)).toEqual([]);
});

test('Active mixes both states, open ones first; actions change those in the state that they change', async () => {
  const { page, tab, row, titles, alarm, bar, ids, key } = await open([
    ...several,
    { title: 'Fan failed', labels: { runbook_url: 'https://wiki.example.org/fan', site: 'plant 1' } },
  ]);
  for (const id of ids.slice(1, 3))
    await lab.server.call('POST', `/api/alarms/${id}/acknowledge`, { token: key, json: { note: 'known' } });
  await tab('Active').click();
  await expect.poll(titles).toEqual(['Fan failed', 'BGP peer lost', 'Disk almost full', 'Core switch down']);
  await expect.poll(() => tab('Active').textContent()).toBe('Active 6');
  await row('BGP peer lost').getByText('1 of 3').waitFor();
  await row('Fan failed').getByText('no screen').waitFor();
  expect(await row('Fan failed').textContent()).not.toContain('runbook_url');
  await page.keyboard.press('*');
  await bar.getByText('6 selected').waitFor();
  await page.keyboard.press('a');
  await page.getByRole('dialog', { name: 'Acknowledge 4 alarms' }).locator('input:focus').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('Acknowledged 4 alarms').waitFor();
  expect((await alarm(ids[1])).acknowledged.note).toBe('known');
  expect(await faultsInBothSchemes(page)).toEqual([]);
});

test('in Active, a key says if no alarm is in the state that it changes', async () => {
  const { page, tab, row, alarm, ids, key } = await open([{ title: 'Fan failed' }, { title: 'Door open' }]);
  await tab('Active').click();
  await lab.server.call('POST', `/api/alarms/${ids[0]}/acknowledge`, { token: key, json: { note: 'known' } });
  await row('Fan failed').locator('[title*="known"]').waitFor();
  await select(page, 'Fan failed').click();
  await page.keyboard.press('a');
  await page.getByText('None of these is open.').waitFor();
  await select(page, 'Fan failed').click();
  await select(page, 'Door open').click();
  await page.keyboard.press('u');
  await page.getByText('None of these is acknowledged.').waitFor();
  expect([(await alarm(ids[0])).state, (await alarm(ids[1])).state]).toEqual(['acknowledged', 'open']);
});

test('the list says in what time an open alarm escalates', async () => {
  const { row, send, key } = await open([]);
  const json = { name: 'fans', then: { escalate: [{ afterMs: 3 * 3_600_000 }] } };
  expect((await lab.server.call('POST', '/api/rules', { token: key, json })).status).toBe(201);
  await send({ title: 'Fan failed' });
  await row('Fan failed').getByText('escalates in 3 h').waitFor();
});

test('a view is saved with its tab and grouping, and opens from History, too', async () => {
  const { page, tab, titles } = await open(several);
  await tab('Active').click();
  await page.getByRole('button', { name: 'Grouped by: Similar' }).click();
  await page.getByRole('menuitemradio', { name: 'site' }).click();
  await expect.poll(titles).toEqual(['site=plant 2', 'site=plant 1']);
  await page.getByRole('button', { name: 'Saved searches' }).click();
  const dialog = page.getByRole('dialog', { name: 'Saved searches' });
  await dialog.getByText('Alarms · Active · label:site').waitFor();
  await dialog.getByRole('textbox').fill('By site');
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'History' }).click();
  // Both pages have the button: this one is only in History.
  await page.getByRole('button', { name: 'Clear found notifications' }).waitFor();
  await page.getByRole('button', { name: 'Saved searches' }).click();
  await dialog.getByRole('button', { name: /^By site/ }).click();
  await expect.poll(titles).toEqual(['site=plant 2', 'site=plant 1']);
  expect(new URL(page.url()).searchParams.get('tab')).toBe('active');
});

test('a group opens and closes, and the grouping stands in the address', async () => {
  const { page, rows, row, titles } = await open(several);
  await row('BGP peer lost').click();
  await expect.poll(() => rows.count()).toBe(6);
  await page.keyboard.press('ArrowLeft');
  await page.getByRole('treegrid').focus();
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => rows.count()).toBe(3);
  await page.getByRole('button', { name: 'Grouped by: Similar' }).click();
  await page.getByRole('menuitemradio', { name: 'site' }).click();
  await expect.poll(titles).toEqual(['site=plant 2', 'site=plant 1']);
  await page.reload();
  await expect.poll(titles).toEqual(['site=plant 2', 'site=plant 1']);
});

test('what is selected is acknowledged with a note, which can be undone', async () => {
  const { page, row, tab, alarm, bar, ids, rows } = await open(several);
  await select(page, 'Core switch down').click();
  await select(page, 'BGP peer lost').click({ modifiers: ['Shift'] });
  await bar.getByText('4 selected').waitFor();
  expect(await faultsIn('dark', page)).toEqual([]);
  await page.keyboard.press('a');
  await page.getByRole('textbox', { name: 'Note' }).fill('on my way');
  await page.keyboard.press('Enter');
  await page.getByText('Acknowledged 4 alarms').waitFor();
  await expect.poll(() => rows.count()).toBe(1);
  expect(await alarm(ids[1])).toMatchObject({ state: 'acknowledged', acknowledged: { note: 'on my way' } });
  await tab('Acknowledged').click();
  await row('Core switch down').getByText('Ada Byron').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(async () => (await alarm(ids[1])).state).toBe('open');
  await page.getByText('No acknowledged alarms').waitFor();
});

test('an alarm is shelved with the keyboard alone, and unshelved', async () => {
  const { page, row, tab, alarm, ids, rows } = await open(several);
  await rows.first().waitFor();
  await toFirstLine(page);
  await page.keyboard.press('s');
  await page.locator('input[type=radio]:focus').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByText('Shelved until').waitFor();
  const { shelved } = await alarm(ids[1]);
  expect(Date.parse(shelved.until) - Date.now()).toBeGreaterThan(3.9 * 3_600_000);
  await tab('Shelved').click();
  // The row of the list before has no such time.
  await row('Core switch down')
    .getByText(/^until /)
    .waitFor();
  await toFirstLine(page);
  await page.keyboard.press('u');
  await page.getByText('No longer shelved: Core switch down').waitFor();
  expect((await alarm(ids[1])).shelved).toBeNull();
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await expect.poll(async () => (await alarm(ids[1])).shelved?.until).toBe(shelved.until);
});

test('clearing several asks first, and all that match can be selected', async () => {
  const { page, bar, alarm, ids } = await open(several, { path: 'alarms?q=label:"site%3Dplant 2"' });
  await select(page, 'Core switch down').click();
  await bar.getByRole('button', { name: 'Select all 4 that match' }).click();
  await bar.getByText('All 4 that match are selected').waitFor();
  await page.keyboard.press('c');
  await page.getByRole('dialog', { name: 'Clear 4 alarms?' }).getByRole('button', { name: 'Clear' }).click();
  await page.getByText('Cleared 4 alarms').waitFor();
  expect((await alarm(ids[1])).state).toBe('ended');
  expect((await alarm(ids[0])).state).toBe('open');
  expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0);
  await page.getByText('No alarm matches the search').waitFor();
});

test('clearing one asks first, too, with a note; Enter confirms', async () => {
  const { page, row, alarm, ids } = await open(several);
  await row('Core switch down').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('c');
  const dialog = page.getByRole('dialog', { name: 'Clear “Core switch down”?' });
  await dialog.getByText('cannot be undone').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await dialog.locator('input:focus').waitFor();
  await page.keyboard.type('cable is in again');
  await page.keyboard.press('Enter');
  await page.getByText('Cleared: Core switch down').waitFor();
  const { state, events } = await alarm(ids[1]);
  expect(state).toBe('ended');
  expect(events[0]).toMatchObject({ event: 'clear', note: 'cable is in again' });
});

test('an alarm is acknowledged for a time; taken back, it is as before with Undo', async () => {
  const { page, row, tab, alarm, ids } = await open(several);
  await row('Core switch down').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await page.getByRole('dialog').locator('input:focus').waitFor();
  await page.keyboard.type('on my way');
  await page.getByRole('combobox', { name: 'Acknowledgement ends' }).selectOption({ index: 2 });
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.getByRole('textbox', { name: 'Note' }).press('Enter');
  await page.getByText('Acknowledged: Core switch down').waitFor();
  const { acknowledged } = await alarm(ids[1]);
  expect(Date.parse(acknowledged.until) - Date.now()).toBeGreaterThan(3.9 * 3_600_000);
  await tab('Acknowledged').click();
  await row('Core switch down').getByText('Ada Byron').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('u');
  await page.getByText('No longer acknowledged: Core switch down').waitFor();
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await expect
    .poll(async () => (await alarm(ids[1])).acknowledged)
    .toMatchObject({
      note: 'on my way',
      until: acknowledged.until,
    });
  await row('Core switch down').click();
  await page.getByRole('button', { name: 'Change note' }).click();
  await page.getByRole('textbox', { name: 'Note' }).fill('there');
  await page.keyboard.press('Enter');
  await expect
    .poll(async () => (await alarm(ids[1])).acknowledged)
    .toMatchObject({
      note: 'there',
      until: acknowledged.until,
    });
});

test('new alarms come in by themselves, but wait while something is selected; what ended stays until then', async () => {
  const { page, row, rows, send, bar } = await open([
    { title: 'Fan failed', key: 'fan' },
    { title: 'Door open' },
  ]);
  await row('Fan failed').waitFor();
  await send({ title: 'Came in' });
  await row('Came in').waitFor();
  await select(page, 'Fan failed').click();
  await send({ title: 'Waits', level: 'critical' });
  await send({ title: 'Fan works', level: 'success', key: 'fan' });
  await page.getByRole('button', { name: '1 new' }).waitFor();
  await row('Fan failed').getByText('ended').waitFor();
  expect(await row('Waits').count()).toBe(0);
  await page.mouse.move(0, 0);
  await bar.getByRole('button', { name: 'End the selection' }).click();
  await row('Waits').waitFor();
  await expect.poll(() => row('Fan failed').count()).toBe(0);
  expect(await rows.first().textContent()).toContain('Waits');
});

test('the drawer of an alarm says what to do, where the runbook is, and when it escalates', async () => {
  const runbook_url = 'https://wiki.example.org/fan';
  const { page, row, drawer, send, key } = await open([]);
  const then = { instructions: 'Look at the fan.\nThen call.', escalate: [{ afterMs: 3_600_000 }] };
  await lab.server.call('POST', '/api/rules', { token: key, json: { name: 'fans', then } });
  await send({ title: 'Fan failed', labels: { runbook_url } });
  await row('Fan failed').click();
  const part = drawer.locator('section', { hasText: 'Instructions of the rule “fans”' });
  expect(await part.locator('p').innerText()).toBe(then.instructions);
  const runbook = drawer.locator('section', { hasText: 'Runbook' }).getByRole('link');
  expect(await runbook.getAttribute('href')).toBe(runbook_url);
  const facts = drawer.getByRole('region', { name: 'Alarm', exact: true });
  await facts.getByText(/^Escalates at .* unless acknowledged: step 1 of 1 of the rule “fans”\.$/).waitFor();
  expect(await drawer.getByText('Escalates at').count()).toBe(1);
  expect(await faultsInBothSchemes(page)).toEqual([]);
});

test('the drawer says what is known of the alarm and what people did, and acts on it', async () => {
  const { page, row, drawer, alarm, ids } = await open([
    { title: 'Fan failed', host: 'rack-1' },
    { title: 'Door open' },
  ]);
  await row('Fan failed').click();
  await drawer.getByText('Open: nobody takes care of it.').waitFor();
  await drawer.getByRole('button', { name: 'Acknowledge' }).click();
  await page.getByRole('textbox', { name: 'Note' }).fill('spare part');
  await page.keyboard.press('Enter');
  await drawer.getByText('Ada Byron acknowledged it').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await expect.poll(() => row('Fan failed').count()).toBe(0);
  await page.getByRole('heading', { name: 'Alarms' }).focus();
  await page.keyboard.press('c');
  await page.getByText('Select an alarm first.').waitFor();
  await drawer.getByRole('button', { name: 'Change note' }).click();
  await page.getByRole('textbox', { name: 'Note' }).fill('ordered');
  await page.keyboard.press('Enter');
  await expect.poll(async () => (await alarm(ids[0])).acknowledged.note).toBe('ordered');
  await page.reload();
  await drawer.getByRole('button', { name: 'Take back' }).click();
  await expect.poll(async () => (await alarm(ids[0])).state).toBe('open');
});

test('the drawer of history takes an acknowledgement back', async () => {
  const { page, drawer, alarm, ids, key } = await open([{ title: 'Fan failed' }], { path: 'history' });
  await lab.server.call('POST', `/api/alarms/${ids[0]}/acknowledge`, {
    token: key,
    json: { forMs: 3_600_000 },
  });
  await page.getByText('Fan failed').first().click();
  await drawer.getByText(/Acknowledged by key key on .*, until /).waitFor();
  await drawer.getByRole('button', { name: 'Take back' }).click();
  await page.getByText('No longer acknowledged: Fan failed').waitFor();
  expect((await alarm(ids[0])).state).toBe('open');
});

test('who takes care of an alarm for a time is listed with the end', async () => {
  const { tab, row, ids, key } = await open([{ title: 'Fan failed' }]);
  const json = { forMs: 3_600_000, note: 'on my way' };
  await lab.server.call('POST', `/api/alarms/${ids[0]}/acknowledge`, { token: key, json });
  await tab('Acknowledged').click();
  await row('Fan failed')
    .getByText(/^until /)
    .waitFor();
});

test('a rule that mutes what is selected opens in the editor, and spares what is critical', async () => {
  const { page, row, key } = await open(several);
  await row('Core switch down').waitFor();
  await page.getByRole('button', { name: 'Rule from this search' }).click();
  await page.getByText('Enter a search first.').waitFor();
  await page.getByRole('treegrid').focus();
  await page.keyboard.press('j');
  await page.keyboard.press('m');
  const sheet = page.getByRole('dialog', { name: 'Create rule' });
  await sheet.getByText(/^When host is sw-1 → mute/).waitFor();
  await sheet.getByText('This also mutes critical notifications.').waitFor();
  await page.goBack();
  await select(page, 'BGP peer lost').click();
  await page.keyboard.press('m');
  await sheet.getByText(/^When title contains “BGP peer lost” and level is below critical → mute/).waitFor();
  await sheet.getByText('Critical notifications are not muted.').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await sheet.getByRole('button', { name: 'Remove condition: level' }).click();
  await sheet.getByText('This also mutes critical notifications.').waitFor();
  const rules = async () => (await lab.server.call('GET', '/api/rules', { token: key })).json.rules;
  await sheet.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^The rule “.*” mutes from now on\.$/).waitFor();
  expect(await rules()).toHaveLength(1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText(/^The rule “.*” is deleted\.$/).waitFor();
  expect(await rules()).toEqual([]);
});

test('without a selection, the search is muted, and the editor says what a rule leaves out', async () => {
  const { page } = await open(several, { path: 'alarms?q=level:>=info is:live' });
  await page.getByRole('treegrid').waitFor();
  await page.keyboard.press('m');
  const sheet = page.getByRole('dialog', { name: 'Create rule' });
  await sheet.getByText('is:live Left out.').waitFor();
  await sheet.getByText(/^When level is at least info and level is below critical → mute/).waitFor();
});

test('all keys of the page are listed', async () => {
  const { page, rows } = await open(several);
  await rows.first().waitFor();
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  for (const text of ['Select a range', 'Shelve', 'Assign', 'Mute with a rule', 'Go to History'])
    await dialog.getByText(text, { exact: true }).waitFor();
  expect(await faultsIn('dark', page)).toEqual([]);
});

test('nothing is wrong: the page says what ended last, with the way to history', async () => {
  const { page, drawer, row, ids, key } = await open([{ title: 'Fan failed' }]);
  await row('Fan failed').waitFor();
  await lab.server.call('POST', `/api/alarms/${ids[0]}/clear`, { token: key, json: {} });
  await page.getByText('Nothing is wrong').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.getByRole('link', { name: 'Fan failed' }).click();
  await drawer.getByRole('heading', { name: 'Fan failed' }).waitFor();
});

test('a viewer reads the list, and can change nothing', async () => {
  const { page, rows, row, drawer } = await open(several, { role: 'viewer' });
  await rows.first().waitFor();
  expect(await page.getByRole('checkbox').count()).toBe(0);
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await page.getByText('Your role can view alarms but not change them.').waitFor();
  await row('Core switch down').click();
  await drawer.getByText('Open: nobody takes care of it.').waitFor();
  expect(await drawer.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0);
});

test('a finger to the right on a group in Active leaves what somebody has acknowledged', async () => {
  const viewport = { width: 360, height: 780 };
  const { page, row, alarm, ids, key } = await open(several.slice(2), {
    ...{ viewport, hasTouch: true, isMobile: true, path: 'alarms?tab=active' },
  });
  const devtools = await desk.context.newCDPSession(page);
  await row('BGP peer lost').waitFor();
  const [known] = ids;
  await lab.server.call('POST', `/api/alarms/${known}/acknowledge`, { token: key, json: { note: 'known' } });
  const { acknowledged } = await alarm(known);
  await row('BGP peer lost').getByText('1 of 3').waitFor();
  const box = await row('BGP peer lost').boundingBox();
  const at = { x: 180, y: (box?.y ?? 0) + 30 };
  await finger(devtools, at, 120);
  await page.getByText('Acknowledged 2 alarms').waitFor();
  expect((await alarm(known)).acknowledged).toEqual(acknowledged);
  await expect.poll(() => row('BGP peer lost').textContent()).not.toContain('1 of 3');
  await finger(devtools, at, 120);
  await page.getByText('None of these is open.').waitFor();
  expect((await alarm(known)).acknowledged).toEqual(acknowledged);
});

/** A finger on a row: it moves to the side, or rests. */
async function finger(
  devtools: CDPSession,
  at: { x: number; y: number },
  dx: number,
  restMs = 0,
): Promise<void> {
  const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x: number) =>
    devtools.send('Input.dispatchTouchEvent', {
      type,
      touchPoints: type === 'touchEnd' ? [] : [{ x, y: at.y }],
    });
  await touch('touchStart', at.x);
  if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
  for (let step = 1; step <= 6 && dx !== 0; step++) await touch('touchMove', at.x + (dx * step) / 6);
  await touch('touchEnd', at.x + dx);
}

test('on a phone a finger to the right acknowledges, to the left shelves, and a long touch selects', async () => {
  const viewport = { width: 360, height: 780 };
  const { page, row, rows, bar } = await open(several, { viewport, hasTouch: true, isMobile: true });
  const devtools = await desk.context.newCDPSession(page);
  const middleOf = async (title: string) => {
    const box = await row(title).boundingBox();
    return { x: 180, y: (box?.y ?? 0) + 30 };
  };
  await rows.first().waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await finger(devtools, await middleOf('Core switch down'), 120);
  await page.getByText('Acknowledged: Core switch down').waitFor();
  await expect.poll(() => row('Core switch down').count()).toBe(0);
  await finger(devtools, await middleOf('Disk almost full'), -120);
  await page
    .getByRole('dialog', { name: 'Shelve “Disk almost full”' })
    .getByRole('button', { name: 'Cancel' })
    .click();
  await finger(devtools, await middleOf('Disk almost full'), 0, 800);
  await bar.getByText('1 selected').waitFor();
  await row('BGP peer lost').tap();
  await bar.getByText('4 selected').waitFor();
});

const site = { site: 'plant 2' };
const outage: readonly Sent[] = [
  { title: 'Core switch down', level: 'critical', host: 'sw-1', key: 'core', labels: site },
  ...['edge-1', 'edge-2'].map((host) => ({ title: `No answer of ${host}`, host, key: host, labels: site })),
];

/** A tenant with a rule by which core switches suppress the other alarms of their site. */
async function openOutage(options: DeskOptions = {}, sent = outage) {
  const json = {
    name: 'core switches',
    when: { title: { contains: 'core switch' } },
    then: { suppress: { when: { minLevel: 'warning' }, equal: ['label:site'] } },
    continue: true,
  };
  const token = await lab.server.key('admin', `alarms-${count + 1}`);
  expect((await lab.server.call('POST', '/api/rules', { token, json })).status).toBe(201);
  return open(sent, options);
}

test('what an alarm suppresses is behind it, with the way to the cause and back', async () => {
  const { page, row, rows, tab, drawer, alarm, ids, key } = await openOutage({ path: 'alarms?group=none' });
  await row('Core switch down').getByText('suppresses 2').click();
  const list = drawer.getByRole('region', { name: 'Suppresses 2 alarms' });
  await list.getByRole('button', { name: 'No answer of edge-1' }).waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await list.getByRole('button', { name: 'No answer of edge-1' }).click();
  await drawer.getByText('Suppressed: off the panels as long as “Core switch down” stands.').waitFor();
  expect(await drawer.getByText('It is on no panel: it is suppressed by').count()).toBe(0);
  expect(await drawer.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0);
  await drawer.getByRole('button', { name: 'Show the cause' }).click();
  await drawer.getByRole('heading', { name: 'Core switch down' }).waitFor();
  await drawer.getByRole('button', { name: 'Close' }).click();
  await expect.poll(() => tab('Suppressed').textContent()).toBe('Suppressed 2');
  await tab('Suppressed').click();
  await rows.nth(1).waitFor();
  await row('No answer of edge-2').getByRole('button', { name: 'by Core switch down' }).waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await page.getByText('A suppressed alarm cannot be acknowledged.').waitFor();
  await row('No answer of edge-2').getByRole('button', { name: 'by Core switch down' }).click();
  await drawer.getByRole('heading', { name: 'Core switch down' }).waitFor();
  // Rows stay while the mouse is over them.
  await page.mouse.move(0, 0);
  await lab.server.call('POST', `/api/alarms/${ids[0]}/clear`, { token: key, json: {} });
  await page.getByText('No suppressed alarms').waitFor();
  expect((await alarm(ids[1])).state).toBe('open');
  await page.goto(page.url().replace(/\/alarms\?.*/, `/history?id=${ids[1]}`));
  await drawer.getByText('It was suppressed by “Core switch down” when it came.').waitFor();
  await drawer.getByRole('button', { name: 'Open the cause' }).click();
  await drawer.getByRole('heading', { name: 'Core switch down' }).waitFor();
});

test('History says of what is suppressed that it is on no panel, completes the word, and clears it', async () => {
  const { page, drawer } = await openOutage({ path: 'history' });
  const search = page.getByRole('combobox', { name: 'Search' });
  await search.pressSequentially('is:supp');
  await page.getByRole('option', { name: 'suppressed' }).click();
  await search.press('Enter');
  await page.getByText('No answer of edge-1').first().click();
  await drawer.getByText(/^It is on no panel: it is suppressed by/).waitFor();
  expect(await drawer.getByRole('button', { name: 'Acknowledge' }).count()).toBe(0);
  await drawer.getByRole('button', { name: 'Clear' }).click();
  await drawer.getByText(/^Off the panels: cleared on/).waitFor();
});

test('alarms are assigned with the keyboard, which can be undone; the drawer says by whom', async () => {
  const { page, rows, row, drawer, alarm, ids, bar } = await open(several);
  await rows.first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('o');
  const dialog = page.getByRole('dialog', { name: 'Assign “Core switch down”' });
  await expect
    .poll(() => dialog.getByRole('combobox', { name: 'Owner' }).locator('option').allTextContents())
    .toEqual(['Me (Ada Byron)', 'Nobody']);
  await page.locator('select:focus').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Assign' }).press('Enter');
  await page.getByText('Assigned: Core switch down').waitFor();
  await row('Core switch down').getByText('Ada Byron').waitFor();
  expect(await alarm(ids[1])).toMatchObject({ state: 'open', owner: { name: 'Ada Byron' } });
  await row('Core switch down').click();
  await drawer.getByText('Open, assigned to Ada Byron.').waitFor();
  await drawer.getByText('Ada Byron assigned it to Ada Byron').waitFor();
  await drawer.getByRole('button', { name: 'Close' }).click();
  await select(page, 'Core switch down').click();
  await select(page, 'BGP peer lost').click({ modifiers: ['Shift'] });
  await bar.getByRole('button', { name: 'Assign' }).click();
  const many = page.getByRole('dialog', { name: 'Assign 4 alarms' });
  await many.getByRole('combobox', { name: 'Owner' }).selectOption('Nobody');
  await many.getByRole('button', { name: 'Assign' }).click();
  await page.getByText('4 alarms are no longer assigned').waitFor();
  await expect.poll(async () => (await alarm(ids[1])).owner).toBeNull();
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await expect.poll(async () => (await alarm(ids[1])).owner?.name).toBe('Ada Byron');
  await page.getByText('Undone for 4 alarms').waitFor();
  expect((await alarm(ids[2])).owner).toBeNull();
});

test('a group says that several alarms suppress it, who its owners are, and who has acknowledged it', async () => {
  const labels = { site: 'plant 3' };
  const { row, tab, ids, key, page } = await openOutage({}, [
    ...outage,
    { title: 'Core switch 2 does not answer', level: 'critical', host: 'sw-2', labels },
    { title: 'No answer of edge-3', host: 'edge-3', labels },
  ]);
  const tenant = `alarms-${count}`;
  const [ada, grace] = await Promise.all(
    ['Ada Lovelace', 'Grace'].map((name) => makePerson(lab.server, 'member', { tenant, name })),
  );
  const assign = (id: string | undefined, to: TestPerson | undefined) =>
    lab.server.call('PUT', `/api/alarms/${id}/owner`, { token: key, json: { userId: to?.id } });
  await tab('Suppressed').click();
  const group = row('No answer of').first();
  await group.getByText('3 hosts').waitFor();
  expect(await group.getByText('by several alarms').getAttribute('title')).toBe(
    'Suppressed by “Core switch 2 does not answer”\nSuppressed by “Core switch down”',
  );
  await assign(ids[1], ada);
  await group.getByText('Owner: Ada Lovelace (1 of 3)').waitFor();
  await Promise.all([assign(ids[2], grace), assign(ids[4], ada)]);
  await group.getByText(/^Owners: (Ada Lovelace, Grace|Grace, Ada Lovelace)$/).waitFor();
  const json = { action: 'clear', ids: [ids[0], ids[3]] };
  await lab.server.call('POST', '/api/alarms/actions', { token: key, json });
  await tab('Open').click();
  await group.getByText(/^(Ada Lovelace, Grace|Grace, Ada Lovelace)$/).waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  for (const [n, person] of [ada, grace, ada].entries())
    await (await TestBrowser.of(lab.server, person as TestPerson)).post(
      `/api/alarms/${ids[n === 2 ? 4 : n + 1]}/acknowledge`,
      {},
    );
  await tab('Acknowledged').click();
  await group.getByText(/^(Ada Lovelace, Grace|Grace, Ada Lovelace)$/).waitFor();
  expect(await group.getByText('Owners').count()).toBe(0);
  expect(await faultsInBothSchemes(page)).toEqual([]);
});

test('on a phone, four tabs and suppressed alarms fit, in German too; a viewer changes nothing', async () => {
  const viewport = { width: 360, height: 780 };
  const { page, row, drawer } = await openOutage({
    ...{
      viewport,
      hasTouch: true,
      isMobile: true,
      locale: 'de-DE',
      role: 'viewer',
      path: 'alarms?tab=suppressed',
    },
  });
  await row('No answer of').getByText('2 Hosts').waitFor();
  await row('No answer of').getByText('durch Core switch down').waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await row('No answer of').getByText('durch Core switch down').tap();
  await drawer.getByRole('region', { name: 'Unterdrückt 2 Alarme' }).waitFor();
  expect(await drawer.getByRole('button', { name: 'Zuweisen' }).count()).toBe(0);
  expect(await faultsInBothSchemes(page)).toEqual([]);
});

test('when the server cannot be reached, the list stays and says how old it is', async () => {
  const { page, rows } = await open(several);
  await rows.first().waitFor();
  await desk.context.setOffline(true);
  await page.evaluate(() => dispatchEvent(new Event('offline')));
  await page.getByRole('combobox', { name: 'Search' }).press('Enter');
  await page.getByText('Can’t refresh this page.').waitFor();
  expect(await rows.count()).toBe(3);
  await desk.context.setOffline(false);
  await page.getByText('Can’t refresh this page.').waitFor({ state: 'detached' });
});
