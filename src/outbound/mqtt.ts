/** A connection to an MQTT 5 broker. */
import type { Socket } from 'node:net';
import {
  generate,
  type IConnackPacket,
  type IPublishPacket,
  type ISubscription,
  type Packet,
  parser,
  writeToStream,
} from 'mqtt-packet';
import { inTime, type Outbound, type OutboundOptions } from './outbound.ts';

// Saves memory: the library would cache a buffer for each of 65,536 numbers.
writeToStream.cacheNumbers = false;

const version = { protocolVersion: 5 };
const keepAliveSeconds = 60;
/** Reason codes from here on are errors. */
const firstFailure = 0x80;
const lastMessageId = 0xffff;

export interface MqttBroker {
  /** As in mqtt://host:1883 or mqtts://host:8883; without user and password. */
  readonly url: string;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

export interface MqttClient {
  readonly id: string;
  /** How long the broker keeps the session after the connection ends; undefined: each connection begins a new session. */
  readonly sessionSeconds?: number;
  /** Messages of QoS 1 that may wait for their acknowledgement. */
  readonly receiveMaximum?: number;
  /** The longest packet that the broker may send. A longer one ends the connection. */
  readonly packetBytes: number;
  /** Called before the first message. */
  readonly onAccepted?: (connection: MqttConnection) => void;
  readonly onPublish?: (packet: IPublishPacket, connection: MqttConnection) => void;
}

/** @throws ForbiddenAddress; MqttRefusal; Error when there is no answer in time. */
export async function connectMqtt(
  outbound: Outbound,
  broker: MqttBroker,
  client: MqttClient,
  options: Omit<OutboundOptions, 'maxBytes'>,
): Promise<MqttConnection> {
  const url = new URL(broker.url);
  const isSecure = url.protocol === 'mqtts:';
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(url.port || (isSecure ? 8883 : 1883));
  const socket = await outbound.connect({ host, port, isSecure }, options);
  const connection = new MqttConnection(socket, client);
  try {
    await inTime(options, () => connection.open(broker));
    return connection;
  } catch (error) {
    connection.destroy(error as Error);
    throw error;
  }
}

interface Waiting {
  readonly resolve: (packet: Packet) => void;
  readonly reject: (error: Error) => void;
}

export class MqttConnection {
  readonly #socket: Socket;
  readonly #client: MqttClient;
  /** Requests without an answer, by message id; 0 is the opening of the connection. */
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #openPings = 0;
  #error: Error | undefined;
  #keepAlive: NodeJS.Timeout | undefined;
  /** Resolves once the connection has ended, with the reason. */
  readonly closed: Promise<Error>;
  /** The broker's answer to the opening. */
  accepted: IConnackPacket = { cmd: 'connack', sessionPresent: false };

  constructor(socket: Socket, client: MqttClient) {
    this.#socket = socket;
    this.#client = client;
    const packets = parser(version);
    packets.on('packet', (packet) => {
      this.#take(packet);
      // Stops the parser: the rest of the data is ignored.
      if (this.#error) throw this.#error;
    });
    packets.on('error', (error: Error) => this.destroy(new Error(`not MQTT: ${error.message}`)));
    socket.on('data', (bytes) => {
      if (this.#error) return;
      try {
        // `parse` returns the length of an incomplete packet.
        if (packets.parse(bytes) > client.packetBytes) this.destroy(new Error('the broker sent too much'));
      } catch (error) {
        this.destroy(new Error(`not MQTT: ${(error as Error).message}`));
      }
    });
    socket.on('error', (error) => this.destroy(error));
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        clearInterval(this.#keepAlive);
        const error = this.#error ?? new Error('the broker closed the connection');
        for (const { reject } of this.#waiting.values()) reject(error);
        this.#waiting.clear();
        resolve(error);
      });
    });
  }

