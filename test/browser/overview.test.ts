import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { faultsIn } from './accessibility.ts';
import { DashboardLab, type Desk, type DeskOptions } from './dashboard-lab.ts';

let lab: DashboardLab;
let desk: Desk | undefined;
beforeAll(async () => {
  lab = await DashboardLab.start(inject('browserPath'));
});
afterAll(() => lab.close());
afterEach(async () => {
  expect(desk?.errors).toEqual([]);
  await desk?.close();
  desk = undefined;
});

async function open(options: DeskOptions = {}) {
  desk = await lab.desk({ path: 'overview', ...options });
  return desk.page;
}

test('before the first notification it says how to send one, and gives way to it the moment it arrives', async () => {
  const page = await open();
  await page.getByText('No notifications yet').waitFor();
  expect(await page.locator('pre').textContent()).toContain(`curl '${lab.server.url}/api/notify'`);
  await page.getByRole('link', { name: 'Create token' }).waitFor();
  expect(await faultsIn('light', page)).toEqual([]);
  const token = await lab.server.token({ scopes: ['notify'] });
  await lab.server.notify(token, { title: 'The first', message: 'm', level: 'error', host: 'db-1' });
  await page.getByRole('row', { name: /The first/ }).waitFor();
  await page.getByRole('button', { name: '1 error' }).waitFor();
  await page.getByText('No panel is online to show them').waitFor();
});

test('it shows what is on panels, which of them are not well, who sends most and what was refused', async () => {
  const { server } = lab;
  const token = await server.token();
  for (const name of ['Wall', 'Lobby']) await server.call('POST', '/api/panels', { token, json: { name } });
  const wall = await server.panel(token, 'Wall');
  await server.notify(token, { title: 'Noise', message: 'm', host: 'noisy-1', level: 'warning' });
  await server.notify(token, { title: 'Noise', message: 'm', host: 'noisy-1', level: 'critical' });
  await server.notify(token, { title: '' });
  const page = await open();
  const panels = page.locator('section', { hasText: 'Panels with problems' });
  await panels.getByRole('link', { name: 'Lobby' }).waitFor();
  expect(await panels.getByRole('link', { name: 'Wall' }).count()).toBe(0);
  await page.getByText('1 of 2').waitFor();
  await page.getByText('Invalid or missing field').waitFor();
  await page.getByRole('button', { name: 'Show as table' }).click();
  await page.getByRole('columnheader', { name: 'critical' }).waitFor();
  expect(await faultsIn('dark', page)).toEqual([]);
  await page.getByRole('button', { name: /critical noisy-1 2$/ }).click();
  await page.waitForURL(/history\?q=host/);
  expect(new URL(page.url()).searchParams.get('q')).toBe('host:noisy-1 since:24h');
  await page.getByText('2 notifications').waitFor();
  await wall.stream.close();
});

test('what arrives comes in by itself, and opens in history', async () => {
  const page = await open({ role: 'viewer' });
  await page.getByText('Live', { exact: true }).waitFor();
  const token = await lab.server.token({ scopes: ['notify'] });
  await lab.server.notify(token, { title: 'Just now', message: 'm', level: 'info' });
  await page.getByRole('row', { name: /Just now/ }).click();
  await page.getByRole('complementary', { name: 'Notification' }).getByText('Why it').waitFor();
});

test('every page that cannot be refreshed says how old its data is, until it can be', async () => {
  const page = await open();
  const stale = page
    .getByRole('status')
    .getByText(/^Can’t refresh this page. It shows data from \d\d:\d\d.$/);
  const api = /\/api\/(?!history\/stream)/;
  // A proxy whose server is away answers 404 as well as 502.
  for (const [path, text, status] of [
    ['overview', 'Panels with problems', 502],
    ['history', 'The first', 404],
    ['settings/members', 'Ada Byron', 404],
  ] as const) {
    await page.goto(`${lab.server.url}/t/default/${path}`);
    await page.locator('main').getByText(text).first().waitFor();
    expect(await stale.count()).toBe(0);
    await page.route(api, (route) => route.fulfill({ status, body: '<h1>Not from Belfry</h1>' }));
    // As coming back to the tab does.
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange', { bubbles: true })));
    await stale.waitFor();
    await page.locator('main').getByText(text).first().waitFor();
    if (path === 'overview') expect(await faultsIn('light', page)).toEqual([]);
    await page.unroute(api);
    await stale.waitFor({ state: 'detached' });
  }
});

