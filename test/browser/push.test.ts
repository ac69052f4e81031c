import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { PushPayload } from '#contract/panels/push.ts';
import { eventually } from '../support/eventually.ts';
import { PushServiceStub } from '../support/push-service.ts';
import { accessibilityFaults, faultsInBothSchemes } from './accessibility.ts';
import { DashboardLab } from './dashboard-lab.ts';
import { deliver, subscribeAt } from './push-browser.ts';

let lab: DashboardLab;
let service: PushServiceStub;
beforeAll(async () => {
  service = await PushServiceStub.start();
  lab = await DashboardLab.start(inject('browserPath'), { BELFRY_OUTBOUND_ALLOW: '127.0.0.1' });
});
afterAll(async () => {
  await lab.close();
  await service.close();
});

test('a browser becomes a device by a link, shows what is sent to it, and turns itself off', async () => {
  const { page: desk, close } = await lab.desk({ path: 'settings/channels' });
  await desk.getByRole('button', { name: 'Create channel' }).first().click();
  const dialog = desk.getByRole('dialog');
  await dialog.getByLabel('Type').selectOption('push');
  await dialog.getByLabel('Name').fill('On call');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await desk.getByText('No device yet').waitFor();
  await desk.getByRole('button', { name: 'Add device' }).click();
  await desk.getByRole('img', { name: 'QR code of the link' }).waitFor();
  const link = (await desk.getByRole('link', { name: 'Use this browser' }).getAttribute('href')) ?? '';
  await desk.setViewportSize({ width: 390, height: 844 });
  expect(await faultsInBothSchemes(desk)).toEqual([]);

  const browser = service.subscribe();
  const { page, context, errors } = await lab.window({ viewport: { width: 390, height: 844 } });
  await subscribeAt(context, { endpoint: browser.endpoint, keys: browser.keys });
  await page.goto(`${lab.server.url}/push`);
  await page.getByText('Notifications from this site are blocked').waitFor();
  await page.evaluate(() => {
    dispatchEvent(new Event('allow-again'));
    dispatchEvent(new Event('hashchange'));
  });
  await page.getByLabel('Link from the channel’s page').fill(link);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('“On call”').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  await page.getByLabel('Name of this device').fill('Anna’s phone');
  await page.getByRole('button', { name: 'Turn on notifications' }).click();
  await page.getByRole('heading', { name: 'On: On call' }).waitFor();
  expect(await page.getByRole('status').textContent()).toBe('Notifications from “On call” are on.');
  await page.locator('h1:focus').waitFor();
  expect(new URL(page.url()).hash).toBe('');
  await desk.getByText('“Anna’s phone” was added.').waitFor();
  await page.getByRole('button', { name: 'Send test' }).click();
  await page.getByText('Sent. The notification arrives').waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  const { payload } = service.pushed[0] as { payload: { title: string; url: string } };

  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  // A windowless browser may show no notification: what the worker asks for is what counts.
  await worker.evaluate(() => {
    const scope = self as unknown as {
      shown: unknown[];
      opened: string[];
      counts: number[];
      registration: { showNotification: unknown; getNotifications: unknown };
      clients: { openWindow: unknown };
    };
    scope.shown = [];
    scope.opened = [];
    scope.counts = [];
    scope.registration.showNotification = async (title: string, options: object) =>
      void scope.shown.push({ title, ...options });
    scope.registration.getNotifications = async () => [
      { data: { isOver: false } },
      { data: { isOver: true }, close() {} },
    ];
    Object.defineProperty(navigator, 'setAppBadge', {
      value: async (count: number) => void scope.counts.push(count),
    });
    scope.clients.openWindow = async (url: string) => void scope.opened.push(url);
  });
  const shown = () => worker.evaluate(() => (self as unknown as { shown: unknown[] }).shown);
  await deliver(page, JSON.stringify(payload));
  await eventually(async () =>
    expect(await shown()).toMatchObject([
      {
        title: 'Test of a channel',
        body: expect.stringMatching(/^info\nThis channel works/),
        renotify: true,
      },
    ]),
  );
  await deliver(page, 'not JSON');
  await eventually(async () => expect(await shown()).toMatchObject([{}, { title: 'Belfry' }]));
  const alarm: PushPayload = {
    ...{ title: 'Disk full', body: 'db-1', tag: 'a', url: '/', at: 0, stays: true, isOver: false },
    ...{ actions: ['acknowledge', 'shelve'], secret: 'wrong' },
  };
  await deliver(page, JSON.stringify(alarm));
  await deliver(page, JSON.stringify({ ...alarm, isOver: true, stays: false, actions: [] }));
  await eventually(async () =>
    expect((await shown()).slice(2)).toMatchObject([
      {
        ...{ silent: false, renotify: true, requireInteraction: true, tag: 'a' },
        actions: [
          { action: 'acknowledge', title: 'Acknowledge' },
          { action: 'shelve', title: 'Shelve for 1 h' },
        ],
      },
      { silent: true, renotify: false, requireInteraction: false, tag: 'a', actions: [] },
    ]),
  );
  // The icon of the app counts those that wait for somebody.
  const counts = await worker.evaluate(() => (self as unknown as { counts: number[] }).counts);
  expect(new Set(counts)).toEqual(new Set([1]));
  const pressed = (secret: string) =>
    worker.evaluate(async (own) => {
      const scope = self as unknown as EventTarget & { shown: unknown[] };
      const waits: Promise<unknown>[] = [];
      const event = Object.assign(new Event('notificationclick'), {
        action: 'acknowledge',
        notification: {
          close: () => undefined,
          title: 'Disk full',
          tag: 'a',
          data: { url: '/', secret: own },
        },
        waitUntil: (work: Promise<unknown>) => waits.push(work),
      });
      const before = scope.shown.length;
      scope.dispatchEvent(event);
      await Promise.all(waits);
      return scope.shown.slice(before);
    }, secret);
  // What the server refuses is shown again, and says so.
  expect(await pressed('wrong')).toMatchObject([
    { title: 'Disk full', body: 'That did not work. Tap to open the alarm.', data: { secret: 'wrong' } },
  ]);
  await lab.server.call('POST', '/api/rules', {
    token: await lab.server.key('admin'),
    json: { name: 'all', then: { channels: ['On call'] } },
  });
  await lab.server.notify(await lab.server.token(), {
    ...{ title: 'Disk full', message: '93 %', level: 'error' },
  });
  await eventually(() => expect(service.pushed.at(-1)?.payload.title).toBe('Disk full'));
  expect(await pressed(service.pushed.at(-1)?.payload.secret ?? '')).toEqual([]);
  await eventually(() =>
    expect(service.pushed.at(-1)?.payload).toMatchObject({
      body: expect.stringMatching(/^Acknowledged by device Anna’s phone/),
    }),
  );

  const clicked = (url: string) =>
    worker.evaluate(async (opens) => {
      const scope = self as unknown as EventTarget & { opened: string[] };
      const waits: Promise<unknown>[] = [];
      const event = Object.assign(new Event('notificationclick'), {
        action: '',
        notification: { close: () => undefined, data: { url: opens } },
        waitUntil: (work: Promise<unknown>) => waits.push(work),
      });
      scope.dispatchEvent(event);
      await Promise.all(waits);
      return scope.opened.splice(0);
    }, url);
  expect(await clicked(payload.url)).toEqual([lab.server.url + payload.url]);
  expect(await clicked('https://grafana.example.org/d/1')).toEqual(['https://grafana.example.org/d/1']);
  expect(await clicked('javascript:alert(1)')).toEqual([]);

  const renewed = service.subscribe();
  await worker.evaluate(async ({ endpoint, keys }) => {
    const waits: Promise<unknown>[] = [];
    const event = Object.assign(new Event('pushsubscriptionchange'), {
      newSubscription: { toJSON: () => ({ endpoint, keys }) },
      waitUntil: (work: Promise<unknown>) => waits.push(work),
    });
    (self as unknown as EventTarget).dispatchEvent(event);
    await Promise.all(waits);
  }, renewed);
  await page.getByRole('button', { name: 'Send test' }).click();
  await eventually(() => expect(service.pushed.at(-1)?.path).toBe(renewed.path));

  // Opened again, it tells the server of the subscription that it has.
  await page.reload();
  await page.getByText('Last notification').waitFor();
  await page.getByRole('button', { name: 'Send test' }).click();
  await eventually(() => expect(service.pushed.at(-1)?.path).toBe(browser.path));
  await page.getByRole('button', { name: 'Turn off' }).click();
  await page.getByText('Notifications from “On call” are off.').waitFor();
  expect(await page.evaluate(() => localStorage.getItem('subscribed'))).toBeNull();
  await desk.getByText('No device yet').waitFor();
  await page.goto(link);
  await page.getByText('This link was used or has expired').waitFor();
  expect(errors).toEqual([]);
  await context.close();
  await close();
});
