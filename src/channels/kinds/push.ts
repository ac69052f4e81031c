/** A notification to the devices of a channel, over the push services of their browsers. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Button, buttonsOf } from '#contract/panels/buttons.ts';
import type { PushPayload, PushSubscription } from '#contract/panels/push.ts';
import type {
  ChannelRecord,
  PushAttempt,
  PushDeviceRef,
  PushDevices,
  PushService,
} from '#core/channels/channels.ts';
import { badField } from '#core/errors.ts';
import { createSealer } from '#core/people/secrets.ts';
import { clip, clipBytes, inBytes, messageText } from '#core/routing/message-text.ts';
import type { Outbound } from '#outbound/outbound.ts';
import { answerLine, createMask, pauseOf } from '../delivery-answer.ts';
import {
  type OutgoingNotification,
  type OutgoingUpdate,
  originOf,
  type SendResult,
  severityOf,
  updateText,
} from '../message.ts';
import {
  derivePushKeys,
  encryptPush,
  isUsableSubscription,
  mostPushBytes,
  type PushKeys,
  pushAuthorization,
} from './push-encryption.ts';

export interface PushTarget {
  readonly id: string;
  readonly name: string;
  /** undefined if it has ended, or was encrypted with another key. */
  readonly subscription: PushSubscription | undefined;
  /** The push service no longer knows it. */
  readonly hasEnded: boolean;
  /** The last attempt failed. */
  readonly isFailing: boolean;
  /** An earlier attempt delivered the message to it. */
  readonly hasIt: boolean;
  /** With which it acts on the alarm. */
  readonly actionSecret: string;
}

interface Attempted extends Pick<PushAttempt, 'id' | 'error'> {
  /** The push service no longer knows the subscription. */
  readonly isGone: boolean;
}

/** The devices of a channel. */
export interface PushAudience {
  readonly targets: readonly PushTarget[];
  readonly keys: PushKeys;
  /** A contact for the operators of push services: a https or mailto URL. */
  readonly contact: string | undefined;
  /** The result includes the text of push services, not only the status. Only admins may see it. */
  readonly isDetailed: boolean;
  readonly actions: readonly Button[];
  /** Devices without an attempt are not included. */
  record(attempts: readonly Attempted[]): Promise<void>;
}

interface Options {
  readonly outbound: Outbound;
  /** What happened to the alarm of the notification. */
  readonly update?: OutgoingUpdate | undefined;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

interface Outcome {
  readonly state: 'delivered' | 'gone' | 'refused' | 'retry' | 'untried';
  readonly answer: string;
  /** The answer with the text of the push service. */
  readonly detail?: string;
  readonly retryAfterMs?: number | undefined;
}

/** The time limit of one request. */
const deviceMs = 8_000;
/** No request begins later than this after the start of an attempt, so that all end within the lease. */
const beginMs = 37_000;
/**
 * The same for devices that failed before, when there are others, so that dead devices delay the others by at most one time
 * limit.
 */
const failingBeginMs = 2_000;
const atOnce = 10;
/** The longest pause before a second request to a device within an attempt; a longer one is left to the next attempt. */
const shortPauseMs = 1_000;
const longPauseMs = 10_000;
const refusals = [400, 401, 403, 413, 415, 422];
const dayMs = 24 * 3_600_000;
const hourMs = 3_600_000;
const untried: Outcome = { state: 'untried', answer: 'there was no time left for it' };
const unknown = 'the push service no longer knows it: open its page on the device, or add it again';

/**
 * One request a device. A device that fails is tried once more at once, unless it failed before; those that failed before have
 * places of their own, so that they hold up nobody else. The notification counts as delivered when any device got it and each
 * of the others was tried, as far as it did not fail before: waiting for them would hold up what follows.
 */
export async function sendPush(
  audience: PushAudience | undefined,
  notification: OutgoingNotification,
  options: Options,
): Promise<SendResult> {
  const { targets = [] } = audience ?? {};
  if (!audience || targets.length === 0)
    return { outcome: 'failed', answer: 'the channel has no device: add one', isFinal: true };
  const { now, signal, update } = options;
  const outcomes = new Map<string, Outcome>(
    targets.map(({ id, hasIt }) => [id, hasIt ? { state: 'delivered', answer: 'has it already' } : untried]),
  );
  const message = messageFor(audience, notification, update);
  const began = now();
  const round = (chosen: readonly PushTarget[], withinMs = beginMs) =>
    eachOf(
      chosen,
      async (target) => {
        outcomes.set(target.id, await sendTo(target, audience, message(target), options));
      },
      () => signal.aborted || now() - began > withinMs,
    );
  const first = targets.filter(({ hasIt }) => !hasIt);
  const [failing, working] = [first.filter(isFailing), first.filter((each) => !isFailing(each))];
  const areAlone = failing.length === targets.length;
  await Promise.all([round(working), round(shuffled(failing), areAlone ? beginMs : failingBeginMs)]);
  const again = working.filter(({ id }) => isWorthAnother(outcomes.get(id)));
  // If no device got it, the channel waits and tries all of them again.
  if (again.length > 0 && [...outcomes.values()].some(({ state }) => state === 'delivered')) {
    const pause = Math.max(...again.map(({ id }) => outcomes.get(id)?.retryAfterMs ?? shortPauseMs));
    if (now() - began + pause < beginMs) {
      await sleep(pause, undefined, { signal }).catch(() => undefined);
      await round(again);
    }
  }
  await audience.record(first.flatMap(({ id }) => attemptOf(id, outcomes.get(id))));
  return resultOf(audience, outcomes, signal.aborted);
}

const isFailing = (target: PushTarget) => target.isFailing;

/** Random order, so that a device that works again gets its turn among many that fail. */
const shuffled = <T>(all: readonly T[]): T[] =>
  all
    .map((each) => [Math.random(), each] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, each]) => each);