  /** @throws MqttRefusal */
  async open({ user, password }: MqttBroker): Promise<void> {
    const { id, sessionSeconds, receiveMaximum, packetBytes } = this.#client;
    await this.#ask(0, {
      ...{ cmd: 'connect', clientId: id, ...version, protocolVersion: 5, protocolId: 'MQTT' },
      ...{ clean: sessionSeconds === undefined, keepalive: keepAliveSeconds },
      ...(user !== undefined && { username: user }),
      ...(password !== undefined && { password: Buffer.from(password) }),
      properties: {
        maximumPacketSize: packetBytes,
        ...(sessionSeconds !== undefined && { sessionExpiryInterval: sessionSeconds }),
        ...(receiveMaximum !== undefined && { receiveMaximum }),
      },
    });
    this.#begin(this.accepted.properties?.serverKeepAlive ?? keepAliveSeconds);
  }

  /** @throws MqttRefusal for the first filter that is refused. */
  async subscribe(subscriptions: readonly ISubscription[]): Promise<void> {
    const messageId = this.#newId();
    const answer = await this.#ask(messageId, {
      ...{ cmd: 'subscribe', messageId, subscriptions: [...subscriptions] },
    });
    const codes = answer.cmd === 'suback' ? (answer.granted as number[]) : [];
    subscriptions.forEach(({ topic }, at) => {
      const code = codes[at] ?? firstFailure;
      if (code >= firstFailure)
        throw new MqttRefusal(`the subscription to ${topic} is refused`, code, undefined);
    });
  }

  /** Resolves with the reason code once the broker has acknowledged it, or with QoS 0 once it is sent. @throws MqttRefusal */
  async publish(message: Pick<IPublishPacket, 'topic' | 'payload' | 'qos' | 'retain'>): Promise<number> {
    const messageId = message.qos === 0 ? undefined : this.#newId();
    const packet: Packet = { cmd: 'publish', dup: false, ...message, ...(messageId && { messageId }) };
    const most = this.accepted.properties?.maximumPacketSize;
    if (most !== undefined && generate(packet, version).length > most)
      throw new MqttRefusal(`the broker takes ${most} bytes`, 149, undefined);
    if (messageId === undefined) {
      this.#send(packet);
      return 0;
    }
    const answer = await this.#ask(messageId, packet);
    return answer.cmd === 'puback' ? (answer.reasonCode ?? 0) : 0;
  }

  /** Acknowledges a message, so that the broker no longer keeps it. False when the connection has ended. */
  acknowledge(messageId: number): boolean {
    return this.#send({ cmd: 'puback', messageId, reasonCode: 0 });
  }

  /** Sends a disconnect packet first. */
  async close(): Promise<void> {
    this.#send({ cmd: 'disconnect', reasonCode: 0 });
    this.#socket.end();
    const timer = setTimeout(() => this.#socket.destroy(), 1_000);
    await this.closed;
    clearTimeout(timer);
  }

  destroy(error: Error): void {
    this.#error ??= error;
    this.#socket.destroy();
  }

  /** The address that it is connected to. */
  get source(): string {
    return this.#socket.remoteAddress ?? '';
  }

  get isOpen(): boolean {
    return this.#error === undefined && this.#socket.writable;
  }

  /** An unexpected packet ends the connection, so that a broker cannot keep this server busy. */
  #take(packet: Packet): void {
    switch (packet.cmd) {
      case 'publish':
        if (!this.#client.onPublish) return this.#refuse(packet);
        return this.#client.onPublish(packet, this);
      case 'connack':
        if (!this.#waiting.has(0)) return this.#refuse(packet);
        this.accepted = packet;
        this.#client.onAccepted?.(this);
        return this.#answer(0, packet, packet.reasonCode ?? packet.returnCode ?? 0);
      case 'puback':
        return this.#answer(packet.messageId ?? 0, packet, packet.reasonCode ?? 0);
      case 'suback':
        return this.#answer(packet.messageId ?? 0, packet, 0);
      case 'disconnect':
        return this.destroy(
          new MqttRefusal('the broker ended the connection', packet.reasonCode ?? 0, wordsOf(packet)),
        );
      case 'pingresp':
        if (this.#openPings === 0) return this.#refuse(packet);
        this.#openPings -= 1;
        return undefined;
      default:
        return this.#refuse(packet);
    }
  }

  #refuse({ cmd }: Packet): void {
    this.destroy(new Error(`the broker sent ${cmd}, which was not asked for`));
  }

  #answer(id: number, packet: Packet, code: number): void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return this.#refuse(packet);
    this.#waiting.delete(id);
    if (code < firstFailure && (packet.cmd !== 'connack' || code === 0)) waiting.resolve(packet);
    else waiting.reject(new MqttRefusal('the broker refused it', code, wordsOf(packet)));
  }

  #ask(id: number, packet: Packet): Promise<Packet> {
    return new Promise((resolve, reject) => {
      if (this.#error || this.#socket.destroyed)
        return reject(this.#error ?? new Error('the connection is closed'));
      this.#waiting.set(id, { resolve, reject });
      this.#send(packet);
    });
  }

  #send(packet: Packet): boolean {
    if (!this.isOpen) return false;
    this.#socket.write(generate(packet, version));
    return true;
  }

  #newId(): number {
    do this.#lastId = (this.#lastId % lastMessageId) + 1;
    while (this.#waiting.has(this.#lastId));
    return this.#lastId;
  }

  /** Starts the keep-alive pings. A connection without an answer is ended. */
  #begin(seconds: number): void {
    if (seconds === 0) return;
    let read = this.#socket.bytesRead;
    let isAsked = false;
    const look = () => {
      const isSilent = this.#socket.bytesRead === read;
      read = this.#socket.bytesRead;
      if (isSilent && isAsked) return this.destroy(new Error('the broker no longer answers'));
      isAsked = true;
      this.#openPings += 1;
      this.#send({ cmd: 'pingreq' });
    };
    this.#keepAlive = setInterval(look, seconds * 500).unref();
  }
}

function wordsOf(packet: Packet): string | undefined {
  return (packet as { properties?: { reasonString?: string } }).properties?.reasonString;
}

/** The error of a request that an MQTT 5 broker refuses. */

/** Far more than a record holds: callers mask secrets before they cut it, and would not know the beginning of one. */
const wordsChars = 2_000;

/** A reason code of 128 or above, with the broker's own text if it sent one. */
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
  1: 'the broker does not speak MQTT 5',
  131: 'refused by a rule of the broker',
  132: 'the broker does not speak MQTT 5',
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
