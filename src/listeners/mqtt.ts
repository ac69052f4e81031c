/** Notifications from an MQTT broker, of which this server is a client. All belong to the token that a setting names. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IPublishPacket } from 'mqtt';
import { backoffMs } from '#contract/backoff.ts';
import { limits } from '#contract/limits.ts';
import { canonicalAddress } from '#core/addresses.ts';
import { AppError } from '#core/errors.ts';
import { parseBoundedJson } from '#core/limits/bounded-json.ts';
import { settlesWithin } from '#core/limits/concurrency.ts';
import type { SharedLease } from '#core/streams/nodes.ts';
import { type Item, usualLevel, wordOf } from '#integrations/format.ts';
import { type JsonObject, labelsOfObject, labelsOfWords, textOf } from '#integrations/payload.ts';
import { connectMqtt, type MqttConnection } from '#outbound/mqtt.ts';
import { createTrustedOutbound, type Outbound } from '#outbound/outbound.ts';
import { type Listener, type ListenerIntake, type ListenerLog, storeItem } from './intake.ts';

export interface MqttOptions {
  /** As in mqtt://user:password@host:1883 or wss://user:password@host/mqtt. */
  readonly url: string;
  /** Filters, as in alerts/#. */
  readonly topics: readonly string[];
  readonly token: string;
  readonly clientId: string;
}

/** How long the broker keeps messages for this server while it is disconnected. */
const sessionSeconds = 7 * 24 * 3600;
/**
 * The most messages that are stored together, and the most of QoS 1 that a broker of MQTT 5 sends without an acknowledgement. A
 * broker of MQTT 3.1.1 sends as many as it is configured to.
 */
const atOnce = 32;
/**
 * The longest packet with MQTT 3.1.1. Packets that are too large to be stored are read as well: a broker would repeat one that
 * ends the connection.
 */
const packetBytesUnannounced = 16 * 1024 * 1024;
/** With so many waiting messages no more are read until there are fewer. Those of QoS 0 are dropped and counted instead. */
const mostWaiting = 1_000;
const connectMs = 15_000;
const retry = { baseMs: 1_000, capMs: 30_000 };
/** A connection that ends sooner counts as failed, for example because another client uses the same client id. */
const lastingMs = 60_000;
/** After this many failures another node may try. */
const failuresOfNode = 4;
/** The pause when something cannot be stored and the error names no time. */
const storeRetryMs = 10_000;
const closeMs = 1_000;

const name = 'mqtt';

/** A message that is not acknowledged yet. */
interface Message {
  /** undefined for QoS 0. */
  readonly id: number | undefined;
  readonly digest: string;
  readonly item: Item;
  /** The connection on which it arrived last. */
  connection: MqttConnection;
  isStored: boolean;
}

interface Surroundings {
  readonly intake: ListenerIntake;
  readonly log: ListenerLog;
  readonly lease?: SharedLease | undefined;
  readonly outbound?: Outbound;
}

export class MqttSubscriber implements Listener {
  readonly name = name;
  readonly #options: MqttOptions;
  readonly #intake: ListenerIntake;
  readonly #log: ListenerLog;
  readonly #lease: SharedLease | undefined;
  readonly #outbound: Outbound;
  readonly #closing = new AbortController();
  /** Messages to store, in order. */
  readonly #queue = new Set<Message>();
  /** Messages without an acknowledgement, by id, so that a message that the broker repeats is stored once. */
  readonly #known = new Map<number, Message>();
  #connection: MqttConnection | undefined;
  #storing: Promise<void> | undefined;
  #failures = 0;
  #saidConnected = false;
  #warned = false;
  readonly #ended: Promise<void>;

  /** Connects in the background: a broker that is away does not hold up the start. */
  constructor(
    options: MqttOptions,
    { intake, log, lease, outbound = createTrustedOutbound() }: Surroundings,
  ) {
    this.#options = options;
    this.#intake = intake;
    this.#log = log;
    this.#lease = lease;
    this.#outbound = outbound;
    this.#ended = this.#run();
  }

