/** A notification to the devices of a channel, over the push services of their browsers. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PushSubscription } from '#contract/push.ts';
import type { PushPayload } from '#contract/push-payload.ts';
import type { PushAttempt } from '#core/push-devices.ts';
import { deadline, type Outbound } from '#outbound/outbound.ts';
import { answerLine, pauseOf } from './answer.ts';
import {
  attemptMs,
  clipBytes,
  type OutgoingNotification,
  originOf,
  type SendResult,
  severityOf,
} from './message.ts';
import { encryptPush, mostPushBytes, type PushKeys, pushAuthorization } from './push-encryption.ts';

export interface PushTarget {
  readonly id: string;
  readonly name: string;
  /** undefined: it was encrypted with another key. */
  readonly subscription: PushSubscription | undefined;
  /** The last attempt failed. */
  readonly isFailing: boolean;
  /** It has the notification from an earlier attempt. */
  readonly hasIt: boolean;
}

/** The devices of a channel. */
export interface PushAudience {
  readonly targets: readonly PushTarget[];
  readonly keys: PushKeys;
  /** For the operators of push services: https or mailto. */
  readonly contact: string | undefined;
  record(attempts: readonly PushAttempt[]): Promise<void>;
  /** The push service no longer knows the device. */
  remove(id: string): Promise<void>;
}

