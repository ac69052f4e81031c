/** The page on which a browser or phone becomes a device of a push channel, is tried, and turned off again. */
import '../fonts.css';
import '../tokens.css';
import './push.css';
import { ApiError } from '#client/api-error.ts';
import { createPushCalls } from '#client/push.ts';
import type { PushLink, PushOwnDevice } from '#contract/push.ts';
import { browserName } from '../browser-name.ts';
import { createTranslate } from '../language.ts';
import { type DeviceView, type Offer, pageOf } from './device-page.ts';
import { type StoredDevice, storeDevices, storedDevices } from './stored-devices.ts';
import { currentSubscription, findObstacle, registerWorker, subscribe, unsubscribe } from './subscribing.ts';
import { de } from './texts/de.ts';
import { en, type PushTexts } from './texts/en.ts';

const languages: { readonly en: PushTexts; readonly de: PushTexts } = { en, de };
const { language, translate: t } = createTranslate(languages, navigator.languages);
const calls = createPushCalls(location.origin);

class NoPermission extends Error {}

function reasonOf(error: unknown): string {
  if (error instanceof NoPermission) return t('notAllowed');
  if (error instanceof ApiError && error.status === 410) return t('linkOver');
  return t('failed', { reason: error instanceof Error ? error.message : String(error) });
}

/** Shows what holds now; `notice`: what was just done, or why it was not. */
async function show(notice?: string): Promise<void> {
  const obstacle = findObstacle();
  const [devices, problem] = obstacle === undefined || obstacle === 'denied' ? await knownDevices() : [[]];
  let said = notice ?? problem;
  let offer: Offer | undefined;
  const secret = location.hash.slice(1);
  if (secret !== '') {
    try {
      offer = offerOf(secret, await calls.link(secret));
    } catch (error) {
      // On a home screen the page opens with the link that it was added with, used long ago.
      if (devices.length === 0) said ??= reasonOf(error);
    }
  }
  document.body.replaceChildren(pageOf({ obstacle, devices, offer, enterLink, notice: said }, t, reasonOf));
}

function offerOf(secret: string, { channel, tenant, publicKey }: PushLink): Offer {
  const { browser, system } = browserName(navigator.userAgent);
  return {
    ...{ channel, tenant },
    name: [browser, system].filter((part) => part !== undefined).join(' · ') || 'Browser',
    async turnOn(name) {
      // Asked for at once: browsers want it to follow a tap.
      if ((await Notification.requestPermission()) !== 'granted') throw new NoPermission();
      const subscription = await subscribe(publicKey);
      const added = await calls.add({ secret, name, subscription });
      const others = await storedDevices();
      await storeDevices([...others, { secret: added.secret, publicKey }]);
      history.replaceState(null, '', location.pathname);
      await show();
    },
  };
}

async function enterLink(text: string): Promise<void> {
  const url = URL.parse(text.trim());
  if (!url || url.origin !== location.origin || url.hash === '') return show(t('notALink'));
  location.hash = url.hash;
}

/** Those that the server still knows; the others are forgotten. With the last of them, the subscription ends. */
async function knownDevices(): Promise<readonly [readonly DeviceView[], (string | undefined)?]> {
  const stored = await storedDevices();
  if (stored.length === 0) return [[]];
  const kept: StoredDevice[] = [];
  const views: DeviceView[] = [];
  let problem: string | undefined;
  for (const each of stored) {
    try {
      views.push(viewOf(each, await calls.device(each.secret)));
      kept.push(each);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) continue;
      kept.push(each);
      problem = reasonOf(error);
    }
  }
  if (kept.length < stored.length) await storeDevices(kept);
  if (kept.length === 0) await unsubscribe();
  else await keepSubscribed(kept);
  return [views, problem];
}

/** Tells the server of the subscription that the browser has now: it may have replaced it. */
async function keepSubscribed(devices: readonly StoredDevice[]): Promise<void> {
  if (Notification.permission !== 'granted') return;
  await registerWorker();
  const subscription = (await currentSubscription()) ?? (await subscribe(devices[0]?.publicKey ?? ''));
  for (const { secret } of devices) await calls.renew(secret, subscription).catch(() => undefined);
}

function viewOf({ secret }: StoredDevice, { channel, tenant, lastDeliveredAt }: PushOwnDevice): DeviceView {
  return {
    ...{ channel, tenant, lastDeliveredAt },
    async test() {
      const { ok, answer } = await calls.test(secret);
      return ok ? t('tested') : t('testFailed', { reason: answer });
    },
    async turnOff() {
      await calls.remove(secret);
      await show(t('off'));
    },
  };
}

const light = matchMedia('(prefers-color-scheme: light)');
const showScheme = () => document.documentElement.classList.toggle('light', light.matches);
light.addEventListener('change', showScheme);
showScheme();
document.documentElement.lang = language;
document.title = `${t('title')} · Belfry`;
addEventListener('hashchange', () => void show());
void show();
