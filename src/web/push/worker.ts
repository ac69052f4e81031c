/**
 * The service worker of /push/: shows the messages of the push service. It is built as one file without imports, because not every
 * browser loads a service worker as a module.
 */
import { buttonLabels } from '#contract/panels/button-labels.ts';
import type { PushPayload } from '#contract/panels/push.ts';

interface WaitingEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface OpenPage {
  readonly url: string;
  focus(): Promise<unknown>;
}

/** The part of a service worker's scope that this file uses, because the types of pages do not contain it. */
interface WorkerScope {
  readonly registration: ServiceWorkerRegistration & {
    /** Background Sync, which not every browser has. */
    readonly sync?: { register(tag: string): Promise<void> };
  };
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
  /** The button that was pressed; empty: none. */
  readonly action: string;
}

/** What a shown notification remembers. */
interface Shown {
  readonly url: string;
  readonly secret: string;
  readonly isOver: boolean;
}

interface ChangeEvent extends WaitingEvent {
  readonly newSubscription?: PushSubscription | null;
}

const worker = self as unknown as WorkerScope;

// An unreadable message is shown too, because browsers end a subscription without visible notifications.
const unreadable: PushPayload = {
  ...{ title: 'Belfry', body: '', tag: 'unreadable', url: '/', at: Date.now(), stays: false },
  ...{ isOver: false, actions: [], secret: '' },
};

const language = navigator.language.startsWith('de') ? 'de' : 'en';
const failed = {
  en: 'That did not work. Tap to open the alarm.',
  de: 'Es hat nicht geklappt. Tippen Sie, um den Alarm zu öffnen.',
};

/** How long the last message about an alarm that needs nobody any more is shown. */
const overMs = 8_000;

worker.addEventListener('install', (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener<PushEvent>('push', (event) => {
  event.waitUntil(show(event.data));
  event.waitUntil(renewAgain().catch(() => undefined));
});
worker.addEventListener<ClickEvent>('notificationclick', (event) => {
  const { notification, action } = event;
  notification.close();
  const { url } = notification.data as Shown;
  event.waitUntil(action === '' ? open(url).then(showCount) : act(notification, action));
});
worker.addEventListener('notificationclose', (event) => event.waitUntil(showCount()));
worker.addEventListener<ChangeEvent>('pushsubscriptionchange', (event) =>
  event.waitUntil(renew(event.newSubscription)),
);
worker.addEventListener('sync', (event) => event.waitUntil(renewAgain()));

async function show(data: PushEvent['data']): Promise<void> {
  const { title, body, tag, url, at, stays, isOver, actions, secret } = read(data);
  const options = {
    ...{ body, tag, renotify: !isOver, silent: isOver, timestamp: at, requireInteraction: stays },
    ...{ icon: '/push/icon-192.png', badge: '/push/badge.png' },
    actions: actions.map((action) => ({ action, title: buttonLabels[action][language] })),
    data: { url, secret, isOver } satisfies Shown,
  };
  await worker.registration.showNotification(title, options);
  await takeOverAway(tag);
  await showCount();
  // Browsers want each message to be shown. It is taken away once this event has ended, or with the next message.
  if (isOver) setTimeout(() => void takeOverAway(), overMs);
}

const isOver = ({ data }: Notification) => (data as Shown | null)?.isOver === true;

async function takeOverAway(except?: string): Promise<void> {
  for (const each of await worker.registration.getNotifications())
    if (isOver(each) && each.tag !== except) each.close();
}

/** On the icon of the app, where the system has one: how many alarms are shown that wait for somebody. */
async function showCount(): Promise<void> {
  const shown = await worker.registration.getNotifications();
  const count = shown.filter((each) => !isOver(each)).length;
  const { setAppBadge } = navigator as { setAppBadge?: (count: number) => Promise<void> };
  // Nothing waits for it: it is for looks, and some browsers never answer.
  void setAppBadge?.call(navigator, count).catch(() => undefined);
}

/** A button was pressed. If the server did not do it, the notification is shown again, and says so. */
async function act({ title, tag, data }: Notification, action: string): Promise<void> {
  const { secret } = data as Shown;
  const isDone = await post('/api/push/device/act', { secret, action }).then(
    ({ ok }) => ok,
    () => false,
  );
  if (!isDone) {
    const icons = { icon: '/push/icon-192.png', badge: '/push/badge.png' };
    await worker.registration.showNotification(title, { body: failed[language], tag, data, ...icons });
  }
  await showCount();
}

function read(data: PushEvent['data']): PushPayload {
  try {
    return { ...unreadable, ...(data?.json() as Partial<PushPayload> | undefined) };
  } catch {
    return unreadable;
  }
}

/** If a page with this URL is open, it gets the focus. */
async function open(path: string): Promise<void> {
  const url = new URL(path, worker.location.origin);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return;
  const pages = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const known = pages.find((page) => page.url === url.href);
  await (known ? known.focus() : worker.clients.openWindow(url.href));
}

/** Exists while the server may not know the subscription of each device. */
const unfinished = '/push/renewal';
const openCache = () => caches.open('belfry-push');

/**
 * The browser has replaced the subscription: sends the new one to the server for each device. After a failure it is retried when
 * the browser is online, if it supports that, and at the next message. The names are those of stored-devices.ts.
 */
async function renew(given: PushSubscription | null | undefined): Promise<void> {
  const cache = await openCache();
  const stored = await cache.match('/push/devices');
  const devices = stored ? ((await stored.json()) as { secret: string; publicKey: string }[]) : [];
  const [first] = devices;
  if (!first) return;
  await cache.put(unfinished, new Response());
  try {
    const subscription =
      given ??
      (await worker.registration.pushManager.subscribe({
        ...{ userVisibleOnly: true, applicationServerKey: first.publicKey },
      }));
    const { endpoint, keys } = subscription.toJSON();
    const renewals = devices.map(({ secret }) => sendRenewal({ secret, subscription: { endpoint, keys } }));
    for (const each of await Promise.allSettled(renewals)) if (each.status === 'rejected') throw each.reason;
    await cache.delete(unfinished);
  } catch (error) {
    await worker.registration.sync?.register('renew').catch(() => undefined);
    throw error;
  }
}

async function renewAgain(): Promise<void> {
  if (await (await openCache()).match(unfinished)) await renew(null);
}

/** @throws Error when the server did not accept it. An unknown device needs no subscription. */
async function sendRenewal(device: {
  readonly secret: string;
  readonly subscription: object;
}): Promise<void> {
  const response = await post('/api/push/device/subscription', device);
  if (!response.ok && !response.headers.get('belfry-error')?.startsWith('not-found'))
    throw new Error(`the server answered ${response.status}`);
}

const post = (path: string, body: object) =>
  fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
