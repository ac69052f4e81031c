/** The browser's side of Web Push. */
import type { PushSubscription as SentSubscription } from '#contract/panels/push.ts';

/** Why this browser cannot show notifications. */
export type Obstacle = 'insecure' | 'home-screen' | 'unsupported' | 'denied';

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): {
    createScriptURL(url: string): unknown;
  };
}

const workerUrl = '/push/worker.js';

export function findObstacle(): Obstacle | undefined {
  if (!window.isSecureContext) return 'insecure';
  if (!('serviceWorker' in navigator) || !('PushManager' in window) || !('Notification' in window))
    return isAppleMobile() && !isOnHomeScreen() ? 'home-screen' : 'unsupported';
  return Notification.permission === 'denied' ? 'denied' : undefined;
}

/** An iPad says that it is a Mac. */
function isAppleMobile(): boolean {
  const { userAgent, maxTouchPoints } = navigator;
  return (
    /\b(?:iPhone|iPad|iPod)\b/.test(userAgent) || (/\bMacintosh\b/.test(userAgent) && maxTouchPoints > 1)
  );
}

export const isOnHomeScreen = () => matchMedia('(display-mode: standalone)').matches;

/** Registers the service worker, and again when the server has another one. */
export function registerWorker(): Promise<ServiceWorkerRegistration> {
  return navigator.serviceWorker.register(trustedWorkerUrl() as string, { scope: '/push/' });
}

let trusted: unknown;
/** The page's policy lets this one address become a script, and nothing else. */
function trustedWorkerUrl(): unknown {
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
  trusted ??= trustedTypes
    ? trustedTypes.createPolicy('belfry-push', { createScriptURL: () => workerUrl }).createScriptURL('')
    : workerUrl;
  return trusted;
}

/** The subscription of this browser, new if there is none for this key. */
export async function subscribe(publicKey: string): Promise<SentSubscription> {
  const registration = await registerWorker();
  await whenActive(registration);
  const { pushManager } = registration;
  const known = await pushManager.getSubscription();
  if (known && keyOf(known) !== publicKey) await known.unsubscribe();
  return sent(await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey }));
}

export async function currentSubscription(): Promise<SentSubscription | undefined> {
  const registration = await navigator.serviceWorker.getRegistration('/push/');
  const known = await registration?.pushManager.getSubscription();
  return known ? sent(known) : undefined;
}

export async function unsubscribe(): Promise<void> {
  const registration = await navigator.serviceWorker.getRegistration('/push/');
  await (await registration?.pushManager.getSubscription())?.unsubscribe();
}

function whenActive({ installing, waiting, active }: ServiceWorkerRegistration): Promise<void> {
  const coming = installing ?? waiting;
  if (active || !coming) return Promise.resolve();
  return new Promise((resolve) => {
    coming.addEventListener('statechange', () => {
      // Redundant: it failed, or a newer one has come. Subscribing says what is wrong, if anything is.
      if (coming.state === 'activated' || coming.state === 'redundant') resolve();
    });
  });
}

function keyOf({ options }: PushSubscription): string {
  const bytes = new Uint8Array(options.applicationServerKey ?? new ArrayBuffer(0));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

function sent(subscription: PushSubscription): SentSubscription {
  const { endpoint = '', keys } = subscription.toJSON();
  return { endpoint, keys: { p256dh: keys?.p256dh ?? '', auth: keys?.auth ?? '' } };
}