  /** Messages that are not stored by then are not acknowledged, so the broker sends them again. */
  async close(): Promise<void> {
    this.#closing.abort();
    await settlesWithin(Promise.resolve(this.#storing), closeMs);
    await this.#connection?.close();
    await this.#ended;
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      if (!this.#lease || (await holds(this.#lease))) await this.#connectWhileLeased();
      await this.#pause(holdEveryMs);
    }
  }

  /**
   * Stays connected while this node has the lease, because the broker allows one connection for each client id. Ends early when
   * the broker cannot be reached, so that another node tries.
   */
  async #connectWhileLeased(): Promise<void> {
    const term = new AbortController();
    const signal = AbortSignal.any([term.signal, this.#closing.signal]);
    // Also without a connection, because this node still has waiting messages.
    const renewed =
      this.#lease &&
      renewLease(this.#lease, signal).then((lost) => {
        if (lost !== undefined) this.#lose(lost, term);
      });
    await this.#stayConnected(signal);
    term.abort();
    await renewed;
    this.#forget();
    await this.#lease?.release().catch(() => undefined);
  }

  #lose(why: string, term: AbortController): void {
    this.#log.info(`mqtt: ${why}`);
    this.#saidConnected = false;
    this.#forget();
    term.abort();
    this.#connection?.destroy(new Error(why));
  }

  /** Drops everything that is not acknowledged: the broker sends it again to the next connection, of any node. */
  #forget(): void {
    for (const { id } of this.#queue) if (id === undefined) this.#intake.count(name, 'dropped');
    this.#queue.clear();
    this.#known.clear();
  }

  async #stayConnected(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const began = performance.now();
      const error = await this.#connect(signal).then(
        ({ closed }) => closed,
        (failure: unknown) => failure,
      );
      if (signal.aborted) return;
      if (performance.now() - began >= lastingMs) this.#failures = 0;
      if (this.#failures === 0) {
        this.#log.warn({ err: error }, 'mqtt: no connection to the broker; trying again');
        this.#saidConnected = false;
      }
      const pauseMs = backoffMs(this.#failures, retry);
      this.#failures += 1;
      if (this.#lease && this.#failures >= failuresOfNode) return;
      await this.#pause(pauseMs, signal);
    }
  }

  async #connect(signal: AbortSignal): Promise<MqttConnection> {
    const { url, topics, clientId } = this.#options;
    const { username, password, host } = new URL(url);
    const connection = await connectMqtt(
      this.#outbound,
      {
        url,
        user: username === '' ? undefined : decodeURIComponent(username),
        password: password === '' ? undefined : decodeURIComponent(password),
      },
      {
        ...{ id: clientId, sessionSeconds, receiveMaximum: atOnce },
        ...{ packetBytes: 2 * limits.bodyBytes, packetBytesUnannounced },
        onAccepted: ({ accepted }) => {
          if (!accepted.sessionPresent) this.#known.clear();
        },
        onMessage: (packet, from) => this.#take(packet, from),
      },
      { timeoutMs: connectMs, signal },
    );
    this.#connection = connection;
    try {
      signal.throwIfAborted();
      await connection.subscribe(topics);
    } catch (error) {
      connection.destroy(error as Error);
      throw error;
    }
    // Once after each warning.
    if (!this.#saidConnected)
      this.#log.info(`mqtt: connected to ${host}, subscribed to ${topics.join(', ')}`);
    this.#saidConnected = true;
    return connection;
  }

