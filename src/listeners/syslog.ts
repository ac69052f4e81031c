/** Listeners for syslog over UDP, TCP and TLS. Their messages belong to the one token that a setting names. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '#contract/limits.ts';
import { canonicalAddress, compileAddressSet, findAddressKey, parseAddressRange } from '#core/addresses.ts';
import { AppError } from '#core/errors.ts';
import {
  type ListenAddress,
  type Listener,
  type ListenerIntake,
  type ListenerLog,
  type ListenerName,
  storeItem,
} from './intake.ts';
import { FrameTooLong, SyslogFrames } from './syslog-frames.ts';
import { itemOfSyslog, parseSyslog, type SyslogSeverity, syslogSeverities } from './syslog-message.ts';

export interface SyslogOptions {
  readonly token: string;
  /** Networks that may send. */
  readonly allow: readonly string[];
  /** Less serious messages are not stored. */
  readonly least: SyslogSeverity;
}

/** So many datagrams wait for the disk: UDP cannot be slowed down, so what comes beyond is lost and counted. */
const mostDatagrams = 1_000;
const mostConnections = 1_000;
/** A connection must bring its first message in this time; afterwards it may be silent for as long as it likes. */
const firstMessageMs = 60_000;
const longestRetryMs = 10_000;
const closeMs = 1_000;

export class SyslogReceiver {
  readonly #intake: ListenerIntake;
  readonly #options: SyslogOptions;
  readonly #log: ListenerLog;
  readonly #isAllowed: (address: string) => boolean;
  #warned = false;

  constructor(intake: ListenerIntake, options: SyslogOptions, log: ListenerLog) {
    this.#intake = intake;
    this.#options = options;
    this.#log = log;
    const allowed = compileAddressSet(options.allow.map(parseAddressRange));
    this.#isAllowed = (address) => {
      const key = findAddressKey(address);
      return key !== undefined && allowed(key);
    };
  }

  async listenUdp({ host, port }: ListenAddress): Promise<Listener> {
    const name = 'syslog-udp';
    const socket = createSocket({ type: host?.includes(':') === false ? 'udp4' : 'udp6', ipv6Only: false });
    const underWay = new Set<Promise<void>>();
    socket.on('message', (bytes, { address }) => {
      const source = canonicalAddress(address) ?? address;
      if (!this.#isAllowed(source)) return this.#intake.count(name, 'refused');
      if (underWay.size >= mostDatagrams || bytes.length > limits.bodyBytes)
        return this.#intake.count(name, 'dropped');
      const storing = this.#store(name, bytes, source, { retries: false }).finally(() =>
        underWay.delete(storing),
      );
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

  async listenTcp(address: ListenAddress): Promise<Listener> {
    const server = createServer((socket) => this.#serve('syslog-tcp', socket));
    return this.#listen('syslog-tcp', server, address);
  }

  async listenTls(address: ListenAddress, { cert, key }: { cert: Buffer; key: Buffer }): Promise<Listener> {
    const { createServer: createTlsServer } = await import('node:tls');
    const server = createTlsServer({ cert, key, handshakeTimeout: 10_000 }, (socket) =>
      this.#serve('syslog-tls', socket),
    );
    // A handshake that fails is the sender's affair.
    server.on('tlsClientError', () => undefined);
    return this.#listen('syslog-tls', server, address);
  }

  async #listen(name: ListenerName, server: Server, { host, port }: ListenAddress): Promise<Listener> {
    server.maxConnections = mostConnections;
    const sockets = new Set<Socket>();
    // For TLS this is before the handshake.
    server.on('connection', (socket: Socket) => {
      sockets.add(socket.once('close', () => sockets.delete(socket)));
      socket.on('error', () => socket.destroy());
      if (this.#isAllowed(canonicalAddress(socket.remoteAddress ?? '') ?? '')) return;
      this.#intake.count(name, 'refused');
      socket.destroy();
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
        for (const socket of sockets) socket.destroy();
        await closed;
      },
    };
  }

  /** While messages are stored, nothing more is read: a sender that is too fast waits. */
  #serve(name: ListenerName, socket: Socket): void {
    const source = canonicalAddress(socket.remoteAddress ?? '') ?? '';
    const frames = new SyslogFrames(limits.bodyBytes);
    socket.setKeepAlive(true, 60_000);
    socket.setTimeout(firstMessageMs, () => socket.destroy());
    socket.on('error', () => socket.destroy());
    const storeAll = async (messages: readonly Buffer[]) => {
      await Promise.all(messages.map((bytes) => this.#store(name, bytes, source, { retries: true, socket })));
    };
    socket.on('data', (chunk: Buffer) => {
      let messages: Buffer[];
      try {
        messages = frames.push(chunk);
      } catch (error) {
        if (!(error instanceof FrameTooLong)) throw error;
        this.#intake.count(name, 'dropped');
        socket.destroy();
        return;
      }
      if (messages.length === 0) return;
      socket.setTimeout(0);
      socket.pause();
      void storeAll(messages).finally(() => socket.resume());
    });
    socket.on('end', () => void storeAll(frames.end()));
  }

  /** Never throws: what is not stored is counted. */
  async #store(
    name: ListenerName,
    bytes: Buffer,
    source: string,
    { retries, socket }: { retries: boolean; socket?: Socket },
  ): Promise<void> {
    const message = parseSyslog(bytes);
    const { least, token } = this.#options;
    if (!message) return this.#intake.count(name, 'refused');
    if (syslogSeverities.indexOf(message.severity) > syslogSeverities.indexOf(least)) return undefined;
    for (;;) {
      try {
        const sender = await this.#intake.findSender(token, source);
        if (!sender)
          throw new AppError('unauthorized', 'BELFRY_SYSLOG_TOKEN is no valid token with the scope notify');
        await storeItem(this.#intake, sender, { source, listener: name }, itemOfSyslog(message, source));
        this.#warned = false;
        return this.#intake.count(name, 'stored');
      } catch (error) {
        const known = error instanceof AppError ? error : undefined;
        const isPassing = known?.retryAfterSeconds !== undefined;
        if (!retries || !isPassing || socket?.destroyed) {
          if (known?.code !== 'bad-request') this.#warnOnce(name, error);
          return this.#intake.count(name, isPassing ? 'dropped' : 'refused');
        }
        await sleep(Math.min((known?.retryAfterSeconds ?? 1) * 1000, longestRetryMs), undefined, {
          ref: false,
        });
      }
    }
  }

  /** Once, until one is stored again: thousands of messages would fill the log. */
  #warnOnce(name: ListenerName, error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#log.warn({ err: error }, `${name}: messages are not stored`);
  }
}
