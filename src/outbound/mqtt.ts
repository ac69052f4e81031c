/** A connection to an MQTT broker, with MQTT 5 or 3.1.1, over TCP, TLS or WebSocket. */
import { Duplex } from 'node:stream';
import { type IConnackPacket, type IPublishPacket, MqttClient, type Packet } from 'mqtt';
import WebSocket, { createWebSocketStream } from 'ws';
import { inTime, type Outbound, type OutboundOptions } from './outbound.ts';

const keepAliveSeconds = 60;
/** How a broker answers that it does not know MQTT 5, in the form of MQTT 3.1.1 and of MQTT 5. */
const unknownVersion = [1, 132];
/** Reason codes from here on are errors. */
const firstFailure = 0x80;
/** The most bytes of a packet beside its topic and payload. */
const headerBytes = 10;
/** A stream may already have so many bytes of what follows the packet that is being read. */
const readAheadBytes = 128 * 1024;
/** The library gets so many bytes at once. It handles all packets that they contain, even if the first of them ends the connection. */
const pieceBytes = 1024;
/** More bytes than this wait only if the broker does not read. */
const mostUnsentBytes = 1024 * 1024;

export interface MqttBroker {
  /** As in mqtt://host:1883, mqtts://host:8883, ws://host/mqtt or wss://host/mqtt; without user and password. */
  readonly url: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

export interface MqttSession {
  readonly id: string;
  /** How long the broker keeps the session after the connection ends; undefined: each connection begins a new session. */
  readonly sessionSeconds?: number;
  /** Messages of QoS 1 that may wait for their acknowledgement. */
  readonly receiveMaximum?: number;
  /** The longest packet that the broker may send. A longer one ends the connection. */
  readonly packetBytes: number;
  /** The same with MQTT 3.1.1, which cannot tell the broker this limit. */
  readonly packetBytesUnannounced?: number;
  /** Called before the first message. */
  readonly onAccepted?: (connection: MqttConnection) => void;
  /** Without it, a message ends the connection. */
  readonly onMessage?: (packet: IPublishPacket, connection: MqttConnection) => void;
}

type TimeLimit = Omit<OutboundOptions, 'maxBytes'>;

/** Uses MQTT 5, or 3.1.1 if the broker refuses 5. @throws ForbiddenAddress; MqttRefusal; Error when there is no answer in time. */
export function connectMqtt(
  outbound: Outbound,
  broker: MqttBroker,
  session: MqttSession,
  limit: TimeLimit,
): Promise<MqttConnection> {
  const open = async (version: 4 | 5, signal: AbortSignal) => {
    const packetBytes =
      version === 4 ? (session.packetBytesUnannounced ?? session.packetBytes) : session.packetBytes;
    const { stream, source } = await openStream(outbound, broker.url, packetBytes, { ...limit, signal });
    const connection = new MqttConnection(stream, source, broker, { ...session, packetBytes }, version);
    const abort = () => connection.destroy(signal.reason as Error);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    try {
      await connection.opened;
      return connection;
    } catch (error) {
      connection.destroy(error as Error);
      throw error;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  };
  return inTime(limit, (signal) =>
    open(5, signal).catch((error: unknown) => {
      if (error instanceof MqttRefusal && unknownVersion.includes(error.code)) return open(4, signal);
      throw error;
    }),
  );
}

async function openStream(
  outbound: Outbound,
  text: string,
  packetBytes: number,
  limit: TimeLimit,
): Promise<{ stream: Duplex; source: string }> {
  const url = new URL(text);
  const isSecure = url.protocol === 'mqtts:' || url.protocol === 'wss:';
  const isWeb = url.protocol === 'ws:' || url.protocol === 'wss:';
  const [plainPort, securePort] = isWeb ? [80, 443] : [1883, 8883];
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(url.port || (isSecure ? securePort : plainPort));
  const socket = await outbound.connect({ host, port, isSecure }, limit);
  const source = socket.remoteAddress ?? '';
  if (!isWeb) return { stream: socket, source };
  // MQTT sends user and password itself; the WebSocket library would send them over HTTP, too.
  [url.username, url.password] = ['', ''];
  const web = new WebSocket(url, ['mqtt'], {
    createConnection: () => socket,
    perMessageDeflate: false,
    // A frame may hold several packets.
    maxPayload: packetBytes + readAheadBytes,
    autoPong: false,
  });
  web.on('ping', (bytes) => {
    if (web.bufferedAmount > mostUnsentBytes) web.terminate();
    else if (web.readyState === WebSocket.OPEN) web.pong(bytes);
  });
  return { stream: createWebSocketStream(web), source };
}

/** The same stream, read in pieces of {@link pieceBytes}: one for each turn of the event loop. */
class InPieces extends Duplex {
  readonly inner: Duplex;
  #isPassing = false;
  #isReadingPaused = false;
  /** What arrived before {@link pauseReading} and is not passed on yet. */
  #rest: Buffer | undefined;

  constructor(inner: Duplex) {
    super({ allowHalfOpen: false });
    this.inner = inner;
    inner.on('data', (bytes: Buffer) => {
      inner.pause();
      this.#pass(bytes);
    });
    // It may come while the last bytes are passed on.
    inner.once('end', () => {
      if (!this.#isPassing) this.push(null);
    });
    inner.on('error', (error) => this.destroy(error));
    inner.once('close', () => {
      if (!inner.readableEnded) this.destroy();
    });
  }

  #pass(bytes: Buffer): void {
    if (this.destroyed) return;
    if (this.#isReadingPaused) {
      [this.#rest, this.#isPassing] = [bytes, true];
      return;
    }
    this.push(bytes.subarray(0, pieceBytes));
    this.#isPassing = bytes.length > pieceBytes;
    if (this.#isPassing) setImmediate(() => this.#pass(bytes.subarray(pieceBytes)));
    else if (this.inner.readableEnded) this.push(null);
    else this.inner.resume();
  }

  /** Passes nothing on until {@link resumeReading} is called, so that the other side has to wait. */
  pauseReading(): void {
    this.#isReadingPaused = true;
  }

  get isReadingPaused(): boolean {
    return this.#isReadingPaused;
  }

  resumeReading(): void {
    this.#isReadingPaused = false;
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest) this.#pass(rest);
  }

  /** Reads without a request: the library holds nothing back. */
  override _read(): void {}

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.inner.write(bytes, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.inner.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.inner.end();
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.inner.destroy();
    done(error);
  }
}

export class MqttConnection {
  readonly #mqtt: MqttClient;
  readonly #stream: InPieces;
  readonly #session: MqttSession;
  /** Requests that the broker has not answered; the first is the opening. */
  #requests = 1;
  readonly #waiting = new Set<(error: Error) => void>();
  #lastReceived: Packet | undefined;
  #error: Error | undefined;
  #isAccepted = false;
  /** Whether bytes arrived after the last ping: its answer may be behind messages that are still being read. */
  #isHeard = false;
  /** The address that it is connected to. */
  readonly source: string;
  /** Rejects if the broker refuses the connection. */
  readonly opened: Promise<void>;
  /** Resolves once the connection has ended, with the reason. */
  readonly closed: Promise<Error>;
  /** The broker's answer to the opening. */
  accepted: IConnackPacket = { cmd: 'connack', sessionPresent: false };

  constructor(
    inner: Duplex,
    source: string,
    { user, password }: Omit<MqttBroker, 'url'>,
    session: MqttSession,
    protocolVersion: 4 | 5,
  ) {
    const { id, sessionSeconds, receiveMaximum, packetBytes } = session;
    const stream = new InPieces(inner);
    [this.#stream, this.#session, this.source] = [stream, session, source];
    stream.on('error', (error) => this.destroy(error));
    this.closed = new Promise((resolve) => {
      stream.once('close', () => {
        this.#error ??= new Error('the broker closed the connection');
        for (const reject of this.#waiting) reject(this.#error);
        resolve(this.#error);
      });
    });
    this.#mqtt = new MqttClient(() => stream, {
      ...{ clientId: id, protocolVersion, clean: sessionSeconds === undefined },
      ...(user !== undefined && { username: user }),
      ...(password !== undefined && { password }),
      ...(protocolVersion === 5 && {
        properties: {
          maximumPacketSize: packetBytes,
          ...(sessionSeconds !== undefined && { sessionExpiryInterval: sessionSeconds }),
          ...(receiveMaximum !== undefined && { receiveMaximum }),
        },
      }),
      // Pings also while it sends, to notice that the broker no longer answers.
      ...{ keepalive: keepAliveSeconds, reschedulePings: false, timerVariant: 'native' },
      ...{ reconnectPeriod: 0, resubscribe: false },
      // Saves memory: the library would cache a buffer for each of 65,536 numbers.
      writeCache: false,
      // Its log contains the password.
      log: () => undefined,
    });
    this.#mqtt.handleMessage = (packet, done) => this.#handle(packet, done);
    // Only before the connection is accepted is such an error the broker's refusal. Later it says that the broker sent something wrong.
    this.#mqtt.on('error', (error) => {
      this.destroy(this.#isAccepted ? error : this.#refusalOf('the broker refused it', error));
    });
    this.#mqtt.on('disconnect', ({ reasonCode = 0 }) => {
      this.destroy(this.#refusalOf('the broker ended the connection', { code: reasonCode }));
    });
    this.#mqtt.on('packetsend', (packet) => {
      const isPublish = packet.cmd === 'publish' && packet.qos > 0;
      if (isPublish || packet.cmd === 'subscribe' || packet.cmd === 'pingreq') this.#requests += 1;
      if (packet.cmd === 'pingreq') this.#isHeard = false;
    });
    const endSilent = this.#mqtt.onKeepaliveTimeout.bind(this.#mqtt);
    this.#mqtt.onKeepaliveTimeout = () => {
      if (this.#isHeard || stream.isReadingPaused) this.#mqtt.sendPing();
      else endSilent();
    };
    // The library does not limit a packet before it has all of it.
    let bytesSincePacket = 0;
    stream.on('data', (bytes: Buffer) => {
      this.#isHeard = true;
      bytesSincePacket += bytes.length;
      if (bytesSincePacket > packetBytes + readAheadBytes)
        this.destroy(new Error('the broker sent too much'));
    });
    this.#mqtt.on('packetreceive', (packet) => {
      bytesSincePacket = 0;
      this.#check(packet);
    });
    this.opened = this.#ask<void>((resolve) => this.#mqtt.once('connect', () => resolve()));
    // Its caller may have given up.
    this.opened.catch(() => undefined);
  }

  /** @throws MqttRefusal for the first filter that is refused. */
  async subscribe(topics: readonly string[]): Promise<void> {
    await this.#ask<void>((resolve, reject) => {
      // 2: retained messages are not sent again at each subscription.
      this.#mqtt.subscribe([...topics], { qos: 1, rh: 2 }, (error, _, packet) => {
        const codes = (packet?.granted ?? []) as number[];
        const at = codes.findIndex((code) => code >= firstFailure);
        if (at >= 0)
          reject(this.#refusalOf(`the subscription to ${topics[at]} is refused`, { code: codes[at] }));
        else if (error) reject(error);
        else resolve();
      });
    });
  }

  /** Resolves with the reason code once the broker has acknowledged it, or with QoS 0 once it is sent. @throws MqttRefusal */
  async publish({ topic, payload, qos, retain, expirySeconds }: MqttMessage): Promise<number> {
    const most = this.accepted.properties?.maximumPacketSize;
    if (most !== undefined && Buffer.byteLength(topic) + Buffer.byteLength(payload) + headerBytes > most)
      throw new MqttRefusal(`the broker takes ${most} bytes`, 149, undefined);
    return this.#ask<number>((resolve, reject) => {
      const properties = expirySeconds === undefined ? {} : { messageExpiryInterval: expirySeconds };
      this.#mqtt.publish(topic, payload, { qos, retain, properties }, (error) => {
        if (error) return reject(this.#refusalOf('the broker refused it', error));
        const answer = this.#lastReceived;
        resolve(qos > 0 && answer?.cmd === 'puback' ? (answer.reasonCode ?? 0) : 0);
      });
    });
  }

  /** Acknowledges a message of QoS 1, so that the broker no longer keeps it. False when the connection has ended. */
  acknowledge(messageId: number): boolean {
    if (this.#stream.writableLength > mostUnsentBytes)
      this.destroy(new Error('the broker does not read its acknowledgements'));
    if (!this.isOpen) return false;
    // The whole of a PUBACK, in both versions. The library writes its packets whole, so this is between two of them.
    this.#stream.write(Buffer.from([0x40, 2, messageId >> 8, messageId & 0xff]));
    return true;
  }

  /** Reads no more messages until {@link resumeReading} is called. The connection stays open meanwhile. */
  pauseReading(): void {
    this.#stream.pauseReading();
  }

  resumeReading(): void {
    this.#stream.resumeReading();
  }

  /** Sends a disconnect packet first. */
  async close(): Promise<void> {
    this.#mqtt.end();
    const timer = setTimeout(() => this.#stream.destroy(), 1_000);
    await this.closed;
    clearTimeout(timer);
  }

  destroy(error: Error): void {
    this.#error ??= error;
    this.#stream.destroy();
  }

  get isOpen(): boolean {
    return this.#error === undefined && this.#stream.inner.writable;
  }

  /** Rejects when the connection ends first. */
  async #ask<T>(ask: (resolve: (value: T) => void, reject: (error: Error) => void) => void): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.add(reject);
    try {
      if (this.isOpen) ask(resolve, reject);
      else reject(this.#error ?? new Error('the connection is closed'));
      return await promise;
    } finally {
      this.#waiting.delete(reject);
    }
  }

  /** An unexpected packet ends the connection, so that a broker cannot keep this server busy. */
  #check(packet: Packet): void {
    this.#lastReceived = packet;
    if (packet.cmd === 'disconnect' || !this.isOpen) return;
    const isExpected =
      packet.cmd === 'publish'
        ? this.#isAccepted && this.#session.onMessage && packet.qos < 2
        : --this.#requests >= 0;
    if (!isExpected) return this.destroy(new Error(`the broker sent ${packet.cmd}, which was not asked for`));
    if (packet.cmd !== 'connack' || (packet.reasonCode ?? packet.returnCode) !== 0) return;
    this.#isAccepted = true;
    this.accepted = packet;
    this.#session.onAccepted?.(this);
  }

  /** With an error the library acknowledges nothing and reads on: {@link acknowledge} is called once the message is stored. */
  #handle(packet: IPublishPacket, done: (error: Error) => void): void {
    if (this.isOpen) this.#session.onMessage?.(packet, this);
    done(notAcknowledgedYet);
  }

  #refusalOf(what: string, error: Error | { code?: unknown }): Error {
    const { code } = error as { code?: unknown };
    if (typeof code !== 'number') return error as Error;
    const { properties } = (this.#lastReceived ?? {}) as { properties?: { reasonString?: string } };
    return new MqttRefusal(what, code, properties?.reasonString);
  }
}

