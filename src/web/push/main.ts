/** The page on which a browser or phone becomes a device of a push channel, is tested, and is turned off again. */
import '../fonts.css';
import '../tokens.css';
import './push.css';
import { ApiError, isCode } from '#client/call.ts';
import { createPushCalls } from '#client/push.ts';
import type { PushLink, PushOwnDevice } from '#contract/panels/push.ts';
import { browserName } from '../browser-name.ts';
import { createTranslate } from '../language.ts';
import { createPage, type DeviceView, type Notice, type Offer, type PageState } from './device-page.ts';
import {
  currentSubscription,
  findObstacle,
  isOnHomeScreen,
  registerWorker,
  subscribe,
  unsubscribe,
} from './subscribing.ts';
import { de } from './texts/de.ts';
import { en, type PushTexts } from './texts/en.ts';

const languages: { readonly en: PushTexts; readonly de: PushTexts } = { en, de };
const { language, translate: t } = createTranslate(languages, navigator.languages);
const calls = createPushCalls(location.origin);

/** A device of this browser, stored where its service worker can read it, too. */
interface StoredDevice {
  readonly secret: string;
  /** The server's key that the subscription is for. */
  readonly publicKey: string;
}

const cacheName = 'belfry-push';
const devicesPath = '/push/devices';

class NoPermission extends Error {}
class NotALink extends Error {}

