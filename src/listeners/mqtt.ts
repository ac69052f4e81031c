/** Notifications from a broker of MQTT: this server is a client of it. Its messages belong to the one token that a setting names. */
import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IPublishPacket } from 'mqtt-packet';
import { limits } from '#contract/limits.ts';
import { canonicalAddress } from '#core/addresses.ts';
import { AppError } from '#core/errors.ts';
import { createLruMap } from '#core/lru-map.ts';
import type { SharedLease } from '#core/nodes.ts';
import { settlesWithin } from '#core/settles-within.ts';
import type { Incoming } from '#integrations/incoming.ts';
import { connectMqtt, type MqttConnection } from '#outbound/mqtt.ts';
import { createTrustedOutbound } from '#outbound/outbound.ts';
import { type Listener, type ListenerIntake, type ListenerLog, storeItem } from './intake.ts';
import { itemOfMqtt, takesTopic } from './mqtt-message.ts';

export interface MqttOptions {
  /** As in mqtt://user:password@host:1883. */
  readonly url: string;
  /** Filters, as in alerts/#. */
  readonly topics: readonly string[];
  readonly token: string;
  readonly clientId: string;
}

/** The broker keeps what comes while this server is away. */
const sessionSeconds = 7 * 24 * 3600;
/** Messages of QoS 1 that are not acknowledged yet: as many are stored together. */
const atOnce = 32;
/** Messages of QoS 0 that wait: the broker does not keep them, so what comes beyond is lost and counted. */
const mostWaiting = 1_000;
const connectMs = 15_000;
const [firstRetryMs, longestRetryMs] = [1_000, 30_000];
/** When something cannot be stored now, and nobody says for how long. */
const storeRetryMs = 10_000;
/** Of several nodes, one is connected: the broker has one connection for each client id. */
const holdEveryMs = 5_000;
const closeMs = 1_000;

const name = 'mqtt';

/** A message until it is acknowledged, and a while longer. */
interface Message {
  readonly id: number | undefined;
  readonly digest: string;
  /** On which it came last. */
  connection: MqttConnection;
  isStored: boolean;
}

export class MqttSubscriber implements Listener {
  readonly name = name;
  readonly #options: MqttOptions;
  readonly #intake: ListenerIntake;
  readonly #log: ListenerLog;
  readonly #lease: SharedLease | undefined;
  readonly #closing = new AbortController();
  readonly #queue: { readonly message: Message; readonly item: Incoming }[] = [];
  /** Messages of the session by their id, so that what the broker repeats after an interruption is stored once. */
  #known = createLruMap<number, Message>(4 * atOnce);
  #connection: MqttConnection | undefined;
  #storing: Promise<void> | undefined;
  #isOurs = true;
  #warned = false;
  readonly #ended: Promise<void>;

  /** Connects in the background: a broker that is away does not hold up the start. */
  constructor(
    options: MqttOptions,
    { intake, log, lease }: { intake: ListenerIntake; log: ListenerLog; lease?: SharedLease | undefined },
  ) {
    this.#options = options;
    this.#intake = intake;
    this.#log = log;
    this.#lease = lease;
    this.#ended = this.#run();
  }