const notAcknowledgedYet = new Error('not acknowledged yet');

interface MqttMessage {
  readonly topic: string;
  readonly payload: string;
  readonly qos: 0 | 1;
  readonly retain: boolean;
  /** After so many seconds the broker drops it; MQTT 3.1.1 has no such limit. */
  readonly expirySeconds?: number | undefined;
}

/** Far more than a record holds: callers mask secrets before they cut it, and would not know the beginning of one. */
const wordsChars = 2_000;

/** A reason code of MQTT 5 (128 or above) or a return code of MQTT 3.1.1 (1 to 5), with the broker's own text if it sent one. */
export class MqttRefusal extends Error {
  readonly code: number;

  constructor(what: string, code: number, words: string | undefined) {
    super(
      `${what}: ${reasons[code] ?? `reason code ${code}`}${words ? ` (${words.slice(0, wordsChars)})` : ''}`,
    );
    this.name = 'MqttRefusal';
    this.code = code;
  }
}

/** https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901031 */
const reasons: Readonly<Record<number, string>> = {
  1: 'the broker speaks neither MQTT 5 nor MQTT 3.1.1',
  2: 'the client id is not allowed',
  3: 'the broker is not available',
  4: 'user name or password is wrong',
  5: 'not authorized',
  131: 'refused by a rule of the broker',
  132: 'the broker speaks neither MQTT 5 nor MQTT 3.1.1',
  133: 'the client id is not allowed',
  134: 'user name or password is wrong',
  135: 'not authorized',
  136: 'the broker is not available',
  137: 'the broker is busy',
  138: 'banned',
  142: 'another client connected with the same client id',
  144: 'the topic is not allowed',
  143: 'the topic filter is not allowed',
  149: 'the message is too large',
  151: 'a quota is exceeded',
  153: 'the payload has the wrong format',
  158: 'the broker has no shared subscriptions',
  162: 'the broker has no wildcards',
};
