/** Listeners for syslog over UDP, TCP and TLS. All messages belong to the token that a setting names. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '#contract/limits.ts';
import { addressSet, canonicalAddress } from '#core/addresses.ts';
import { AppError, unauthorized } from '#core/errors.ts';
import type { Certificate } from './certificate.ts';
import {
  type ListenAddress,
  type ListenerIntake,
  type ListenerLog,
  type ListenerName,
  type OpenPort,
  storeItem,
} from './intake.ts';
import {
  type Frames,
  itemOfSyslog,
  parseSyslog,
  SyslogFrames,
  type SyslogMessage,
  type SyslogSeverity,
  syslogSeverities,
} from './syslog-message.ts';

interface SyslogOptions {
  readonly token: string;
  /** Networks that may send. */
  readonly allow: readonly string[];
  /** Less serious messages are not stored. */
  readonly least: SyslogSeverity;
}

/** The most datagrams that wait for the disk. UDP cannot be slowed down, so further ones are dropped and counted. */
const mostDatagrams = 1_000;
const mostConnections = 1_000;
const mostOfAddress = 100;
/** How many messages of a connection are stored together. The next ones wait for those that the rate limit delays. */
const atOnce = 32;
/** A connection must send its first message within this time. After that it may stay silent. */
const firstMessageMs = 60_000;
const longestRetryMs = 10_000;
const closeMs = 1_000;

/** The messages of one connection. */
interface Stream {
  /** Resolves once everything read so far is stored. */
  stored(): Promise<void>;
  /** Reads nothing more; resolves as `stored`. */
  close(): Promise<void>;
}

const sourceOf = ({ remoteAddress = '' }: Socket) => canonicalAddress(remoteAddress) ?? '';

export class SyslogReceiver {
  readonly #intake: ListenerIntake;
  readonly #options: SyslogOptions;
  readonly #log: ListenerLog;
  readonly #isAllowed;
  #warned = false;

  constructor(intake: ListenerIntake, options: SyslogOptions, log: ListenerLog) {
    this.#intake = intake;
    this.#options = options;
    this.#log = log;
    this.#isAllowed = addressSet(options.allow);
  }

  async listenUdp({ host, port }: ListenAddress): Promise<OpenPort> {
    const name = 'syslog-udp';
    const socket = createSocket({ type: host?.includes(':') === false ? 'udp4' : 'udp6', ipv6Only: false });
    const underWay = new Set<Promise<void>>();
    socket.on('message', (bytes, { address }) => {
      const source = canonicalAddress(address) ?? address;
      if (!this.#isAllowed(source)) return this.#intake.count(name, 'refused');
      if (underWay.size >= mostDatagrams || bytes.length > limits.bodyBytes)
        return this.#intake.count(name, 'dropped');
      const storing = this.#storeOnce(name, bytes, source).finally(() => underWay.delete(storing));
      underWay.add(storing);
    });
    socket.on('error', (error) => this.#log.warn({ err: error }, `${name}: the socket failed`));
    socket.bind({ port, ...(host !== undefined && { address: host }) });
    await once(socket, 'listening');
    return {
      name,
      port: socket.address().port,
      close: async () => {
        socket.close();
        await Promise.race([Promise.all(underWay), sleep(closeMs, undefined, { ref: false })]);
      },
    };
  }

  async listenTcp(address: ListenAddress): Promise<OpenPort> {
    const server = createServer({ allowHalfOpen: true });
    return this.#listen('syslog-tcp', server, address);
  }

  async listenTls(address: ListenAddress, certificate: Certificate): Promise<OpenPort> {
    const { createServer: createTlsServer } = await import('node:tls');
    const server = createTlsServer({ ...certificate.current, handshakeTimeout: 10_000 });
    // Failed handshakes are not logged. Node does not close all of their connections.
    server.on('tlsClientError', (_error, socket) => socket.destroy());
    // Not before the handshake: then nobody reads a connection, so its end would never be seen.
    server.on('secureConnection', (socket) => {
      socket.allowHalfOpen = true;
    });
    server.on(
      'close',
      certificate.onRenewal((files) => server.setSecureContext(files)),
    );
    return this.#listen('syslog-tls', server, address);
  }

  async #listen(name: ListenerName, server: Server, { host, port }: ListenAddress): Promise<OpenPort> {
    server.maxConnections = mostConnections;
    const sockets = new Set<Socket>();
    const streams = new Set<Stream>();
    // For TLS this is before the handshake.
    server.on('connection', (socket: Socket) => {
      const source = sourceOf(socket);
      const others = [...sockets].filter((each) => sourceOf(each) === source).length;
      sockets.add(socket.once('close', () => sockets.delete(socket)));
      socket.on('error', () => socket.destroy());
      if (this.#isAllowed(source) && others < mostOfAddress) return;
      this.#intake.count(name, 'refused');
      socket.destroy();
    });
    server.on(name === 'syslog-tls' ? 'secureConnection' : 'connection', (socket: Socket) => {
      if (socket.destroyed) return;
      const stream = this.#serve(name, socket);
      streams.add(stream);
      socket.once('close', () => void stream.stored().finally(() => streams.delete(stream)));
    });
    server.listen({ port, ...(host !== undefined && { host }) });
    await once(server, 'listening');
    const bound = server.address();
    return {
      name,
      port: typeof bound === 'object' && bound ? bound.port : port,
      close: async () => {
        const closed = once(server, 'close');
        server.close();
        const stored = Promise.all([...streams].map((stream) => stream.close()));
        await Promise.race([stored, sleep(closeMs, undefined, { ref: false })]);
        for (const socket of sockets) socket.destroy();
        await closed;
      },
    };
  }

  /** Reads nothing more while messages are being stored, so a fast sender has to wait. */
  #serve(name: ListenerName, socket: Socket): Stream {
    const source = sourceOf(socket);
    const frames = new SyslogFrames(limits.bodyBytes);
    let storing: Promise<void> = Promise.resolve();
    let isClosing = false;
    const silent = setTimeout(() => socket.destroy(), firstMessageMs).unref();
    const take = ({ frames: messages, isBroken }: Frames, isLast: boolean) => {
      if (messages.length > 0) clearTimeout(silent);
      if (isBroken) this.#intake.count(name, 'dropped');
      const next = isBroken ? () => socket.destroy() : isLast ? () => socket.end() : () => socket.resume();
      socket.pause();
      // The end comes also while earlier messages are being stored.
      storing = storing
        .then(() => this.#storeAll(name, messages, { source, socket }))
        .then(() => {
          if (!isClosing) next();
        });
    };
    socket.setKeepAlive(true, 60_000);
    socket.on('close', () => clearTimeout(silent));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      take(frames.push(chunk), false);
    });
    socket.on('end', () => take(frames.end(), true));
    return {
      stored: () => storing,
      close: () => {
        isClosing = true;
        socket.pause();
        return storing;
      },
    };
  }

