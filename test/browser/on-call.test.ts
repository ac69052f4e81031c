import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { weekdays } from '#contract/routing/rule.ts';
import { Receiver } from '../support/receiver.ts';
import { faultsInBothSchemes } from './accessibility.ts';
import { DashboardLab } from './dashboard-lab.ts';

let lab: DashboardLab;
let receiver: Receiver;
let key: string;
beforeAll(async () => {
  receiver = await Receiver.start();
  lab = await DashboardLab.start(inject('browserPath'), { BELFRY_OUTBOUND_ALLOW: '127.0.0.1' });
  key = await lab.server.key('admin');
});
afterAll(async () => {
  await lab.close();
  await receiver.close();
});

const call = (method: string, path: string, json?: unknown) =>
  lab.server.call(method, path, { token: key, ...(json !== undefined && { json }) });
const schedules = async () => (await call('GET', '/api/on-call')).json.schedules;

test('a rota is made with its preview, chosen in a rule, and shown on the overview, on a phone too', async () => {
  const settings = { topic: 't' };
  await call('POST', '/api/channels', { kind: 'ntfy', name: 'Phone', enabled: false, settings });
  const { page, close, errors } = await lab.desk({ path: 'settings/on-call' });
  await page.getByRole('button', { name: 'Create schedule' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name' }).first().fill('Ops');
  await dialog.getByText('Complete the rota').waitFor();
  const first = dialog.getByRole('group', { name: 'Person 1' });
  await first.getByRole('textbox', { name: 'Name' }).fill('Ana');
  const ana = dialog.getByRole('group', { name: 'Ana' });
  await ana.getByRole('combobox', { name: 'Channels' }).click();
  await page.getByRole('option', { name: 'Phone' }).click();
  await page.keyboard.press('Tab');
  await ana.getByLabel('Panels').first().selectOption('tags');
  await ana.getByRole('combobox', { name: 'panels tagged' }).fill('ana');
  const shift = dialog.getByRole('group', { name: 'Shift 1' });
  await shift.getByRole('combobox', { name: 'People, week by week' }).click();
  await page.getByRole('option', { name: 'Ana' }).click();
  await page.keyboard.press('Tab');
  await dialog.getByRole('region', { name: 'Next two weeks' }).getByText('Ana').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('dialog', { name: 'Ops' }).waitFor();
  const [saved] = await schedules();
  expect(saved).toMatchObject({
    name: 'Ops',
    people: [{ name: 'Ana', channels: [expect.any(String)], panels: { tags: ['ana'] } }],
    rota: { shifts: [{ days: weekdays, from: '09:00', until: '09:00', people: ['Ana'] }] },
    now: { people: ['Ana'], until: null },
  });

  // Another name is another name in the shifts, too.
  const edited = page.getByRole('dialog', { name: 'Ops' });
  await edited.getByRole('group', { name: 'Ana' }).getByRole('textbox', { name: 'Name' }).fill('Anna');
  await edited.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await schedules())[0].now.people).toEqual(['Anna']);
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.keyboard.press('Escape');
  await page.getByRole('row', { name: /Ops.*Anna.*No end in sight/ }).waitFor();

  await page.getByRole('link', { name: 'Routing Rules' }).click();
  await page.getByRole('button', { name: 'Create rule' }).first().click();
  const sheet = page.getByRole('dialog');
  await sheet.getByRole('button', { name: 'Add action' }).click();
  await page.getByRole('menuitem', { name: 'Notify the people on call' }).click();
  await sheet.getByRole('combobox', { name: 'Notify the people on call' }).selectOption({ label: 'Ops' });
  await sheet.getByText('notify the people on call by Ops').first().waitFor();
  await sheet.getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(async () => (await call('GET', '/api/rules')).json.rules.map(({ then }: { then: object }) => then))
    .toEqual([{ onCall: saved.id }]);
  await lab.server.notify(await lab.server.token(), { title: 'Disk full', message: 'm' });
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('On call now').waitFor();
  await page.getByRole('link', { name: 'Ops: Anna' }).click();
  await page.getByRole('dialog', { name: 'Ops' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Delete schedule' }).click();
  await page.getByText('rules name the on-call schedule').waitFor();
  expect(await schedules()).toHaveLength(1);
  for (const { id } of (await call('GET', '/api/rules')).json.rules) await call('DELETE', `/api/rules/${id}`);
  await page.getByRole('button', { name: 'Delete schedule' }).click();
  await expect.poll(schedules).toEqual([]);
  expect(errors).toEqual([]);
  await close();
});

test('a calendar shows how it is, whom it does not know, and is read at once on request', async () => {
  receiver.answer = () => ({ status: 500 });
  const calendar = { url: `${receiver.url}/ops.ics` };
  await call('POST', '/api/on-call', { name: 'Cal', people: [{ name: 'Ana' }], calendar, alertBeforeMs: 0 });
  await expect.poll(async () => (await schedules())[0].calendarState.failingSince).not.toBeNull();
  const { page, close, errors } = await lab.desk({ path: 'settings/on-call' });
  await page.getByRole('button', { name: 'Cal' }).click();
  const dialog = page.getByRole('dialog', { name: 'Cal' });
  await dialog.getByText('The calendar cannot be read. Belfry has no copy of it yet.').waitFor();
  expect(await dialog.getByText('has not been read').count()).toBe(0);
  await dialog.getByText('answered 500').waitFor();
  await dialog.getByText('Now – No end in sight').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('row', { name: /Cal.*Calendar unreadable since/ }).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  // The page has all its texts, also when it is the first.
  await page.reload();
  await page.getByText('Calendar unreadable since').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.getByRole('link', { name: 'Cal: nobody' }).click();
  const day = (at: number) => new Date(at).toISOString().slice(0, 10).replaceAll('-', '');
  const event = (title: string, from: number, until: number) =>
    `BEGIN:VEVENT\r\nUID:${title}\r\nSUMMARY:${title}\r\nDTSTART;VALUE=DATE:${day(Date.now() + from * 86_400_000)}\r\nDTEND;VALUE=DATE:${day(Date.now() + until * 86_400_000)}\r\nEND:VEVENT\r\n`;
  const body = `BEGIN:VCALENDAR\r\n${event('Ana', -1, 3)}${event('Dora', 3, 5)}${event('Eve', 9, 8)}END:VCALENDAR\r\n`;
  receiver.answer = () => ({ body });
  await dialog.getByRole('button', { name: 'Read now' }).click();
  await dialog.getByText('These events name nobody: Dora').waitFor();
  await dialog.getByText('These events are left out: Eve (has no length)').waitFor();
  await dialog.getByRole('region', { name: 'Next two weeks' }).getByText('Nobody').first().waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  expect(errors).toEqual([]);
  await close();
});

test('answers of a server of an earlier version, during an update, are shown', async () => {
  receiver.answer = () => ({ status: 500 });
  const calendar = { url: `${receiver.url}/old.ics` };
  const { id } = (await call('POST', '/api/on-call', { name: 'Old', people: [{ name: 'Ana' }], calendar }))
    .json;
  await call('POST', `/api/on-call/${id}/read`);
  const { page, close, errors } = await lab.desk({ path: 'overview' });
  await page.route(/\/api\/(overview|on-call)/, async (route) => {
    const response = await route.fetch();
    const earlier = JSON.parse(await response.text(), (name, value) =>
      ['leftOut', 'calendarFailingSince'].includes(name) ? undefined : value,
    );
    await route.fulfill({ response, json: earlier });
  });
  await page.reload();
  await page.getByRole('link', { name: 'Old: nobody' }).click();
  await page.getByRole('dialog', { name: 'Old' }).getByText('answered 500').waitFor();
  await call('DELETE', `/api/on-call/${id}`);
  expect(errors.filter((each) => !each.includes('404'))).toEqual([]);
  await close();
});

test('times are in the zone of the schedule, which is named only if the browser is in another one', async () => {
  const { page, close, errors } = await lab.desk({ path: 'settings/on-call' });
  const browserZone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  // The handover is at another hour in every other time zone.
  const rota = {
    firstWeek: '2026-11-30',
    shifts: [{ days: [...weekdays], from: '09:07', until: '09:07', people: ['Ana', 'Ben'] }],
  };
  const people = [{ name: 'Ana' }, { name: 'Ben' }];
  await call('POST', '/api/on-call', { name: 'Far', people, rota, timeZone: 'Pacific/Chatham' });
  await call('POST', '/api/on-call', { name: 'Near', people, rota, timeZone: browserZone });
  await page.getByRole('row', { name: /Far.* 09:07 \(Pacific\/Chatham\)/ }).waitFor();
  await page.getByRole('row', { name: /Near.* 09:07 (?!\()/ }).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  const item = (name: string) => page.getByRole('listitem').filter({ hasText: `${name}: ` });
  await item('Far')
    .getByText(/ 09:07 \(Pacific\/Chatham\), then/)
    .waitFor();
  await item('Near')
    .getByText(/ 09:07, then/)
    .waitFor();
  await item('Far').getByRole('link').click();
  const ahead = page.getByRole('region', { name: 'Next two weeks' });
  await ahead.getByRole('heading', { name: 'Next two weeks (Pacific/Chatham)' }).waitFor();
  await ahead.getByText(/09:07/).first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Near' }).click();
  await ahead.getByRole('heading', { name: 'Next two weeks', exact: true }).waitFor();
  for (const { id } of await schedules()) await call('DELETE', `/api/on-call/${id}`);
  expect(errors).toEqual([]);
  await close();
});

test('who may not change a schedule sees who is on call', async () => {
  const rota = {
    firstWeek: '2026-11-30',
    shifts: [{ days: [...weekdays], from: '00:00', until: '24:00', people: ['Ana'] }],
  };
  await call('POST', '/api/on-call', { name: 'Seen', people: [{ name: 'Ana' }], rota });
  const { page, close, errors } = await lab.desk({ path: 'settings/on-call', role: 'viewer' });
  await page.getByRole('button', { name: 'Seen' }).click();
  const dialog = page.getByRole('dialog', { name: 'Seen' });
  await dialog.getByRole('region', { name: 'Next two weeks' }).getByText('Ana').waitFor();
  expect(await dialog.getByRole('button', { name: 'Save' }).count()).toBe(0);
  expect(errors).toEqual([]);
  await close();
});