function reasonOf(error: unknown): string {
  if (error instanceof NotALink) return t('notALink');
  // Browsers ask only once. After a refusal, the person must change the browser's settings.
  if (error instanceof NoPermission)
    return t(Notification.permission === 'default' ? 'notAllowed' : 'obstacle.denied');
  if (isCode(error, 'gone')) return t('linkOver');
  return t('failed', { reason: messageOf(error) });
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
const problemOf = (text: string): Notice => ({ text, isProblem: true });
const doneOf = (text: string): Notice => ({ text, isProblem: false });

const page = createPage({ t, reasonOf, enterLink, tryAgain: () => show() });
let shows = 0;

/** Shows the current state. `notice`: the result of the last action; a problem has precedence. */
async function show(notice?: Notice): Promise<void> {
  shows++;
  const own = shows;
  const state = await findState().catch(unknownState);
  // A later call has a newer result.
  if (own === shows) page.show({ ...state, notice: state.notice ?? notice });
}

async function findState(): Promise<PageState> {
  const obstacle = findObstacle();
  const canBeDevice = obstacle === undefined || obstacle === 'denied';
  const [known, link] = await Promise.all([canBeDevice ? findKnown() : noneKnown, findOffer()]);
  const isKnown = known.devices.length > 0 || known.isIncomplete;
  // A page on a home screen opens with its original link, which was used long ago.
  const isOldLink = link.isOver && isKnown && isOnHomeScreen();
  const problem = known.problem ?? (isOldLink ? undefined : link.problem);
  const isIncomplete = known.isIncomplete || link.isUnread === true;
  return { ...known, isIncomplete, obstacle, offer: link.offer, notice: problem };
}

function unknownState(error: unknown): PageState {
  const notice = problemOf(reasonOf(error));
  return { obstacle: findObstacle(), devices: [], isIncomplete: true, offer: undefined, notice };
}

interface LinkState {
  readonly offer: Offer | undefined;
  readonly problem?: Notice;
  readonly isOver?: boolean;
  /** There was no answer, so the link may be valid. */
  readonly isUnread?: boolean;
}

async function findOffer(): Promise<LinkState> {
  const secret = location.hash.slice(1);
  if (secret === '') return { offer: undefined };
  try {
    return { offer: offerOf(secret, await calls.link(secret)) };
  } catch (error) {
    const isUnread = error instanceof ApiError && error.status === 0;
    return { offer: undefined, problem: problemOf(reasonOf(error)), isOver: isCode(error, 'gone'), isUnread };
  }
}

function offerOf(secret: string, { channel, tenant, publicKey }: PushLink): Offer {
  const { browser, system } = browserName(navigator.userAgent);
  return {
    ...{ channel, tenant },
    name: [browser, system].filter((part) => part !== undefined).join(' · ') || 'Browser',
    async turnOn(name) {
      // Requested first, because browsers require a user action.
      if ((await Notification.requestPermission()) !== 'granted') throw new NoPermission();
      const subscription = await subscribe(publicKey);
      const added = await calls.add({ secret, name, subscription });
      const others = await storedDevices();
      await storeDevices([...others, { secret: added.secret, publicKey }]);
      history.replaceState(null, '', location.pathname);
      await show(doneOf(t('turnedOn', { channel })));
    },
  };
}

/** Checks the link before the page changes: an invalid one stays in its field. */
async function enterLink(text: string): Promise<void> {
  const url = URL.parse(text.trim());
  if (!url || url.origin !== location.origin || url.hash === '') throw new NotALink();
  await calls.link(url.hash.slice(1));
  history.replaceState(null, '', url.hash);
  await show();
}

interface KnownDevices {
  readonly devices: readonly DeviceView[];
  readonly isIncomplete: boolean;
  readonly problem?: Notice | undefined;
}

const noneKnown: KnownDevices = { devices: [], isIncomplete: false };

/** The channels of which this browser is a device. Devices that the server has deleted are removed here. */
async function findKnown(): Promise<KnownDevices> {
  const stored = await storedDevices();
  const gone: StoredDevice[] = [];
  const devices: DeviceView[] = [];
  let problem: Notice | undefined;
  const answers = await Promise.allSettled(stored.map(({ secret }) => calls.device(secret)));
  for (const [i, answer] of answers.entries()) {
    const device = stored[i];
    if (!device) continue;
    if (answer.status === 'fulfilled') devices.push(viewOf(device, answer.value));
    else if (isCode(answer.reason, 'not-found')) gone.push(device);
    else problem ??= problemOf(reasonOf(answer.reason));
  }
  const isIncomplete = devices.length + gone.length < stored.length;
  for (const { secret } of gone) await forget(secret);
  if (gone.length > 0) problem ??= problemOf(t('removed'));
  const notReached = await keepSubscribed(await storedDevices());
  return { devices, isIncomplete, problem: problem ?? notReached };
}

/** With the last device, the subscription ends. */
async function forget(secret: string): Promise<void> {
  const others = (await storedDevices()).filter((device) => device.secret !== secret);
  await storeDevices(others);
  // Errors do not matter, because the server sends nothing more.
  if (others.length === 0) await unsubscribe().catch(() => undefined);
}

/** Sends the current subscription to the server, because the browser may have replaced it. Returns a problem if that failed. */
async function keepSubscribed(devices: readonly StoredDevice[]): Promise<Notice | undefined> {
  const [first] = devices;
  if (!first || Notification.permission !== 'granted') return;
  try {
    await registerWorker();
    const subscription = (await currentSubscription()) ?? (await subscribe(first.publicKey));
    const renewals = await Promise.allSettled(devices.map(({ secret }) => calls.renew(secret, subscription)));
    for (const each of renewals) if (each.status === 'rejected') throw each.reason;
    return;
  } catch (error) {
    return problemOf(t('notReached', { reason: messageOf(error) }));
  }
}

function viewOf({ secret }: StoredDevice, own: PushOwnDevice): DeviceView {
  const { channel, tenant, lastDeliveredAt, lastError } = own;
  return {
    ...{ channel, tenant, lastDeliveredAt, isFailing: lastError !== null },
    async test() {
      try {
        const { ok } = await calls.test(secret);
        return ok ? doneOf(t('tested')) : problemOf(t('testFailed'));
      } catch (error) {
        if (!isCode(error, 'not-found')) throw error;
        // It was removed in the meantime; the page shows that.
        await show();
        return;
      }
    },
    async turnOff() {
      await calls.remove(secret).catch((error: unknown) => {
        if (!isCode(error, 'not-found')) throw error;
      });
      await forget(secret);
      await show(doneOf(t('off', { channel })));
    },
  };
}

const light = matchMedia('(prefers-color-scheme: light)');
const showScheme = () => document.documentElement.classList.toggle('light', light.matches);
light.addEventListener('change', showScheme);
showScheme();
document.documentElement.lang = language;
document.title = `${t('title')} · Belfry`;
document.body.replaceChildren(page.main);
addEventListener('hashchange', () => void show());
void show();

async function storedDevices(): Promise<readonly StoredDevice[]> {
  const found = await (await caches.open(cacheName)).match(devicesPath);
  return found ? ((await found.json()) as StoredDevice[]) : [];
}

async function storeDevices(devices: readonly StoredDevice[]): Promise<void> {
  const body = JSON.stringify(devices.map(({ secret, publicKey }) => ({ secret, publicKey })));
  await (await caches.open(cacheName)).put(devicesPath, new Response(body));
}
