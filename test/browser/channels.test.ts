import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { Receiver } from '../support/receiver.ts';
import { faultsIn, faultsInBothSchemes } from './accessibility.ts';
import { DashboardLab } from './dashboard-lab.ts';

let lab: DashboardLab;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await Receiver.start();
  lab = await DashboardLab.start(inject('browserPath'), { BELFRY_OUTBOUND_ALLOW: '127.0.0.1' });
});
afterAll(async () => {
  await lab.close();
  await receiver.close();
});

test('a channel is made, tried, chosen in a rule and looked after, on a phone too', async () => {
  const { page, close } = await lab.desk({ path: 'settings/channels' });
  await page.getByText('No channels').waitFor();
  await page.getByRole('button', { name: 'Create channel' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Ops hook');
  // The server's error is read with its field, which has the focus.
  const url = dialog.getByLabel('URL');
  await url.fill('ftp://example.org');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect.poll(() => url.evaluate((field) => field === document.activeElement)).toBe(true);
  expect(await url.evaluate((field) => field.getAttribute('aria-describedby'))).toMatch(/error/);
  await url.fill(`${receiver.url}/hook`);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('It is shown once').waitFor();
  // The key is nowhere else: nothing but the button closes this.
  await page.keyboard.press('Escape');
  expect(await dialog.getByRole('button', { name: 'Close' }).count()).toBe(0);
  await page.getByRole('button', { name: 'I’ve saved it' }).click();
  await dialog.getByRole('button', { name: 'Generate new key' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('It is shown once').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'I’ve saved it' }).click();
  await page.getByRole('button', { name: 'Send test' }).click();
  await page.getByText(/Delivered in \d+\u00a0m?s \(200 ok\)/).waitFor();
  expect(receiver.received[0]?.json.data.title).toBe('Test of a channel');
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Ops hook' }).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await close();
});

test('a new channel, and a key that is shown once, are not lost unasked: by Esc, a click beside it, or the way back', async () => {
  const { page, close } = await lab.desk({ path: 'settings/levels' });
  await page.getByRole('link', { name: 'Channels' }).click();
  const dialog = page.getByRole('dialog', { name: 'Create channel' });
  const leaves = [
    () => page.keyboard.press('Escape'),
    () => page.mouse.click(20, 400),
    () => page.goBack(),
  ] as const;
  await page.getByRole('button', { name: 'Create channel' }).first().click();
  await dialog.getByLabel('Name').fill('Unfinished');
  const question = page.getByRole('dialog', { name: 'Discard your changes?' });
  for (const leave of leaves) {
    await leave();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Unfinished');
  }
  await dialog.getByLabel('URL').fill(`${receiver.url}/unfinished`);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('It is shown once').waitFor();
  await page.goBack();
  const keyQuestion = page.getByRole('dialog', { name: 'Close without the key?' });
  await keyQuestion.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('button', { name: 'I’ve saved it' }).click();
  await page.getByRole('dialog', { name: 'Unfinished' }).getByRole('button', { name: 'Send test' }).waitFor();
  // What is made is not made again by the way back.
  await page.goBack();
  await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  await page.getByRole('row', { name: 'Unfinished' }).waitFor();
  await close();
});

test('an optional secret is removed; why a channel fails and when it is tried again stands in the list, the form and the drawer', async () => {
  const token = await lab.server.key('admin');
  const make = (path: string, json: object) => lab.server.call('POST', path, { token, json });
  const { json: channel } = await make('/api/channels', {
    ...{ name: 'Night hook', kind: 'webhook', settings: { url: `${receiver.url}/night` } },
    secrets: { authorization: 'Bearer x' },
  });
  await make('/api/rules', { name: 'to the night', then: { channels: ['Night hook'] }, continue: true });
  receiver.answer = () => ({ status: 500, body: 'out of order' });
  const sender = await lab.server.token({ scopes: ['notify'] });
  await lab.server.notify(sender, { title: 'Cold store', message: '9 °C' });
  const { page, close, errors } = await lab.desk({ path: 'settings/channels' });
  const row = page.getByRole('row', { name: 'Night hook' });
  await row.getByText(/out of order/).waitFor();
  await row.getByText(/Next attempt in|Trying again now/).waitFor();
  await row.getByRole('button', { name: 'Night hook' }).click();
  const drawer = page.getByRole('dialog', { name: 'Night hook' });
  await drawer.getByText(/^Failing for/).waitFor();
  await drawer.getByRole('button', { name: 'Remove: Authorization header' }).click();
  expect(await faultsIn('light', page)).toEqual([]);
  await drawer.getByRole('button', { name: 'Save' }).click();
  await drawer.getByText('Saved', { exact: true }).waitFor();
  const { json } = await lab.server.call('GET', '/api/channels', { token });
  expect(json.channels.find(({ id }: { id: string }) => id === channel.id).secrets).toEqual(['signingKey']);
  await page.goto(`${lab.server.url}/t/default/history`);
  await page.getByText('Cold store').click();
  const deliveries = page
    .getByRole('complementary')
    .locator('section', { has: page.getByRole('heading', { name: 'Channels' }) });
  await deliveries.getByText(/not delivered yet, \d+ attempts?/).waitFor();
  await deliveries.getByText(/out of order/).waitFor();
  receiver.answer = undefined;
  // What was changed is tried at once.
  await lab.server.call('PATCH', `/api/channels/${channel.id}`, { token, json: { name: 'Night hook' } });
  await deliveries.getByText(/delivered after .*, \d+ attempts/).waitFor();
  await deliveries.getByRole('link', { name: 'Night hook' }).click();
  await page.getByRole('dialog', { name: 'Night hook' }).waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('a channel to a broker has its choices; what is chosen first is what holds without one', async () => {
  const { page, close } = await lab.desk({ path: 'settings/channels' });
  await page.getByRole('button', { name: 'Create channel' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Type').selectOption('mqtt');
  await dialog.getByLabel('Name').fill('Home');
  await dialog.getByLabel('URL').fill('mqtts://broker.example.org');
  await dialog.getByLabel('Topic', { exact: true }).fill('alerts/{level}');
  await dialog.getByLabel('Retain').selectOption({ label: 'Yes, the broker keeps the last one' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Send test' }).waitFor();
  const { json } = await lab.server.call('GET', '/api/channels', { token: await lab.server.key('admin') });
  expect(json.channels.find(({ name }: { name: string }) => name === 'Home').settings).toEqual({
    ...{ url: 'mqtts://broker.example.org', topic: 'alerts/{level}', retain: 'true' },
  });
  await close();
});

test('what a channel is told about alarms is chosen, and its deliveries say what they were about', async () => {
  const token = await lab.server.key('admin');
  const make = (path: string, json: object) => lab.server.call('POST', path, { token, json });
  const channel = await receiver.webhook(
    (method, path, json) => lab.server.call(method, path, { token, json }),
    { name: 'Told' },
  );
  await make('/api/rules', {
    name: 'to it',
    when: { key: ['told'] },
    then: { channels: ['Told'] },
    continue: true,
  });
  const { page, close, errors } = await lab.desk({ path: `settings/channels?id=${channel.id}` });
  const dialog = page.getByRole('dialog');
  const choice = dialog.getByLabel('Also send');
  await choice.selectOption({ label: 'Acknowledged, shelved, reopened and cleared alarms' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  const settingsOf = async () => {
    const { json } = await lab.server.call('GET', '/api/channels', { token });
    return json.channels.find(({ id }: { id: string }) => id === channel.id).settings;
  };
  await expect.poll(settingsOf).toMatchObject({ updates: 'all' });
  const sent = await lab.server.notify(await lab.server.token(), {
    ...{ title: 'Fan failed', message: 'm', level: 'error', key: 'told' },
  });
  await make(`/api/alarms/${sent.json.id}/acknowledge`, {});
  const log = dialog.getByRole('region', { name: 'Deliveries' });
  await log.getByText(/Fan failed.*acknowledged · delivered/).waitFor();
  expect(await log.getByRole('listitem').count()).toBe(2);
  await page.goto(`${lab.server.url}/t/default/history?id=${sent.json.id}`);
  await page.getByText(/^Told Acknowledged: delivered after/).waitFor();
  await page.getByText(/^Told delivered after/).waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('a Web Push channel without a device does not look as if it worked, and a link that is over is said to be', async () => {
  const token = await lab.server.key('admin');
  await lab.server.call('POST', '/api/channels', { token, json: { name: 'Phones', kind: 'push' } });
  const { page, close } = await lab.desk({ path: 'settings/channels' });
  const row = page.getByRole('row', { name: 'Phones' });
  await row.getByText('No device').waitFor();
  await row.getByRole('button', { name: 'Phones' }).click();
  await page.route('**/devices', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback();
    const response = await route.fetch();
    const made = { ...(await response.json()), expiresAt: new Date(Date.now() + 1_000).toISOString() };
    return route.fulfill({ response, json: made });
  });
  await page.getByRole('button', { name: 'Add device' }).click();
  await page.getByText('The link has expired.').waitFor();
  expect(await page.getByRole('img', { name: 'QR code of the link' }).count()).toBe(0);
  await page.getByRole('button', { name: 'New link' }).waitFor();
  await close();
});

test('with a secret for what comes, the drawer shows the address to enter in the other system', async () => {
  const token = await lab.server.key('admin');
  const { json: channel } = await lab.server.call('POST', '/api/channels', {
    ...{ token, json: { name: 'Pager', kind: 'pagerduty', secrets: { routingKey: 'r' } } },
  });
  const { page, close, errors } = await lab.desk({ path: 'settings/channels' });
  await page.getByRole('button', { name: 'Pager' }).click();
  const drawer = page.getByRole('dialog', { name: 'Pager' });
  const secret = drawer.getByLabel('Webhook secret');
  await secret.fill('short');
  await drawer.getByRole('button', { name: 'Save' }).click();
  await drawer.getByText('Enter 16 to 256 characters without spaces.').waitFor();
  expect(await drawer.getByText('Address for answers').count()).toBe(0);
  await secret.fill('a-secret-of-some-length');
  await drawer.getByRole('button', { name: 'Save' }).click();
  await drawer.getByText(`${lab.server.url}/api/answers/default/${channel.id}`).waitFor();
  await drawer.getByText('Address for answers', { exact: true }).waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  // The refusal of the short secret.
  expect(errors.filter((error) => !/400/.test(error))).toEqual([]);
  await close();
});

test('why no answers come stands in the list, and in the drawer since when', async () => {
  const token = await lab.server.key('admin');
  receiver.answer = () => ({ status: 401, body: '{"ok":false,"description":"Unauthorized"}' });
  const settings = { url: receiver.url, chat: '-100', polling: 'on' };
  await lab.server.call('POST', '/api/channels', {
    ...{ token, json: { name: 'Chat', kind: 'telegram', settings, secrets: { token: '1:x' } } },
  });
  const { page, close, errors } = await lab.desk({ path: 'settings/channels' });
  const row = page.getByRole('row', { name: 'Chat' });
  const problem = 'Telegram answered 401: Unauthorized; is the token of the bot right?';
  await row.getByText(problem).waitFor();
  await row.getByText('Cannot fetch answers').waitFor();
  await row.getByRole('button', { name: 'Chat' }).click();
  const drawer = page.getByRole('dialog', { name: 'Chat' });
  await drawer.getByText(/^Cannot fetch answers for/).waitFor();
  await drawer.getByText(problem).waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await drawer.getByLabel('Buttons without a public address').selectOption({ label: 'No' });
  await drawer.getByRole('button', { name: 'Save' }).click();
  await drawer.getByText(/^Cannot fetch answers for/).waitFor({ state: 'detached' });
  receiver.answer = undefined;
  expect(errors).toEqual([]);
  await close();
});
