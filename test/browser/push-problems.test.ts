import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
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

/** A channel of a tenant of its own, with links to it. */
async function pushChannel() {
  const tenant = `t${randomUUID()}`;
  const key = await lab.server.key('admin', tenant);
  const call = async (method: string, path: string, json?: object) =>
    (await lab.server.call(method, `/api/channels${path}`, { token: key, ...(json && { json }) })).json;
  const { id } = await call('POST', '', { name: 'On call', kind: 'push' });
  return {
    link: async () => (await call('POST', `/${id}/devices`)).link as string,
    async removeAll() {
      for (const device of (await call('GET', `/${id}/devices`)).devices)
        await lab.server.call('DELETE', `/api/channels/${id}/devices/${device.id}`, { token: key });
    },
  };
}

async function deviceWindow(subscription = service.subscribe()) {
  const window = await lab.window({ viewport: { width: 390, height: 844 }, usedOnce: true });
  await subscribeAt(window.context, { endpoint: subscription.endpoint, keys: subscription.keys });
  return window;
}

test('the page of a device says what went wrong as a problem, and what can be done', async () => {
  const { link, removeAll } = await pushChannel();
  const { page, errors, close } = await deviceWindow();
  const button = (name: string) => page.getByRole('button', { name });
  const problem = (text: string) => page.locator('.status.problem', { hasText: text }).waitFor();
  const linkField = page.getByLabel('Link from the channel’s page');

  await page.goto(await link());
  await page.evaluate(() => {
    const granted = Notification.requestPermission;
    Notification.requestPermission = async () => 'denied';
    addEventListener('grant', () => {
      Notification.requestPermission = granted;
    });
  });
  await button('Turn on notifications').click();
  await problem('Allow them in the browser’s settings');
  await page.evaluate(() => dispatchEvent(new Event('grant')));
  await button('Turn on notifications').click();
  await page.getByRole('heading', { name: 'On: On call' }).waitFor();

  // A device can join another channel; what cannot be used stays in the field.
  await page.getByText('Add another channel').click();
  await linkField.fill('no link');
  await button('Continue').press('Enter');
  await problem('This is not a link');
  expect(await linkField.inputValue()).toBe('no link');
  await page.locator('button:focus', { hasText: 'Continue' }).waitFor();
  expect(await faultsInBothSchemes(page)).toEqual([]);
  const other = await pushChannel();
  const second = await other.link();
  await page.route('**/api/push/link', (route) => route.abort());
  await linkField.fill(second);
  await button('Continue').click();
  await problem('That did not work');
  await page.unroute('**/api/push/link');
  await button('Continue').click();
  await button('Turn on notifications').click();
  await page.getByRole('heading', { name: 'On: On call' }).nth(1).waitFor();

  // Removed meanwhile: the page shows that, and forgets it.
  await other.removeAll();
  await button('Send test').nth(1).click();
  await problem('This device was removed from its channel');
  expect(await page.getByRole('heading', { name: 'On: On call' }).count()).toBe(1);
  await removeAll();
  await button('Turn off').click();
  await page.locator('.status:not(.problem)', { hasText: 'are off' }).waitFor();
  await linkField.waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('the page of a device is there, with a reason, when what it needs cannot be reached', async () => {
  const { link } = await pushChannel();
  const { page, errors, close } = await deviceWindow();
  const button = (name: string) => page.getByRole('button', { name });
  const problem = (text: string) => page.locator('.status.problem', { hasText: text }).waitFor();
  const card = page.getByRole('heading', { name: 'On: On call' });
  await page.route('**/api/push/link', (route) => route.abort());
  await page.goto(await link());
  await problem('no answer');
  await page.unroute('**/api/push/link');
  await button('Try again').click();
  await button('Turn on notifications').click();
  await card.waitFor();

  // A proxy's own 404 is no word of the server: the device is kept.
  await page.route('**/api/push/device', (route) => route.fulfill({ status: 404, body: 'no such host' }));
  await page.reload();
  await problem('the server answered 404');
  expect(await page.getByLabel('Link from the channel’s page').count()).toBe(0);
  expect(await accessibilityFaults(page)).toEqual([]);
  await page.unroute('**/api/push/device');
  await button('Try again').click();
  await card.waitFor();
  await page.locator('h1:focus').waitFor();

  let answer: (() => void) | undefined;
  await page.route('**/api/push/device', async (route) => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    await route.continue();
  });
  await page.reload();
  await page.getByText('Loading…').waitFor();
  await eventually(() => expect(answer).toBeDefined());
  answer?.();
  await card.waitFor();
  await page.unroute('**/api/push/device');

  await page.addInitScript(() => {
    PushManager.prototype.getSubscription = async () => null;
    PushManager.prototype.subscribe = () => Promise.reject(new Error('push service error'));
  });
  await page.reload();
  await problem('Notifications may not arrive on this device: push service error');
  await card.waitFor();
  await page.addInitScript(() => {
    caches.open = () => Promise.reject(new Error('storage is blocked'));
  });
  await page.reload();
  await problem('storage is blocked');
  await button('Try again').waitFor();
  expect(errors).toEqual([]);
  await close();
});

test('a subscription that could not be sent to the server is sent again at the next message', async () => {
  const first = service.subscribe();
  const { page, context, close } = await deviceWindow(first);
  for (const { link } of [await pushChannel(), await pushChannel()]) {
    await page.goto(await link());
    await page.getByRole('button', { name: 'Turn on notifications' }).click();
    await page.getByText('are on.').waitFor();
  }
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  const renewed = service.subscribe();
  const requests = await worker.evaluate(async ({ endpoint, keys }) => {
    const scope = self as unknown as EventTarget & {
      registration: ServiceWorkerRegistration & { sync: { register(): Promise<void> } };
    };
    const subscription = { toJSON: () => ({ endpoint, keys }) };
    PushManager.prototype.subscribe = async () => subscription as unknown as PushSubscription;
    scope.registration.showNotification = async () => undefined;
    scope.registration.sync.register = async () => undefined;
    // A browser without windows answers neither.
    scope.registration.getNotifications = async () => [];
    Object.defineProperty(navigator, 'setAppBadge', { value: async () => undefined });
    const send = fetch;
    let count = 0;
    globalThis.fetch = async () => {
      count++;
      if (count === 1) throw new Error('offline');
      return new Response('', { status: 503 });
    };
    const waits: Promise<unknown>[] = [];
    const event = Object.assign(new Event('pushsubscriptionchange'), {
      newSubscription: subscription,
      waitUntil: (work: Promise<unknown>) => waits.push(work),
    });
    scope.dispatchEvent(event);
    await Promise.allSettled(waits);
    globalThis.fetch = send;
    return count;
  }, renewed);
  expect(requests).toBe(2);
  expect(await isRenewalOpen(page)).toBe(true);
  const before = service.pushed.length;
  await deliver(page, JSON.stringify({ title: 'Disk full' }));
  await eventually(async () => expect(await isRenewalOpen(page)).toBe(false));
  for (const at of [0, 1]) await page.getByRole('button', { name: 'Send test' }).nth(at).click();
  await eventually(() =>
    expect(service.pushed.slice(before).map(({ path }) => path)).toEqual([renewed.path, renewed.path]),
  );
  await close();
});

const isRenewalOpen = (page: Page) =>
  page.evaluate(async () => (await caches.match('/push/renewal')) !== undefined);