  #take(packet: IPublishPacket, connection: MqttConnection): void {
    const { topic, payload, qos, messageId, dup, retain, properties } = packet;
    if (this.#closing.signal.aborted) return;
    const id = qos > 0 ? messageId : undefined;
    const bytes = Buffer.from(payload);
    const digest = createHash('sha256').update(`${topic}\n`).update(bytes).digest('base64');
    const known = id === undefined ? undefined : this.#known.get(id);
    if (known && dup && known.digest === digest) {
      known.connection = connection;
      if (known.isStored) this.#acknowledge(known);
      return;
    }
    if (qos === 0 && this.#isFull) return this.#intake.count(name, 'dropped');
    // The session may have subscriptions of earlier settings. MQTT 3.1.1 repeats retained messages at each subscription.
    const isWanted = !retain && this.#options.topics.some((filter) => takesTopic(filter, topic));
    const isRead = isWanted && bytes.length <= limits.bodyBytes;
    const item = isRead ? itemOfMqtt(topic, bytes, properties?.userProperties) : undefined;
    if (id !== undefined) this.#known.delete(id);
    if (!item) {
      if (isWanted) this.#intake.count(name, 'refused');
      if (id !== undefined) connection.acknowledge(id);
      return;
    }
    const message: Message = { id, digest, item, connection, isStored: false };
    if (id !== undefined) this.#known.set(id, message);
    this.#queue.add(message);
    if (qos > 0 && this.#isFull) connection.pauseReading();
    this.#storing ??= this.#storeAll().finally(() => {
      this.#storing = undefined;
    });
  }

  get #isFull(): boolean {
    return this.#queue.size >= mostWaiting;
  }

  /** After the acknowledgement the id is free: the next message with it is a new one, even with the same content. */
  #acknowledge(message: Message): void {
    const { id, connection } = message;
    message.isStored = true;
    if (id === undefined || !connection.acknowledge(id)) return;
    if (this.#known.get(id) === message) this.#known.delete(id);
  }

  /** Stores messages in order. If one cannot be stored now, it is retried and the others wait. */
  async #storeAll(): Promise<void> {
    let batch: Message[] = [];
    while (this.#queue.size > 0 && !this.#closing.signal.aborted) {
      batch = batch.filter((message) => this.#queue.has(message));
      if (batch.length === 0) batch = this.#nextBatch();
      const pauses = await Promise.all(batch.map((message) => this.#store(message)));
      const left = pauses.filter((pause) => pause !== undefined);
      if (left.length > 0) await this.#pause(Math.max(...left));
      if (!this.#isFull) this.#connection?.resumeReading();
    }
  }

  /** The next messages, but only one for each key: a later one must not overtake one that is retried. */
  #nextBatch(): Message[] {
    const batch: Message[] = [];
    const keys = new Set<string>();
    for (const message of this.#queue) {
      const key = message.item.key?.trim();
      if (batch.length === atOnce || (key && keys.has(key))) break;
      if (key) keys.add(key);
      batch.push(message);
    }
    return batch;
  }

  /** Never throws. Counts a stored or refused message and acknowledges it. Otherwise returns the pause before the retry. */
  async #store(message: Message): Promise<number | undefined> {
    try {
      const source = canonicalAddress(message.connection.source) ?? '';
      const sender = await this.#intake.findSender(this.#options.token, source);
      // Another node may have received it in the meantime.
      if (!this.#queue.has(message)) return undefined;
      if (!sender)
        throw new AppError('unauthorized', 'BELFRY_MQTT_TOKEN is no valid token with the scope notify');
      await storeItem(this.#intake, sender, { source, listener: name }, message.item);
      this.#warned = false;
      this.#intake.count(name, 'stored');
    } catch (error) {
      const known = error instanceof AppError ? error : undefined;
      if (known?.code !== 'bad-request') {
        if (known?.retryAfterSeconds === undefined) this.#warnOnce(error);
        return Math.min((known?.retryAfterSeconds ?? Number.POSITIVE_INFINITY) * 1000, storeRetryMs);
      }
      this.#intake.count(name, 'refused');
    }
    this.#queue.delete(message);
    this.#acknowledge(message);
    return undefined;
  }

  /** Warns once, until a message is stored again. */
  #warnOnce(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn({ err: error }, 'mqtt: messages cannot be stored; they wait at the broker');
  }

  async #pause(ms: number, signal = this.#closing.signal): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);
  }
}

/** Reads an MQTT message: JSON with Belfry's fields, or any other text. */

type UserProperties = NonNullable<NonNullable<IPublishPacket['properties']>['userProperties']>;

const levels = ['success', 'info', 'warning', 'error', 'critical'];