test('one part of a page that cannot be refreshed is said too, by an error or by no answer in time', async () => {
  const page = await open({ usedOnce: true });
  const stale = page.getByText(/^Can’t refresh this page/);
  await page.getByRole('link', { name: 'Lobby' }).waitFor();
  await page.route('**/api/panels', (route) => route.fulfill({ status: 500, json: { error: 'broken' } }));
  await stale.waitFor();
  await page.getByRole('link', { name: 'Lobby' }).waitFor();
  await page.unroute('**/api/panels');
  await stale.waitFor({ state: 'detached' });
  await page.clock.install();
  const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>();
  await page.route('**/api/panels', () => ask());
  await isAsked;
  await page.clock.fastForward(16_000);
  await stale.waitFor();
});

test('panels that need a look are kept up to date', async () => {
  const { server } = lab;
  const token = await server.token();
  const page = await open();
  const panels = page.locator('section', { hasText: 'Panels with problems' });
  await panels.getByRole('link', { name: 'Lobby' }).waitFor();
  const lobby = await server.panel(token, 'Lobby');
  await panels.getByRole('link', { name: 'Lobby' }).waitFor({ state: 'detached' });
  await lobby.stream.close();
  await panels.getByRole('link', { name: 'Lobby' }).waitFor();
});

test('a phone that is away is counted apart, and a problem only where Belfry must report it', async () => {
  const { server } = lab;
  const token = await server.key('admin');
  for (const name of ['Wall', 'Lobby']) await server.call('POST', '/api/panels', { token, json: { name } });
  const made = async (name: string) => {
    const { json } = await server.call('POST', '/api/panels', { token, json: { name, kind: 'phone' } });
    const stream = await server.stream(`/api/panels/${json.id}/events`, await server.token());
    return { id: json.id as string, stream };
  };
  const [iphone, pixel, home] = [await made('iPhone'), await made('Pixel'), await made('Home')];
  await server.call('PATCH', `/api/panels/${pixel?.id}`, {
    token,
    json: { display: { alertWhenLostMs: 5_000 } },
  });
  await iphone?.stream.close();
  await pixel?.stream.close();
  const page = await open();
  const problems = page.locator('section', { hasText: 'Panels with problems' });
  await problems.getByRole('link', { name: 'Pixel' }).waitFor();
  await problems.getByRole('link', { name: 'Lobby' }).waitFor();
  expect(await problems.getByRole('link', { name: 'iPhone' }).count()).toBe(0);
  await page.getByText('Phones: 1 of 3 connected').waitFor();
  await page.getByText('0 of 2', { exact: false }).waitFor();
  // A phone that lags is a problem, and no panel that lags.
  await page.route('**/api/panels', async (route) => {
    const answer = await (await route.fetch()).json();
    const late = (panel: { name: string }) => (panel.name === 'Home' ? { ...panel, lag: 9 } : panel);
    await route.fulfill({ json: { panels: answer.panels.map(late) } });
  });
  await problems.getByText('9 entries behind').waitFor();
  expect(await page.getByText(/lagging/).count()).toBe(0);
  await page.unroute('**/api/panels');
  expect(await faultsIn('light', page)).toEqual([]);
  await home?.stream.close();
});

test('a row that is cleared elsewhere, or expires, is shown as live no more', async () => {
  const { server } = lab;
  const token = await server.token();
  const page = await open();
  await page.getByText('Live', { exact: true }).waitFor();
  const clear = (id: string) => server.call('POST', `/api/notifications/${id}/clear`, { token });
  const stays = (await server.notify(token, { title: 'Stays', message: 'm', ttl: 0 })).json.id;
  await server.notify(token, { title: 'Brief', message: 'm', ttl: 3_000 });
  const [staying, brief] = ['Stays', 'Brief'].map((title) => page.getByRole('row', { name: title }));
  await staying?.getByText('on panels now').waitFor();
  await brief?.getByText('display time is over').waitFor();
  await clear(stays);
  await staying?.getByText('cleared', { exact: true }).waitFor();
});