  /** What is not stored by then is not acknowledged: the broker sends it again. */
  async close(): Promise<void> {
    this.#closing.abort();
    await settlesWithin(Promise.resolve(this.#storing), closeMs);
    await this.#connection?.close();
    await this.#ended;
  }

  async #run(): Promise<void> {
    let failures = 0;
    let isHeld = false;
    while (!this.#closing.signal.aborted) {
      let pauseMs = holdEveryMs;
      try {
        isHeld = (await this.#lease?.hold()) ?? true;
        if (isHeld) {
          this.#isOurs = true;
          await this.#connect();
          failures = 0;
          throw await this.#connection?.closed;
        }
      } catch (error) {
        if (this.#closing.signal.aborted) break;
        if (failures === 0) this.#log.warn({ err: error }, 'mqtt: no connection to the broker; trying again');
        pauseMs = Math.min(longestRetryMs, firstRetryMs * 2 ** failures) * (0.5 + Math.random() / 2);
        failures = Math.min(failures + 1, 10);
      }
      await this.#pause(pauseMs);
    }
    if (isHeld) await this.#lease?.release().catch(() => undefined);
  }

  async #connect(): Promise<void> {
    const { url, topics, clientId } = this.#options;
    const { username, password } = new URL(url);
    const connection = await connectMqtt(
      createTrustedOutbound(),
      {
        url,
        user: username === '' ? undefined : decodeURIComponent(username),
        password: password === '' ? undefined : decodeURIComponent(password),
      },
      {
        ...{ id: clientId, sessionSeconds, receiveMaximum: atOnce, packetBytes: 2 * limits.bodyBytes },
        onAccepted: ({ accepted }) => {
          if (!accepted.sessionPresent) this.#known = createLruMap(4 * atOnce);
        },
        onPublish: (packet, from) => this.#take(packet, from),
      },
      { timeoutMs: connectMs, signal: this.#closing.signal },
    );
    this.#connection = connection;
    try {
      // 2: what is retained was sent when it was published, and not again at each subscription.
      await connection.subscribe(topics.map((topic) => ({ topic, qos: 1, rh: 2 })));
    } catch (error) {
      connection.destroy(error as Error);
      throw error;
    }
    this.#log.info(`mqtt: connected to ${new URL(url).host}, subscribed to ${topics.join(', ')}`);
    if (this.#lease) this.#keepLease(this.#lease, connection);
  }

  #keepLease(lease: SharedLease, connection: MqttConnection): void {
    const timer = setInterval(async () => {
      try {
        if (await lease.hold()) return;
        // The broker repeats to the other node what is not acknowledged.
        this.#isOurs = false;
        connection.destroy(new Error('another node has taken over'));
      } catch {
        // The database is away: nothing can be stored, so nothing is acknowledged.
      }
    }, holdEveryMs).unref();
    void connection.closed.then(() => clearInterval(timer));
  }

  #take({ topic, payload, qos, messageId: id, dup }: IPublishPacket, connection: MqttConnection): void {
    if (this.#closing.signal.aborted) return;
    const bytes = Buffer.from(payload);
    const digest = createHash('sha256').update(`${topic}\n`).update(bytes).digest('base64');
    const known = id === undefined ? undefined : this.#known.get(id);
    if (known && dup && known.digest === digest) {
      known.connection = connection;
      if (known.isStored) this.#acknowledge(known);
      return;
    }
    // A broker sends no more than `atOnce` of QoS 1; what a session left behind that it has lost may come before them.
    if (qos === 0 && this.#queue.length >= mostWaiting) return this.#intake.count(name, 'dropped');
    if (this.#queue.length >= 2 * mostWaiting)
      return connection.destroy(new Error('the broker sends more than it may'));
    const message: Message = { id: qos > 0 ? id : undefined, digest, connection, isStored: false };
    if (message.id !== undefined) this.#known.set(message.id, message);
    // The session may have subscriptions of earlier settings.
    const isWanted = this.#options.topics.some((filter) => takesTopic(filter, topic));
    const item = isWanted && bytes.length <= limits.bodyBytes ? itemOfMqtt(topic, bytes) : undefined;
    if (!item) {
      if (isWanted) this.#intake.count(name, 'refused');
      return this.#acknowledge(message);
    }
    this.#queue.push({ message, item });
    this.#storing ??= this.#storeAll().finally(() => {
      this.#storing = undefined;
    });
  }

  #acknowledge(message: Message): void {
    message.isStored = true;
    if (message.id !== undefined) message.connection.acknowledge(message.id);
  }

  /** In their order. What cannot be stored now is tried again, and what follows waits. */
  async #storeAll(): Promise<void> {
    while (this.#queue.length > 0) {
      let left = this.#queue.splice(0, atOnce);
      while (left.length > 0) {
        const pauses = await Promise.all(left.map((each) => this.#store(each.message, each.item)));
        left = left.filter((_, at) => pauses[at] !== undefined);
        if (left.length > 0) await this.#pause(Math.max(...pauses.map((pause) => pause ?? 0)));
        if (this.#closing.signal.aborted) return;
        if (this.#isOurs) continue;
        this.#queue.length = 0;
        left = [];
      }
    }
  }

  /** Never throws: counts what is stored or refused, and acknowledges it. Returns when to try again what could not be stored. */
  async #store(message: Message, item: Incoming): Promise<number | undefined> {
    const { connection } = message;
    try {
      const source = canonicalAddress(connection.source) ?? '';
      const sender = await this.#intake.findSender(this.#options.token, source);
      if (!sender)
        throw new AppError('unauthorized', 'BELFRY_MQTT_TOKEN is no valid token with the scope notify');
      await storeItem(this.#intake, sender, { source, listener: name }, item);
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
    this.#acknowledge(message);
    return undefined;
  }

  /** Once, until one is stored again. */
  #warnOnce(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn({ err: error }, 'mqtt: messages cannot be stored; they wait at the broker');
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { ref: false, signal: this.#closing.signal }).catch(() => undefined);
  }
}