/**
 * Undefined for a message that is not text, and for an empty one, which deletes a retained message. User properties of MQTT 5 have the
 * names of the headers of HTTP, as `X-Labels`; a field of the JSON has precedence.
 */
export function itemOfMqtt(
  topic: string,
  payload: Buffer,
  properties: UserProperties = {},
): Item | undefined {
  const text = decode(payload)?.trim();
  if (!text) return undefined;
  const json = text.startsWith('{') ? findObject(text) : undefined;
  // JSON of other programs may have the same names: a lamp has a "level", and a "url" may be anything.
  const fields = json && textOf(json.title, json.message) !== undefined ? json : undefined;
  const sent = (name: string) => propertiesOf(properties, `x-${name}`);
  const ofTopic = topic
    .split('/')
    .map(wordOf)
    .findLast((part) => levels.includes(part));
  const level = wordLike(fields?.level) ?? wordLike(sent('level')[0]);
  const word = wordOf(level ?? wordLike(fields?.severity) ?? ofTopic ?? 'message');
  const isLevel = level !== undefined && limits.levelPattern.test(word);
  return {
    title: textOf(fields?.title, ...sent('title')) ?? topic,
    message: fields ? textOf(fields.message, ...sent('message')) : text,
    severity: word,
    level: usualLevel(word, isLevel ? word : 'info'),
    source: textOf(fields?.host, fields?.ip, ...sent('host'), ...sent('ip')) ?? topic,
    key: textOf(fields?.key, ...sent('key')),
    url: textOf(fields?.url, ...sent('url')),
    labels: fields?.labels
      ? labelsOfObject(fields.labels)
      : labelsOfWords(sent('labels').flatMap((list) => list.split(','))),
  };
}

/** What the properties of this name have, in any case. */
const propertiesOf = (properties: UserProperties, name: string): string[] =>
  Object.entries(properties).flatMap(([each, values]) => (each.toLowerCase() === name ? values : []));

/** Numbers are ignored: each program counts in its own way. */
const wordLike = (value: unknown) => (/\D/.test(textOf(value) ?? '') ? textOf(value) : undefined);

/** Whether a topic matches a filter with `+` and `#`. */
export function takesTopic(filter: string, topic: string): boolean {
  const [wanted, given] = [filter.split('/'), topic.split('/')];
  // Topics that begin with $ belong to the broker itself.
  if (topic.startsWith('$') && (wanted[0] === '#' || wanted[0] === '+')) return false;
  const end = wanted.indexOf('#');
  const fixed = end < 0 ? wanted : wanted.slice(0, end);
  if (end < 0 ? given.length !== fixed.length : given.length < fixed.length) return false;
  return fixed.every((part, at) => part === '+' || part === given[at]);
}

function findObject(text: string): JsonObject | undefined {
  try {
    return parseBoundedJson(text) as JsonObject;
  } catch {
    return undefined;
  }
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** A lease that one of several nodes holds. Only that node does what must not be done twice. */

const holdEveryMs = 5_000;
/** After this time without an answer, another node may take the lease soon. */
const heldMs = 10_000;

/** Takes or renews the lease. Undefined when the database does not answer in time. */
async function holds(lease: SharedLease): Promise<boolean | undefined> {
  try {
    const held = lease.hold();
    return (await settlesWithin(held, holdEveryMs)) ? await held : undefined;
  } catch {
    return undefined;
  }
}

/** Renews the lease until `signal` aborts. If the lease is lost, resolves earlier with the reason. */
async function renewLease(lease: SharedLease, signal: AbortSignal): Promise<string | undefined> {
  let heldAt = performance.now();
  while (!signal.aborted) {
    await sleep(holdEveryMs, undefined, { ref: false, signal }).catch(() => undefined);
    if (signal.aborted) return undefined;
    const at = performance.now();
    const isHeld = await holds(lease);
    if (isHeld) heldAt = at;
    else if (isHeld === false) return 'another node has taken over';
    else if (performance.now() - heldAt >= heldMs) return 'the database does not answer';
  }
  return undefined;
}
