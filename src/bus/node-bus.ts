import { settlesWithin } from '#core/limits/concurrency.ts';
import type { Bus, Topic } from '#core/log/bus.ts';
import type { Entry } from '#core/log/log.ts';
import { createInProcessBus } from './in-process.ts';

/** How wake-ups travel between nodes. The bus does not rely on the promises to settle: it limits its own waiting. */
export interface Transport {
  /** Sends one wake-up on each topic to the nodes that listen to it. */
  send(topics: readonly Topic[]): Promise<void>;
  /** After this resolves, wake-ups on these topics arrive. Calls of `listen` and `unlisten` take effect in their order. */
  listen(topics: readonly Topic[]): Promise<void>;
  unlisten(topic: Topic): Promise<void>;
  /** Resolves when the other side has answered. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface TransportEvents {
  /** Another node sent a wake-up on the topic of this name. */
  onWake(name: string): void;
  /** The connection has ended, or will not work again. */
  onLost(error: Error): void;
}

export interface NodeBusOptions {
  /** Opens one connection; the bus calls it again after that is lost. */
  readonly connect: (events: TransportEvents) => Promise<Transport>;
  /** Called with the reason when other nodes cannot be woken, and with undefined when they can be again. */
  readonly onProblem: (problem: string | undefined) => void;
  /** Called with each error that a listener throws. */
  readonly onError: (error: unknown) => void;
  /** The interval of pings, and the longest wait for an answer. */
  readonly pingMs?: number;
}

const usualPingMs = 2_000;
const reconnectMs = 1_000;
const closeMs = 1_000;

/**
 * The bus of several nodes. Followers on this node are woken at once and get the entries; those on other nodes are woken without
 * entries, and only where a topic has listeners. What is published while a message is being sent goes with the next one. A
 * connection that is lost, or does not answer a ping, is opened again; then everyone on this node is woken once, because wake-ups
 * may have been lost.
 */
export class NodeBus implements Bus {
  readonly #options: NodeBusOptions;
  readonly #local: Bus;
  /** The number of listeners on this node, by topic. */
  readonly #followed = new Map<Topic, number>();
  #published = new Set<Topic>();
  #isSending = false;
  #transport: Transport | undefined;
  /** Grows with every connection: events of an earlier one are ignored. */
  #connection = 0;
  #problem: string | undefined;
  #reconnect: NodeJS.Timeout | undefined;
  readonly #pings: NodeJS.Timeout;
  #isClosed = false;
  /** Resolves once it is connected, or has failed to connect for the first time. */
  readonly ready: Promise<void>;

  constructor(options: NodeBusOptions) {
    this.#options = options;
    this.#local = createInProcessBus(options.onError);
    this.#pings = setInterval(() => void this.#ping(), options.pingMs ?? usualPingMs).unref();
    this.ready = this.#connect();
  }

  publish(topic: Topic, entries: readonly Entry[]): void {
    this.#local.publish(topic, entries);
    this.#published.add(topic);
    void this.#send();
  }

  subscribe(topic: Topic, listener: (entries: readonly Entry[]) => void): () => void {
    const stop = this.#local.subscribe(topic, listener);
    const count = this.#followed.get(topic) ?? 0;
    this.#followed.set(topic, count + 1);
    if (count === 0) void this.#listen([topic]);
    let isStopped = false;
    return () => {
      stop();
      if (isStopped) return;
      isStopped = true;
      this.#leave(topic);
    };
  }

  problem(): string | undefined {
    return this.#problem;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#pings);
    clearTimeout(this.#reconnect);
    const transport = this.#transport;
    this.#transport = undefined;
    if (transport) await settlesWithin(transport.close(), closeMs);
  }

  #leave(topic: Topic): void {
    const left = (this.#followed.get(topic) ?? 1) - 1;
    if (left > 0) {
      this.#followed.set(topic, left);
      return;
    }
    this.#followed.delete(topic);
    void this.#using((transport) => transport.unlisten(topic));
  }

  /** Listens to these topics, then wakes their listeners once, because earlier wake-ups did not arrive. */
  async #listen(topics: readonly Topic[]): Promise<void> {
    if (topics.length === 0) return;
    await this.#using(async (transport) => {
      await transport.listen(topics);
      for (const topic of topics) this.#local.publish(topic, []);
    });
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#published.size > 0 && this.#transport && !this.#isClosed) {
      const topics = [...this.#published];
      this.#published = new Set();
      await this.#using((transport) => transport.send(topics));
    }
    this.#isSending = false;
  }

  async #ping(): Promise<void> {
    const { pingMs = usualPingMs } = this.#options;
    await this.#using(async (transport) => {
      const ping = transport.ping();
      if (!(await settlesWithin(ping, pingMs))) throw new Error(`no answer within ${pingMs} ms`);
      await ping;
    });
  }

  /** Runs `work` with the connection, if there is one. On an error the connection is replaced. */
  async #using(work: (transport: Transport) => Promise<void>): Promise<void> {
    const [transport, connection] = [this.#transport, this.#connection];
    if (!transport) return;
    try {
      await work(transport);
    } catch (error) {
      this.#lose(connection, error);
    }
  }

  async #connect(): Promise<void> {
    this.#connection += 1;
    const connection = this.#connection;
    const events = {
      onWake: (name: string) => {
        const topic = topicNamed(name);
        if (topic !== undefined && connection === this.#connection) this.#local.publish(topic, []);
      },
      onLost: (error: Error) => this.#lose(connection, error),
    };
    try {
      const transport = await this.#options.connect(events);
      if (this.#isClosed || connection !== this.#connection)
        return void (await settlesWithin(transport.close(), closeMs));
      this.#transport = transport;
      this.#report(undefined);
      await this.#listen([...this.#followed.keys()]);
      void this.#send();
    } catch (error) {
      this.#lose(connection, error);
    }
  }

  #lose(connection: number, error: unknown): void {
    if (this.#isClosed || connection !== this.#connection) return;
    this.#connection += 1;
    const transport = this.#transport;
    this.#transport = undefined;
    // Not awaited, because it may hang.
    transport?.close().catch(() => undefined);
    this.#report(error instanceof Error ? error.message : String(error));
    this.#reconnect = setTimeout(() => void this.#connect(), reconnectMs);
    this.#reconnect.unref();
  }

  /** Reports the beginning and the end of a problem, each once. */
  #report(problem: string | undefined): void {
    const isNew = (problem === undefined) !== (this.#problem === undefined);
    this.#problem = problem;
    if (isNew) this.#options.onProblem(problem);
  }
}

/** undefined for any other name, because everybody who may connect can send messages. */
function topicNamed(name: string): Topic | undefined {
  if (name === 'directory' || name === 'commands') return name;
  return /^[1-9]\d{0,15}$/.test(name) ? Number(name) : undefined;
}
