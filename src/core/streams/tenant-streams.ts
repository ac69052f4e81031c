/**
 * Streams: from the logs to the connected panels. For each tenant with a connected panel there is a hub: one follower of the
 * log, the newest entries encoded once as frames, and the streams that share them. A follower delivers stored entries and then
 * new ones, each once and in order; the bus only makes it read at once, and the head of every followed log is read once a second
 * in any case. A panel's stream is a cursor: it writes the next chunk when the last one was taken, so nobody waits for a slow
 * panel. One that takes nothing for 30 seconds is disconnected and resumes from its cursor. A panel that resumes gets what
 * came after its cursor. If history does not keep that any more, it gets `gap` or `reset`, and then the live set. Hubs open with
 * their first panel and close when the last one has left. `presence.ts` knows the panels connected to all nodes (`nodes.ts`), and
 * brings commands to them.
 */
import { setTimeout as wait, setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { AppError, requireFound } from '../errors.ts';
import { createYieldToEventLoop } from '../limits/concurrency.ts';
import type { Bus } from '../log/bus.ts';
import type { Entry, History } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import type { Tracer } from '../observability/tracing.ts';
import type { PanelRecord } from '../tenants/directory.ts';
import type { Tenancy, TenantSnapshot } from '../tenants/tenancy.ts';
import type { EncodingContext, StreamKind } from './encoding.ts';
import { follow, pollHeads } from './follow.ts';
import { FrameBuffer } from './frame-buffer.ts';
import { screenStreams } from './frames.ts';
import {
  type ConnectionState,
  type ConnectRequest,
  connectedPanels,
  Feed,
  type Hub,
  type PanelContact,
  retryMs,
  sayBye,
  settingsOf,
  type TenantStreamsEntry,
  updateSettings,
  updateSuppresses,
} from './hub.ts';
import { createLastSounds } from './last-sounds.ts';
import type { NodePanels } from './nodes.ts';
import { PanelStream, type Sink } from './panel-stream.ts';
import { SuppressingReader } from './suppresses.ts';

export interface TenantStreamsOptions {
  readonly history: Pick<
    History,
    'bounds' | 'heads' | 'readAfter' | 'live' | 'readLive' | 'suppression' | 'recordsAt' | 'find'
  >;
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly tenancy: Tenancy;
  readonly epoch: string;
  readonly now: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicNow: () => number;
  readonly heartbeatMs: number;
  /** The public URL of this server, if it is known. */
  readonly baseUrl?: string | undefined;
  readonly onError: (error: unknown) => void;
  /** Counts notifications written to a tenant's panels. */
  readonly onSent: (tenant: TenantId, notifications: number) => void;
  /** Called when a panel connects and disconnects, and regularly in between. */
  readonly onContact: (tenant: TenantId, panel: PanelContact) => void;
  readonly tracer?: Tracer | undefined;
}

/** One connected screen of a panel, or a reader of several panels. */
export interface Connection {
  readonly stream: PanelStream;
  /** To be called when the client has disconnected. */
  disconnected(): void;
}

/** A hub without streams is kept this long, so that panels that reconnect find their frames in memory. */
const lingerMs = 15_000;
/** A quiet stream is written to at least so often: apps give up after 77 s, most proxies after 60. */
const longestQuietMs = 45_000;
/** If the log cannot be read for this long, heartbeats stop, so that panels show that they are stale and reconnect elsewhere. */
const unreadMs = 5_000;

/** The streams of all panels: one follower for each tenant, one cursor for each panel. */
export class TenantStreams {
  readonly #options: TenantStreamsOptions;
  #epoch: string;
  readonly #hubs = new Map<TenantId, TenantStreamsEntry>();
  readonly #ticker: NodeJS.Timeout;
  readonly #stopPolling: () => void;
  readonly #stopListening: () => void;
  readonly #lastSounds = createLastSounds();
  #draining = false;

  constructor(options: TenantStreamsOptions) {
    this.#options = options;
    this.#epoch = options.epoch;
    this.#ticker = setInterval(() => this.#tick(), Math.min(1_000, options.heartbeatMs / 2)).unref();
    this.#stopPolling = pollHeads(options, this.#hubs);
    this.#stopListening = options.tenancy.onChange((tenant) => {
      this.#changed(tenant).catch(options.onError);
    });
  }

  /**
   * Connects a reader of these panels and begins its stream.
   * @throws AppError `unavailable` while the server drains.
   */
  async connect(
    snapshot: TenantSnapshot,
    panels: readonly PanelRecord[],
    sink: Sink,
    request: ConnectRequest,
  ): Promise<Connection> {
    this.#assertOpen();
    const tenant = snapshot.record.id;
    const slot = this.#claim(tenant);
    const release = () => {
      slot.users -= 1;
      if (slot.users === 0) this.#closeLater(tenant, slot);
    };
    try {
      const hub = await slot.opening;
      this.#assertOpen();
      if (this.#hubs.get(tenant) !== slot)
        throw new AppError('unavailable', 'the log has a new epoch; connect again', { retryAfterSeconds: 1 });
      return await this.#begin(hub, { snapshot, panels, sink, request }, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  /** Writes to `sink` what a reader of these panels would get now, and ends it. The reader does not count as connected. */
  async read(
    snapshot: TenantSnapshot,
    panels: readonly PanelRecord[],
    sink: Sink,
    { from, kind }: Pick<ConnectRequest, 'from' | 'kind'>,
  ): Promise<void> {
    this.#assertOpen();
    const { history, now, monotonicNow, onError, onSent, heartbeatMs } = this.#options;
    const tenant = snapshot.record.id;
    const encodingContext = this.#encodingContext(tenant);
    const encoding = kind.encoding(encodingContext);
    const { head } = await history.bounds(tenant);
    const context = {
      ...{ tenant, epoch: this.#epoch, encoding, history, now, monotonicNow, onError },
      buffer: new FrameBuffer(head),
      onSent: (notifications: number) => onSent(tenant, notifications),
      onIdle: () => stream.end(),
    };
    const stream: PanelStream = new PanelStream(
      context,
      sink,
      kind.encoder(encodingContext, encoding, panels),
    );
    const { data } = settingsOf(snapshot, panels[0] as PanelRecord);
    await stream.start(from, { ...data, heartbeatMs }, retryMs());
  }

  /** What a reader of these panels gets of the entry at `position`, also if something came after it; undefined: nothing. */
  async readOne(
    { record: { id: tenant } }: TenantSnapshot,
    panels: readonly PanelRecord[],
    position: number,
    kind: StreamKind,
  ): Promise<Buffer | undefined> {
    const { history, now, onError } = this.#options;
    const [entry] = (await history.readAfter(tenant, position - 1, 1)).entries;
    if (entry?.position !== position) return undefined;
    const context = this.#encodingContext(tenant);
    const encoding = kind.encoding(context);
    const [frame] = await encoding.framesOf([entry], now(), onError);
    return frame && kind.encoder(context, encoding, panels).bytesOf(frame, now());
  }

  /** Identifies the life of the logs that streams read. */
  get epoch(): string {
    return this.#epoch;
  }

  async #begin(
    hub: Hub,
    wanted: {
      readonly snapshot: TenantSnapshot;
      readonly panels: readonly PanelRecord[];
      readonly sink: Sink;
      readonly request: ConnectRequest;
    },
    release: () => void,
  ): Promise<Connection> {
    const { history, tenancy, now, monotonicNow, onError, onSent, onContact, heartbeatMs } = this.#options;
    const epoch = this.#epoch;
    const { sink, request } = wanted;
    const { kind, screen } = request;
    const tenant = wanted.snapshot.record.id;
    // Read again, because a change during the wait has not reached this stream. Later changes do.
    const snapshot = tenancy.peek(tenant) ?? wanted.snapshot;
    const panels = wanted.panels.map(({ id }) => requireFound(snapshot.panels.get(id), 'panel'));
    const [panel] = panels as [PanelRecord];
    const { encoding, buffer } = this.#feedOf(hub, tenant, kind);
    const context = {
      tenant,
      epoch,
      encoding,
      history,
      buffer,
      now,
      monotonicNow,
      onError,
      onSent: (notifications: number) => onSent(tenant, notifications),
    };
    const encoder = kind.encoder(this.#encodingContext(tenant), encoding, panels);
    const stream = new PanelStream(context, sink, encoder);
    const { data: settings, digest } = settingsOf(snapshot, panel);
    const state = { kind, screen, settingsDigest: digest, suppresses: new Map() };
    hub.connections.set(stream, state);
    const report = () => {
      for (const { id } of panels) onContact(tenant, { id, cursor: stream.cursor, ...screen });
    };
    try {
      await stream.start(request.from, { ...settings, heartbeatMs }, retryMs());
    } catch (error) {
      this.#leave(hub, stream, kind);
      throw error;
    }
    report();
    updateSuppresses(snapshot, stream, state, hub.suppressing.last);
    const disconnected = () => {
      if (!this.#leave(hub, stream, kind)) return;
      stream.destroy();
      report();
      release();
    };
    return { stream, disconnected };
  }

  /** The frames for streams of this kind; they are made from its first stream on. */
  #feedOf(hub: Hub, tenant: TenantId, kind: StreamKind): Feed {
    let feed = hub.feeds.get(kind.name);
    if (!feed) {
      feed = new Feed(
        kind.encoding(this.#encodingContext(tenant)),
        hub.follower.position,
        this.#options.onError,
      );
      hub.feeds.set(kind.name, feed);
    }
    feed.streams += 1;
    return feed;
  }

  /** Returns false if the stream has left before. */
  #leave(hub: Hub, stream: PanelStream, { name }: StreamKind): boolean {
    const left = hub.connections.delete(stream);
    const feed = hub.feeds.get(name);
    if (!left || !feed) return left;
    feed.streams -= 1;
    // Screens come back soon, and find their frames in memory.
    if (feed.streams === 0 && name !== screenStreams.name) hub.feeds.delete(name);
    return left;
  }

  /** The panels of a tenant that are connected to this node, or only `panelId`, and the head of the log. */
  async online(tenant: TenantId, panelId?: string): Promise<Omit<NodePanels, 'tenant'>> {
    const hub = this.#hubs.get(tenant)?.hub;
    const head = hub?.follower.position ?? (await this.#options.history.bounds(tenant)).head;
    return { head, panels: connectedPanels(hub?.connections ?? [], head, panelId) };
  }

  /** The connections to this node. */
  *connected(): Generator<NodePanels> {
    for (const [tenant, { hub }] of this.#hubs) {
      if (!hub || hub.connections.size === 0) continue;
      const head = hub.follower.position;
      yield { tenant, head, panels: connectedPanels(hub.connections, head) };
    }
  }

  /**
   * Sends an event that is no entry of the log to the screens of a panel that are connected to this node; others never get
   * it. Returns whether there was one.
   */
  sendEvent(tenant: TenantId, panelId: string, event: string, data: unknown): boolean {
    let reached = false;
    for (const stream of this.#hubs.get(tenant)?.hub?.connections.keys() ?? []) {
      if (!stream.panels.some(({ id }) => id === panelId)) continue;
      reached = stream.sendEvent(event, data) || reached;
    }
    return reached;
  }

  /** Whether the server is stopping: it opens no more streams. */
  get draining(): boolean {
    return this.#draining;
  }

  /** Sends `bye` to every panel with a time to reconnect, spread over a few seconds. */
  drain(): void {
    this.#draining = true;
    for (const { hub } of this.#hubs.values()) sayBye(hub);
  }

  /** After a restore the log has a new epoch: streams of the old epoch end, and panels reset when they reconnect. */
  useEpoch(epoch: string): void {
    if (epoch === this.#epoch) return;
    this.#epoch = epoch;
    const ended = [...this.#hubs.values()];
    this.#hubs.clear();
    for (const { hub } of ended) {
      hub?.follower.close();
      sayBye(hub);
    }
  }

  close(): void {
    this.#draining = true;
    clearInterval(this.#ticker);
    this.#stopPolling();
    this.#stopListening();
    for (const { hub } of this.#hubs.values()) {
      hub?.follower.close();
      for (const stream of hub?.connections.keys() ?? []) stream.destroy();
    }
    this.#hubs.clear();
  }

  #claim(tenant: TenantId): TenantStreamsEntry {
    let slot = this.#hubs.get(tenant);
    if (!slot) {
      const created: TenantStreamsEntry = { opening: this.#open(tenant), hub: undefined, users: 0 };
      created.opening.then(
        (hub) => {
          if (this.#draining || this.#hubs.get(tenant) !== created) hub.follower.close();
          else created.hub = hub;
        },
        () => {
          if (this.#hubs.get(tenant) === created) this.#hubs.delete(tenant);
        },
      );
      this.#hubs.set(tenant, created);
      slot = created;
    }
    slot.users += 1;
    return slot;
  }

  #assertOpen(): void {
    if (this.#draining)
      throw new AppError('unavailable', 'the server is shutting down', { retryAfterSeconds: 2 });
  }

  async #open(tenant: TenantId): Promise<Hub> {
    const { history, bus, now, monotonicNow, onError, tracer } = this.#options;
    const { head } = await history.bounds(tenant);
    const encoding = screenStreams.encoding(this.#encodingContext(tenant));
    const feeds = new Map([[screenStreams.name, new Feed(encoding, head, onError)]]);
    const connections = new Map<PanelStream, ConnectionState>();
    const scheduler = new FlushScheduler({ streams: () => connections.keys(), monotonicNow, tracer });
    const deliver = (entries: readonly Entry[]) => {
      for (const feed of feeds.values()) feed.push(entries, now(), () => scheduler.schedule());
    };
    const onGap = (first: number) => {
      for (const feed of feeds.values()) feed.reset(first - 1);
    };
    return {
      feeds,
      connections,
      suppressing: new SuppressingReader(this.#options, tenant),
      follower: follow({ history, bus, tenant, from: head, deliver, onGap, onError, monotonicNow }),
    };
  }

  #encodingContext(tenant: TenantId): EncodingContext {
    const { history, tenancy, baseUrl, now } = this.#options;
    const snapshot = () => tenancy.peek(tenant);
    const router = () => snapshot()?.router;
    const lastSounds = this.#lastSounds;
    return { tenant, epoch: this.#epoch, history, snapshot, router, baseUrl, lastSounds, now };
  }

  #closeLater(tenant: TenantId, slot: TenantStreamsEntry): void {
    setTimeout(() => {
      if (slot.users > 0 || this.#hubs.get(tenant) !== slot) return;
      this.#hubs.delete(tenant);
      slot.hub?.follower.close();
    }, lingerMs).unref();
  }

  #tick(): void {
    const { heartbeatMs, monotonicNow, onContact } = this.#options;
    for (const [tenant, { hub }] of this.#hubs) {
      const isCurrent = hub && monotonicNow() - hub.follower.readAt < unreadMs;
      for (const [stream, { screen, kind }] of hub?.connections ?? []) {
        const quietMs = Math.min(heartbeatMs * kind.heartbeats, longestQuietMs);
        stream.tick(isCurrent ? quietMs : Number.POSITIVE_INFINITY);
        if (stream.closed) continue;
        for (const { id } of stream.panels) onContact(tenant, { id, cursor: stream.cursor, ...screen });
      }
      if (isCurrent) this.#sendSuppresses(tenant, hub).catch(this.#options.onError);
    }
  }

  async #sendSuppresses(tenant: TenantId, hub: Hub): Promise<void> {
    const snapshot = this.#options.tenancy.peek(tenant);
    if (!snapshot || hub.connections.size === 0) return;
    const hasRules = snapshot.router.suppressing.length > 0;
    if (!(await hub.suppressing.read(hub.follower.position, hasRules))) return;
    const yieldToEventLoop = createYieldToEventLoop();
    for (const [stream, state] of hub.connections) {
      updateSuppresses(snapshot, stream, state, hub.suppressing.last);
      const pause = yieldToEventLoop();
      if (pause) await pause;
    }
  }

  /** Configuration changed: panels get their new settings, and the streams of deleted panels end. Yields to the event loop. */
  async #changed(tenant: TenantId): Promise<void> {
    const yieldToEventLoop = createYieldToEventLoop();
    const hub = this.#hubs.get(tenant)?.hub;
    if (!hub) return;
    for (const [stream, state] of hub.connections) {
      // Read each time, because the configuration may change again during a pause.
      const snapshot = this.#options.tenancy.peek(tenant);
      if (snapshot) {
        updateSettings(snapshot, stream, state);
        updateSuppresses(snapshot, stream, state, hub.suppressing.last);
      }
      const pause = yieldToEventLoop();
      if (pause) await pause;
    }
  }
}

/** How long a flush may block the event loop. */
const sliceMs = 2;
/** Streams between two readings of the clock. */
const streamsPerReading = 8;
/** A pause is no longer than this, however many streams there are. */
const longestPauseMs = 50;

interface FlushSchedulerOptions {
  /** In the order of writing; streams may be added and removed during a flush. `pump` must not throw. */
  readonly streams: () => Iterable<{ pump(): void }>;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicNow: () => number;
  readonly tracer?: Tracer | undefined;
}

/**
 * Decides when the streams of a tenant write: in flushes over all streams, the first at once. A write costs the same however
 * many events it carries, so after each flush the scheduler pauses for as long as the flush took, and the events of the
 * pause go out in one write for each stream. Few streams get each event immediately; many streams get the events of some
 * milliseconds together. A tenant's flushes so take at most half of the event loop, unless one takes longer than the
 * longest pause. A flush over very many streams yields to the event loop in between.
 */
export class FlushScheduler {
  readonly #options: FlushSchedulerOptions;
  /** There are events that the current or last flush did not write to every stream. */
  #pending = false;
  #running = false;

  constructor(options: FlushSchedulerOptions) {
    this.#options = options;
  }

  /** There is something to write. */
  schedule(): void {
    this.#pending = true;
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    // Events that arrive in the same turn of the event loop go out together.
    await yieldToEventLoop();
    while (this.#pending) {
      this.#pending = false;
      const pauseMs = Math.min(longestPauseMs, await this.#flush());
      // A timer is not exact to less than this.
      await (pauseMs < 1 ? yieldToEventLoop() : wait(pauseMs));
    }
    this.#running = false;
  }

  /** Returns how long the writing took, in ms. */
  async #flush(): Promise<number> {
    const { streams, monotonicNow, tracer } = this.#options;
    let spentMs = 0;
    let began = monotonicNow();
    let pumped = 0;
    for (const stream of streams()) {
      stream.pump();
      pumped += 1;
      if (pumped % streamsPerReading > 0 || monotonicNow() - began < sliceMs) continue;
      spentMs += monotonicNow() - began;
      await yieldToEventLoop();
      began = monotonicNow();
    }
    spentMs += monotonicNow() - began;
    if (pumped > 0) tracer?.record('flush', spentMs, { 'belfry.streams': pumped });
    return spentMs;
  }
}