  /** Stores messages in order. If one cannot be stored now, it is retried and the others wait, until the connection closes. */
  async #storeAll(
    name: ListenerName,
    all: readonly Buffer[],
    { source, socket }: { source: string; socket: Socket },
  ): Promise<void> {
    for (let i = 0; i < all.length; i += atOnce) {
      let left = all.slice(i, i + atOnce).flatMap((bytes) => this.#read(name, bytes) ?? []);
      while (left.length > 0) {
        const errors = await Promise.all(left.map((message) => this.#store(name, message, source)));
        left = left.filter((_, at) => errors[at]);
        if (left.length === 0) break;
        if (socket.destroyed) {
          for (const error of errors) if (error) this.#drop(name, error);
          break;
        }
        const seconds = Math.max(...errors.map((error) => error?.retryAfterSeconds ?? 0));
        await sleep(Math.min(seconds * 1000, longestRetryMs), undefined, { ref: false });
      }
    }
  }

  async #storeOnce(name: ListenerName, bytes: Buffer, source: string): Promise<void> {
    const message = this.#read(name, bytes);
    const error = message && (await this.#store(name, message, source));
    if (error) this.#drop(name, error);
  }

  /** Undefined for a message that must not be stored. */
  #read(name: ListenerName, bytes: Buffer): SyslogMessage | undefined {
    const message = parseSyslog(bytes);
    if (!message) this.#intake.count(name, 'refused');
    const least = syslogSeverities.indexOf(this.#options.least);
    return message && syslogSeverities.indexOf(message.severity) <= least ? message : undefined;
  }

  /** Never throws. Counts a message that is stored or refused. Otherwise returns the error after which it may be retried. */
  async #store(name: ListenerName, message: SyslogMessage, source: string): Promise<AppError | undefined> {
    try {
      const sender = await this.#intake.findSender(this.#options.token, source);
      if (!sender) throw unauthorized('BELFRY_SYSLOG_TOKEN is no valid token with the scope notify');
      await storeItem(this.#intake, sender, { source, listener: name }, itemOfSyslog(message, source));
      this.#warned = false;
      this.#intake.count(name, 'stored');
    } catch (error) {
      const known = error instanceof AppError ? error : undefined;
      if (known?.retryAfterSeconds !== undefined) return known;
      if (known?.code !== 'bad-request') this.#warnOnce(name, error);
      this.#intake.count(name, 'refused');
    }
    return undefined;
  }

  #drop(name: ListenerName, error: AppError): void {
    this.#warnOnce(name, error);
    this.#intake.count(name, 'dropped');
  }

  /** Warns once, until a message is stored again, so that thousands of messages do not fill the log. */
  #warnOnce(name: ListenerName, error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn({ err: error }, `${name}: messages are not stored`);
  }
}