interface Options {
  readonly outbound: Outbound;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

interface Outcome {
  readonly state: 'delivered' | 'gone' | 'refused' | 'retry';
  readonly answer: string;
  readonly retryAfterMs?: number | undefined;
}

/** Of one attempt at all devices; a lease lasts longer. */
const audienceMs = 45_000;
const atOnce = 10;
/** Before the second try of a device within an attempt; a longer pause is left to the next attempt. */
const shortPauseMs = 1_000;
const longPauseMs = 10_000;
const refusals = [400, 401, 403, 413, 415, 422];
const dayMs = 24 * 3_600_000;
const hourMs = 3_600_000;

/**
 * One request a device. A device that fails is tried once more at once, unless it failed before. The notification counts as
 * delivered when any device got it: waiting for the others would hold up what follows.
 */
export async function sendPush(
  audience: PushAudience | undefined,
  notification: OutgoingNotification,
  options: Options,
): Promise<SendResult> {
  const { targets = [] } = audience ?? {};
  if (!audience || targets.length === 0)
    return { outcome: 'failed', answer: 'the channel has no device: add one', isFinal: true };
  const outcomes = new Map<string, Outcome>();
  for (const { id, hasIt } of targets)
    if (hasIt) outcomes.set(id, { state: 'delivered', answer: 'has it already' });
  const message = Buffer.from(payloadOf(notification));
  const signal = deadline({ timeoutMs: audienceMs, signal: options.signal });
  const round = (chosen: readonly PushTarget[]) =>
    eachOf(chosen, async (target) => {
      const outcome = await sendTo(target, audience, { message, notification }, { ...options, signal });
      outcomes.set(target.id, outcome);
      if (outcome.state === 'gone') await audience.remove(target.id);
    });
  const first = targets.filter(({ hasIt }) => !hasIt);
  await round(first);
  const again = first.filter((each) => !each.isFailing && isWorthAnother(outcomes.get(each.id)));
  // When nobody got it, the channel rests and tries them all.
  if (again.length > 0 && [...outcomes.values()].some(({ state }) => state === 'delivered')) {
    const pauses = again.map(({ id }) => outcomes.get(id)?.retryAfterMs ?? shortPauseMs);
    await sleep(Math.max(...pauses), undefined, { signal }).catch(() => undefined);
    await round(again);
  }
  const attempts = first.map(({ id }) => ({ id, ...outcomes.get(id) }));
  await audience.record(
    attempts
      .filter(({ state }) => state !== 'gone')
      .map(({ id, state, answer = '' }) => ({ id, error: state === 'delivered' ? null : answer })),
  );
  return resultOf(targets, outcomes, options.signal.aborted);
}

const isWorthAnother = (outcome: Outcome | undefined) =>
  outcome?.state === 'retry' && (outcome.retryAfterMs ?? 0) <= longPauseMs;

/** A few at once, in order. */
async function eachOf(targets: readonly PushTarget[], work: (target: PushTarget) => Promise<void>) {
  const waiting = [...targets];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

async function sendTo(
  { subscription }: PushTarget,
  { keys, contact }: PushAudience,
  { message, notification }: { readonly message: Uint8Array; readonly notification: OutgoingNotification },
  { outbound, now, signal }: Options,
): Promise<Outcome> {
  if (!subscription)
    return { state: 'refused', answer: 'it was added with another key of the server: add it again' };
  try {
    const authorization = pushAuthorization(keys, subscription.endpoint, { contact, now: now() });
    const response = await outbound.request(
      {
        ...{ url: subscription.endpoint, method: 'POST' },
        headers: { ...headersOf(notification), authorization },
        bytes: encryptPush(message, subscription),
      },
      { timeoutMs: attemptMs, signal },
    );
    const { status } = response;
    const answer = answerLine(response, [subscription.endpoint]);
    if (status >= 200 && status < 300) return { state: 'delivered', answer };
    if (status === 404 || status === 410) return { state: 'gone', answer: `${answer}; it was removed` };
    if (refusals.includes(status)) return { state: 'refused', answer };
    return { state: 'retry', answer, retryAfterMs: pauseOf(response, now()) };
  } catch (error) {
    return { state: 'retry', answer: error instanceof Error ? error.message : String(error) };
  }
}

function headersOf(notification: OutgoingNotification): Readonly<Record<string, string>> {
  const { key, tenant, ttl } = notification;
  const isUrgent = ['error', 'critical'].includes(severityOf(notification));
  // A phone that is off for a while gets it, too; what panels show for longer waits as long, for a day at the most.
  const keptMs = ttl === 0 ? dayMs : Math.min(dayMs, Math.max(hourMs, ttl));
  return {
    'content-type': 'application/octet-stream',
    'content-encoding': 'aes128gcm',
    ttl: String(Math.round(keptMs / 1000)),
    urgency: isUrgent ? 'high' : 'normal',
    // The push service keeps the last message of a topic alone.
    ...(key !== null && { topic: topicOf(tenant, key) }),
  };
}

function topicOf(tenant: string, key: string): string {
  return createHash('sha256').update(`${tenant}\n${key}`).digest('base64url').slice(0, 32);
}

/** Fits into one message: first the text gets shorter, and a very long link gives way to the dashboard's. */
export function payloadOf(notification: OutgoingNotification): string {
  const { id, tenant, title, message, key, url, receivedAt } = notification;
  const link = url !== null && url.length <= 1_024 ? url : undefined;
  const payload = {
    title,
    tag: key === null ? id : topicOf(tenant, key),
    url: link ?? `/t/${tenant}/history?id=${id}`,
    at: receivedAt,
    stays: ['error', 'critical'].includes(severityOf(notification)),
  };
  const body = `${clipBytes(originOf(notification), 300)}\n${message}`;
  for (let most = 2_400; ; most = Math.floor(most / 2)) {
    const text = JSON.stringify({ ...payload, body: clipBytes(body, most) } satisfies PushPayload);
    if (Buffer.byteLength(text) <= mostPushBytes || most < 10) return text;
  }
}

function resultOf(
  targets: readonly PushTarget[],
  outcomes: ReadonlyMap<string, Outcome>,
  isStopping: boolean,
): SendResult {
  const all = targets.map(({ id, name }) => ({ name, ...(outcomes.get(id) as Outcome) }));
  const missed = all.filter(({ state }) => state !== 'delivered');
  const whom = missed.map(({ name, answer }) => `not to ${name}: ${answer}`).join('; ');
  const retried = missed.filter(({ state }) => state === 'retry');
  const reached = all.length - missed.length;
  const sent = `sent to ${reached} of ${all.length} device${all.length === 1 ? '' : 's'}`;
  const answer = whom === '' ? sent : `${sent}; ${whom}`;
  if (reached > 0 && !(isStopping && retried.length > 0)) return { outcome: 'delivered', answer };
  const pauses = retried.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  const retryAfterMs = pauses.length === retried.length ? Math.min(...pauses) : undefined;
  if (retried.length > 0)
    return { outcome: 'retry', answer, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const isFinal = missed.every(({ state }) => state === 'gone');
  return { outcome: 'failed', answer, isFinal };
}
