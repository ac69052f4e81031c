/**
 * Publishes to an MQTT broker: each notification, and to a topic of each alarm the state that it has, which the broker keeps. A connection is kept open
 * for a while, for the next deliveries.
 */
import { createHash } from 'node:crypto';
import { searchForm } from '#contract/history/fields.ts';
import { clip } from '#core/routing/message-text.ts';
import { literalPattern } from '#core/search/search-words.ts';
import { connectMqtt, type MqttConnection, MqttRefusal } from '#outbound/mqtt.ts';
import { inTime, type Outbound } from '#outbound/outbound.ts';
import {
  attemptMs,
  type ChannelSetup,
  type OutgoingNotification,
  type OutgoingUpdate,
  type SendResult,
  toJson,
  updateJson,
} from '../message.ts';

/** The open connections. */
export interface Brokers {
  readonly idleMs: number;
  readonly kept: Map<string, Promise<KeptBroker>>;
}

export interface KeptBroker {
  readonly connection: MqttConnection;
  timer?: NodeJS.Timeout;
}

/** Reason codes after which a retry would be refused too: name of the topic, size, format. */
const finalRefusals = [144, 149, 153];
const nobodySubscribes = 16;
const answerBytes = 64 * 1024;
const placeholderChars = 100;

interface Options {
  readonly outbound: Outbound;
  readonly signal: AbortSignal;
  readonly brokers: Brokers;
  readonly now: () => number;
  /** Set for what happened to the alarm: only its state is published. */
  readonly update?: OutgoingUpdate | undefined;
}

/** @throws Error when the broker cannot be reached. */
export async function sendMqtt(
  setup: ChannelSetup,
  notification: OutgoingNotification,
  { outbound, signal, brokers, update, now }: Options,
): Promise<SendResult> {
  const name = JSON.stringify([setup.settings.url, setup.settings.user, setup.secrets.password]);
  const isKept = brokers.kept.has(name);
  const attempt = async () => {
    const broker = await findBroker(name, setup, { outbound, signal, brokers });
    try {
      return await inTime({ timeoutMs: attemptMs, signal }, () =>
        publish(broker.connection, setup, { notification, update, now: now() }),
      );
    } catch (error) {
      if (!(error instanceof MqttRefusal)) broker.connection.destroy(error as Error);
      throw error;
    }
  };
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof MqttRefusal)
      return { outcome: finalRefusals.includes(error.code) ? 'failed' : 'retry', answer: error.message };
    // The kept connection may have ended in the meantime.
    if (isKept && !signal.aborted) return attempt();
    throw error;
  }
}

interface Publication {
  readonly notification: OutgoingNotification;
  readonly update: OutgoingUpdate | undefined;
  readonly now: number;
}

async function publish(
  connection: MqttConnection,
  { settings }: ChannelSetup,
  { notification, update, now }: Publication,
): Promise<SendResult> {
  const { maximumQoS, retainAvailable } = connection.accepted.properties ?? {};
  const retain = settings.retain === 'true';
  if ((retain || settings.stateTopic !== undefined) && retainAvailable === false)
    return {
      outcome: 'failed',
      answer: 'the broker keeps no messages: set retain to false, and no topic for states',
    };
  const qos = settings.qos === '0' || Number(maximumQoS ?? 1) === 0 ? 0 : 1;
  const payload = JSON.stringify(toJson(notification));
  const message = { topic: topicOf(settings.topic ?? '', notification), payload, qos, retain } as const;
  const code = update ? 0 : await connection.publish(message);
  if (settings.stateTopic !== undefined)
    await connection.publish({
      topic: topicOf(settings.stateTopic, notification),
      payload: JSON.stringify(stateJson(notification, update)),
      ...{ qos, retain: true, expirySeconds: secondsLeft(notification, now) },
    });
  const also = code === nobodySubscribes ? '; nobody subscribes to the topic' : '';
  return { outcome: 'delivered', answer: `the broker has it${also}` };
}

