/** A browser that is a device of a push channel, in tests: its push service is the test's. */
import type { BrowserContext, Page } from 'playwright-core';
import type { PushSubscription } from '#contract/panels/push.ts';

/** The browser's subscription is one at the test's push service: there is no other here. */
export async function subscribeAt(context: BrowserContext, subscription: PushSubscription): Promise<void> {
  await context.addInitScript(({ endpoint, keys }) => {
    let isOn = localStorage.getItem('subscribed') !== null;
    const set = (on: boolean) => {
      isOn = on;
      if (on) localStorage.setItem('subscribed', '');
      else localStorage.removeItem('subscribed');
      return true;
    };
    const made = {
      toJSON: () => ({ endpoint, keys, expirationTime: null }),
      options: { applicationServerKey: null },
      unsubscribe: async () => set(false),
    };
    // A browser without windows has blocked notifications for good.
    let permission = 'denied';
    Object.defineProperty(Notification, 'permission', { get: () => (isOn ? 'granted' : permission) });
    Notification.requestPermission = async () => {
      permission = 'granted';
      return permission as NotificationPermission;
    };
    addEventListener('allow-again', () => {
      permission = 'default';
    });
    Object.assign(PushManager.prototype, {
      getSubscription: async () => (isOn ? made : null),
      subscribe: async () => set(true) && made,
    });
  }, subscription);
}

/** What a push service would deliver to the browser, decrypted. */
export async function deliver(page: Page, data: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      for (const each of registrations) if (!each.isDeleted) resolve(each.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  const origin = new URL(page.url()).origin;
  await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId: await registered, data });
  await session.detach();
}
