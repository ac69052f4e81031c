/**
 * The service worker of /push/: shows what the push service delivers. It is one file without imports, because not every
 * browser loads a service worker as a module.
 */
import type { PushPayload } from '#contract/push-payload.ts';

interface WaitingEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface OpenPage {
  readonly url: string;
  focus(): Promise<unknown>;
}

/** Of the scope of a service worker, what this file uses: the pages' own types do not have it. */
interface WorkerScope {
  readonly registration: ServiceWorkerRegistration;
  readonly location: Location;
  readonly clients: {
    matchAll(of: { type: 'window'; includeUncontrolled: true }): Promise<readonly OpenPage[]>;
    openWindow(url: string): Promise<unknown>;
  };
  skipWaiting(): Promise<void>;
  addEventListener<Event extends WaitingEvent>(type: string, listener: (event: Event) => void): void;
}

interface PushEvent extends WaitingEvent {
  readonly data: { json(): unknown } | null;
}

interface ClickEvent extends WaitingEvent {
  readonly notification: Notification;
}

interface ChangeEvent extends WaitingEvent {
  readonly newSubscription?: PushSubscription | null;
}

const worker = self as unknown as WorkerScope;

// A message that cannot be read is shown, too: browsers end a subscription that stays silent.
const unreadable: PushPayload = {
  ...{ title: 'Belfry', body: '', tag: 'unreadable', url: '/', at: Date.now(), stays: false },
};

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener<PushEvent>('push', (event) => event.waitUntil(show(event.data)));
worker.addEventListener<ClickEvent>('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open((event.notification.data as { readonly url: string }).url));
});
worker.addEventListener<ChangeEvent>('pushsubscriptionchange', (event) =>
  event.waitUntil(renew(event.newSubscription)),
);

async function show(data: PushEvent['data']): Promise<void> {
  const { title, body, tag, url, at, stays } = read(data);
  const options = {
    ...{ body, tag, renotify: true, timestamp: at, requireInteraction: stays },
    ...{ icon: '/push/icon-192.png', badge: '/push/badge.png' },
    data: { url },
  };
  await worker.registration.showNotification(title, options);
}

function read(data: PushEvent['data']): PushPayload {
  try {
    return { ...unreadable, ...(data?.json() as Partial<PushPayload> | undefined) };
  } catch {
    return unreadable;
  }
}

/** A page that shows it already comes to the front. */
async function open(path: string): Promise<void> {
  const url = new URL(path, worker.location.origin);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return;
  const pages = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const known = pages.find((page) => page.url === url.href);
  await (known ? known.focus() : worker.clients.openWindow(url.href));
}

/** The browser has ended the subscription: the server is told of the new one. Names as in stored-devices.ts. */
async function renew(given: PushSubscription | null | undefined): Promise<void> {
  const stored = await (await caches.open('belfry-push')).match('/push/devices');
  const devices = stored ? ((await stored.json()) as { secret: string; publicKey: string }[]) : [];
  const [first] = devices;
  if (!first) return;
  const subscription =
    given ??
    (await worker.registration.pushManager.subscribe({
      ...{ userVisibleOnly: true, applicationServerKey: first.publicKey },
    }));
  const { endpoint, keys } = subscription.toJSON();
  for (const { secret } of devices)
    await fetch('/api/push/device/subscription', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ secret, subscription: { endpoint, keys } }),
    });
}