/** How long the broker keeps that an alarm has ended. */
const endedSeconds = 86_400;

/** When the broker may forget the state: when panels no longer show the notification; undefined: when it has ended. */
function secondsLeft({ state, receivedAt, ttl }: OutgoingNotification, now: number): number | undefined {
  if (state === 'ended') return endedSeconds;
  return ttl === 0 ? undefined : Math.max(1, Math.ceil((receivedAt + ttl - now) / 1_000));
}

/** `expiresAt`: until when panels show it; null: until it ends. */
function stateJson(notification: OutgoingNotification, update: OutgoingUpdate | undefined) {
  const { state, receivedAt, ttl } = notification;
  const expiresAt = ttl === 0 ? null : new Date(receivedAt + ttl).toISOString();
  const since = { at: new Date(receivedAt).toISOString(), by: null, note: null, until: null };
  return { state, ...(update ? updateJson(update) : since), expiresAt, notification: toJson(notification) };
}

/** The values come from senders, so they must not add topic levels or wildcards. */
export function topicOf(template: string, notification: OutgoingNotification): string {
  const { level, host, ip, key, tenant, alarm } = notification;
  const values: Readonly<Record<string, string | null>> = { level, host: host ?? ip, key, tenant };
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    name === 'alarm' ? alarmName(alarm) : nameOf(values[name] ?? '-'),
  );
}

export const nameOf = (value: string): string =>
  clip(value.replaceAll(/[/+#$\p{C}]/gu, '_'), placeholderChars);

/** With a part of its hash if it had to be changed, or looks like one that had to be: two alarms do not share a topic. */
export function alarmName(alarm: string): string {
  const name = nameOf(alarm);
  return name === alarm && !/-[\da-f]{8}$/.test(alarm)
    ? name
    : `${name}-${createHash('sha256').update(alarm).digest('hex').slice(0, 8)}`;
}

/** For searches: the keys that could have this {@link alarmName}, which has a part of a hash. */
export function keyPatternOf(name: string): string {
  const kept = name.slice(0, -9);
  const isCut = kept.length >= placeholderChars - 1 && kept.endsWith('…');
  const pattern = literalPattern(isCut ? kept.slice(0, -1) : kept).replaceAll('_', '?');
  return searchForm('key', isCut ? `${pattern}*` : pattern);
}

async function findBroker(
  name: string,
  { settings, secrets }: ChannelSetup,
  { outbound, signal, brokers }: { outbound: Outbound; signal: AbortSignal; brokers: Brokers },
): Promise<KeptBroker> {
  const { idleMs, kept } = brokers;
  let found = kept.get(name);
  // Another connection may have taken its place.
  const forget = () => {
    if (kept.get(name) === found) kept.delete(name);
  };
  if (!found) {
    found = connectMqtt(
      outbound,
      { url: settings.url ?? '', user: settings.user, password: secrets.password },
      { id: `belfry-${crypto.randomUUID().slice(0, 13)}`, packetBytes: answerBytes },
      { timeoutMs: attemptMs, signal },
    ).then((connection) => {
      const broker: KeptBroker = { connection };
      void connection.closed.then(() => {
        clearTimeout(broker.timer);
        forget();
      });
      return broker;
    });
    kept.set(name, found);
    found.catch(forget);
  }
  const broker = await found;
  clearTimeout(broker.timer);
  // Closes an idle connection. The time is shorter than the keep-alive interval.
  broker.timer = setTimeout(() => {
    forget();
    void broker.connection.close();
  }, idleMs).unref();
  return broker;
}

/** Called when the server stops. */
export async function closeBrokers({ kept }: Brokers): Promise<void> {
  const all = await Promise.allSettled(kept.values());
  kept.clear();
  for (const each of all) {
    if (each.status !== 'fulfilled') continue;
    clearTimeout(each.value.timer);
    each.value.connection.destroy(new Error('the server stops'));
  }
}