const isWorthAnother = (outcome: Outcome | undefined) =>
  outcome?.state === 'retry' && (outcome.retryAfterMs ?? 0) <= longPauseMs;

function attemptOf(id: string, { state, answer }: Outcome = untried): Attempted[] {
  if (state === 'untried') return [];
  return [{ id, error: state === 'delivered' ? null : answer, isGone: state === 'gone' }];
}

/** Runs a few at once, in order, until the time is over. */
async function eachOf(
  targets: readonly PushTarget[],
  work: (target: PushTarget) => Promise<void>,
  isOver: () => boolean,
) {
  const waiting = [...targets];
  const worker = async () => {
    while (waiting.length > 0 && !isOver()) await work(waiting.shift() as PushTarget);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function sendTo(
  { subscription, hasEnded }: PushTarget,
  { keys, contact }: PushAudience,
  { text, headers }: PushMessage,
  { outbound, now, signal }: Options,
): Promise<Outcome> {
  if (hasEnded) return { state: 'gone', answer: unknown };
  if (!subscription)
    return { state: 'refused', answer: 'it was added with another key of the server: add it again' };
  try {
    const authorization = pushAuthorization(keys, subscription.endpoint, { contact, now: now() });
    const response = await outbound.request(
      {
        ...{ url: subscription.endpoint, method: 'POST' },
        headers: { ...headers, authorization },
        bytes: encryptPush(Buffer.from(text), subscription),
      },
      { timeoutMs: deviceMs, signal },
    );
    const { status } = response;
    const answer = `answered ${status}`;
    const detail = answerLine(response, createMask([subscription.endpoint]));
    if (status >= 200 && status < 300) return { state: 'delivered', answer };
    if (status === 404 || status === 410) return { state: 'gone', answer: `${answer}: ${unknown}` };
    if (refusals.includes(status)) return { state: 'refused', answer, detail };
    return { state: 'retry', answer, detail, retryAfterMs: pauseOf(response, now()) };
  } catch (error) {
    // The server is stopping, so this is not an error of the device.
    if (signal.aborted) return untried;
    return { state: 'retry', answer: error instanceof Error ? error.message : String(error) };
  }
}

interface PushMessage {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The same for all devices, but for the secret with which each of them acts. */
function messageFor(
  { actions }: PushAudience,
  notification: OutgoingNotification,
  update: OutgoingUpdate | undefined,
): (target: PushTarget) => PushMessage {
  const headers = headersOf(notification, update);
  if (notification.state !== 'open' || actions.length === 0) {
    const text = payloadOf(notification, { update });
    return () => ({ text, headers });
  }
  return ({ actionSecret }) => ({
    text: payloadOf(notification, { update, actions, secret: actionSecret }),
    headers,
  });
}

const isOver = (update: OutgoingUpdate | undefined) =>
  update !== undefined && ['acknowledged', 'shelved', 'ended'].includes(update.event);

function headersOf(
  notification: OutgoingNotification,
  update: OutgoingUpdate | undefined,
): Readonly<Record<string, string>> {
  const { ttl } = notification;
  const isUrgent = !isOver(update) && isSevere(notification);
  // The push service keeps the message for a phone that is off: as long as panels show it, but an hour to a day.
  const keptMs = ttl === 0 ? dayMs : Math.min(dayMs, Math.max(hourMs, ttl));
  return {
    'content-type': 'application/octet-stream',
    'content-encoding': 'aes128gcm',
    ttl: String(Math.round(keptMs / 1000)),
    urgency: isUrgent ? 'high' : 'normal',
    // The push service keeps only the last message of a topic.
    topic: topicOf(notification),
  };
}

const isSevere = (notification: OutgoingNotification) =>
  ['error', 'critical'].includes(severityOf(notification));

/** One for each alarm. */
const topicOf = ({ tenant, alarm }: OutgoingNotification): string =>
  createHash('sha256').update(`${tenant}\n${alarm}`).digest('base64url').slice(0, 32);

/** With less room than this for the text, in bytes, the instructions are left out. */
const leastForInstructions = 600;

interface PayloadOptions {
  readonly update?: OutgoingUpdate | undefined;
  readonly actions?: readonly Button[];
  readonly secret?: string;
}

/** Fits into one message: the text is shortened first, and a very long link is replaced by one to the dashboard. */
export function payloadOf(
  notification: OutgoingNotification,
  { update, actions = [], secret = '' }: PayloadOptions = {},
): string {
  const { id, tenant, title, message, url, receivedAt } = notification;
  const link = url !== null && Buffer.byteLength(url) <= 1_024 ? url : undefined;
  const payload = {
    title,
    tag: topicOf(notification),
    url: link ?? `/t/${tenant}/history?id=${id}`,
    at: update?.at ?? receivedAt,
    stays: !isOver(update) && isSevere(notification),
    isOver: isOver(update),
    ...{ actions, secret },
  };
  const origin = clipBytes(originOf(notification), 300);
  const first = update ? `${clipBytes(updateText(update), 600)}\n${origin}` : origin;
  const bodyOf = (most: number) => {
    if (isOver(update)) return clipBytes(first, most);
    const instructions = most < leastForInstructions ? null : notification.instructions;
    const room = Math.max(10, most - Buffer.byteLength(first) - 1);
    return clipBytes(`${first}\n${messageText({ message, instructions }, room, inBytes)}`, most);
  };
  for (let most = 2_400; ; most = Math.floor(most / 2)) {
    const text = JSON.stringify({ ...payload, body: bodyOf(most) } satisfies PushPayload);
    if (Buffer.byteLength(text) <= mostPushBytes || most < 10) return text;
  }
}

function resultOf(
  { targets, isDetailed }: PushAudience,
  outcomes: ReadonlyMap<string, Outcome>,
  isStopping: boolean,
): SendResult {
  const all = targets.map((target) => ({ ...target, ...(outcomes.get(target.id) ?? untried) }));
  const missed = all.filter(({ state }) => state !== 'delivered');
  const waiting = missed.filter(({ state }) => state === 'retry' || state === 'untried');
  const isIncomplete = waiting.some((each) => isStopping || (each.state === 'untried' && !each.isFailing));
  const reached = all.length - missed.length;
  const sent = `sent to ${reached} of ${all.length} device${all.length === 1 ? '' : 's'}`;
  const whom = missed.map(({ name, answer, detail = answer }) => ({
    name,
    answer: isDetailed ? detail : answer,
  }));
  const answer = [sent, ...reasonsOf(whom)].join('; ');
  if (reached > 0 && !isIncomplete) return { outcome: 'delivered', answer };
  const pauses = waiting.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const retryAfterMs = pauses.length === waiting.length ? Math.min(...pauses) : undefined;
  if (waiting.length > 0)
    return { outcome: 'retry', answer, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const isFinal = missed.every(({ state }) => state === 'gone');
  return { outcome: 'failed', answer, isFinal };
}

/** The most characters of names in a result: the record of a delivery holds 300 characters. */
const namesChars = 120;

/** The devices that did not get it, by reason. Names without room are only counted. */
function reasonsOf(missed: readonly { readonly name: string; readonly answer: string }[]): string[] {
  const byReason = [...Map.groupBy(missed, ({ answer }) => answer)];
  return byReason.map(([reason, devices]) => {
    const names = devices.map(({ name }) => clip(name, 40));
    let shown = names.length;
    while (shown > 1 && names.slice(0, shown).join(', ').length > namesChars / byReason.length) shown -= 1;
    const more = shown < names.length ? ` and ${names.length - shown} more` : '';
    return `not to ${names.slice(0, shown).join(', ')}${more}: ${reason}`;
  });
}

interface PushServiceOptions {
  readonly devices: PushDevices;
  /** The server's key. */
  readonly key: string;
  readonly contact: string | undefined;
  readonly now: () => number;
}

interface PushSender extends PushService {
  /** The devices of a channel, or for a test one of them. */
  audienceOf(
    channel: Pick<ChannelRecord, 'tenant' | 'id' | 'settings'>,
    message: {
      readonly notification: string;
      /** The same for every attempt. */
      readonly id: string;
    },
    test?: PushTest,
  ): Promise<PushAudience>;
}

export interface PushTest {
  /** The device that requests a test; undefined if an admin tests all devices. */
  readonly device: string | undefined;
}

/** Devices of push channels: their keys and secrets, and the input of a delivery attempt. */
export function createPushService({ devices, key, contact, now }: PushServiceOptions): PushSender {
  // Derived when they are first needed.
  const keys = once(() => derivePushKeys(key));
  const subscriptions = once(() => createSealer(key, 'push subscriptions'));
  const secrets = once(() => createSealer(key, 'push secrets'));

  const open = (ref: PushDeviceRef & { readonly sealed: string }): PushSubscription | undefined => {
    try {
      return JSON.parse(subscriptions().open(ref.sealed, nameOf(ref)).toString('utf8')) as PushSubscription;
    } catch {
      return undefined;
    }
  };

  return {
    publicKey: () => keys().publicKey,

    seal(ref, subscription) {
      const { endpoint, keys: given } = subscription;
      if (!isAcceptable(URL.parse(endpoint))) throw badField('subscription.endpoint', 'must be an https URL');
      if (!isUsableSubscription(subscription)) throw badField('subscription.keys', 'cannot be encrypted for');
      const { p256dh, auth } = given;
      return subscriptions().seal(
        Buffer.from(JSON.stringify({ endpoint, keys: { p256dh, auth } })),
        nameOf(ref),
      );
    },

    has(device, { endpoint, keys: { p256dh, auth } }) {
      const known = open(device);
      return known?.endpoint === endpoint && known.keys.p256dh === p256dh && known.keys.auth === auth;
    },

    sameAs: (known, { endpoint }) =>
      known.filter((each) => open(each)?.endpoint === endpoint).map(({ id }) => id),

    secretOf: (use, ref) => secrets().seal(Buffer.from(nameOf(ref)), use),

    readSecret(use, secret) {
      try {
        const [tenant, channel, id] = secrets().open(secret, use).toString('utf8').split(' ');
        return channel === undefined || id === undefined
          ? undefined
          : { tenant: Number(tenant), channel, id };
      } catch {
        return undefined;
      }
    },

    actionSecretOf: (ref, notification) =>
      secrets().seal(Buffer.from(`${nameOf(ref)} ${notification}`), 'act'),

    readActionSecret(secret) {
      try {
        const [tenant, channel, id, notification] = secrets().open(secret, 'act').toString('utf8').split(' ');
        if (channel === undefined || id === undefined || notification === undefined) return undefined;
        return { tenant: Number(tenant), channel, id, notification };
      } catch {
        return undefined;
      }
    },

    async audienceOf({ tenant, id: channel, settings }, message, test) {
      const known = await devices.list(tenant, channel);
      const chosen = known.filter(({ id }) => test?.device === undefined || id === test.device);
      return {
        keys: keys(),
        contact,
        isDetailed: test !== undefined && test.device === undefined,
        actions: test ? [] : buttonsOf(settings.actions),
        targets: chosen.map((each) => ({
          id: each.id,
          name: each.name,
          subscription: open(each),
          hasEnded: each.sealed === '',
          isFailing: each.lastError !== null,
          hasIt: each.lastNotification === message.id,
          actionSecret: this.actionSecretOf(each, message.notification),
        })),
        async record(attempts) {
          const sealedOf = (id: string) => chosen.find((each) => each.id === id)?.sealed ?? '';
          const made = attempts.map(({ id, error, isGone }) => ({
            ...{ id, error },
            ...(isGone && { ended: sealedOf(id) }),
          }));
          await devices.record({ tenant, channel }, test ? undefined : message.id, made, now());
        },
      };
    },
  };
}

/** The person who adds a device chooses the address, so plain HTTP is accepted on this machine only. */
const isAcceptable = (endpoint: URL | null) =>
  endpoint?.protocol === 'https:' ||
  (endpoint?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(endpoint.hostname));

/** Part of the encryption, so that a change in the database cannot move a subscription to another channel. */
const nameOf = ({ tenant, channel, id }: PushDeviceRef) => `${tenant} ${channel} ${id}`;

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
