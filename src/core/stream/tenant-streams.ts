import { encodeSse } from '#contract/sse.ts';
import type { PanelRecord, Screen } from '../directory.ts';
import { AppError, notFound } from '../errors.ts';
import type { Bus, Entry, History, TenantId } from '../ports.ts';
import type { Tenancy, TenantSnapshot } from '../tenancy.ts';
import { type ConnectedPanel, digest, type Opening, settingsData } from './connection.ts';
import { FlushScheduler } from './flush-scheduler.ts';
import { type Follower, follow } from './follow.ts';
import { FrameBuffer } from './frame-buffer.ts';
import { framesOf } from './frames.ts';
import { PanelStream, type Sink } from './panel-stream.ts';

export interface TenantStreamsOptions {
  readonly history: Pick<History, 'bounds' | 'readAfter' | 'live' | 'readLive'>;
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly tenancy: Tenancy;
  readonly epoch: string;
  readonly now: () => number;
  /** Milliseconds that only ever go forward. */
  readonly monotonicNow: () => number;
  readonly heartbeatMs: number;
  readonly onError: (error: unknown) => void;
  /** Notifications written to a tenant's panels, for counting. */
  readonly onSent: (tenant: TenantId, notifications: number) => void;
  /** A panel was heard of: it connected, is connected, or left. */
  readonly onSeen: (tenant: TenantId, panel: ConnectedPanel) => void;
}

/** What is known of a connected stream. */
interface Told {
  readonly screen: Screen;
  /** A digest of the settings it was last told. */
  settings: string;
}

/** One connected panel. */
export interface Connection {
  readonly panelId: string;
  /** Resolves when it has ended, for whatever reason. */
  readonly stream: PanelStream;
  /** The client has gone. */
  gone(): void;
}

/** A tenant's streams hang on one follower of its log, for as long as there are any. */
interface Feed {
  readonly buffer: FrameBuffer;
  readonly follower: Follower;
  /** In the order in which they came. */
  readonly connections: Map<PanelStream, Told>;
}

interface OpenFeed {
  /** Rejects when the log cannot be read: for those who wait to connect. */
  readonly opening: Promise<Feed>;
  /** Set once it is open. Nobody else waits for that: a read that hangs for one tenant must not hold up the others. */
  feed: Feed | undefined;
  /** Streams that are connected or about to be; the feed is kept while there are any. */
  users: number;
}

/** Asks for a little time before coming back, drawn for each client so that a herd spreads out. */
const retryMs = () => 2_000 + Math.floor(Math.random() * 6_000);
/** A feed nobody reads is kept this long: a wall that reconnects finds its ring. */
const lingerMs = 15_000;

/** Past, then live, for many panels: one follower a tenant, one cursor a panel. */
export class TenantStreams {
  readonly #options: TenantStreamsOptions;
  readonly #tenantStreams = new Map<TenantId, OpenFeed>();
  readonly #ticker: NodeJS.Timeout;
  readonly #stopListening: () => void;
  #draining = false;

  constructor(options: TenantStreamsOptions) {
    this.#options = options;
    this.#ticker = setInterval(() => this.#tick(), Math.min(1_000, options.heartbeatMs / 2)).unref();
    this.#stopListening = options.tenancy.onChange((tenant) => this.#changed(tenant));
  }

  /**
   * Connects a panel and begins its stream.
   * @throws AppError `unavailable` while the server drains.
   */
  async connect(
    snapshot: TenantSnapshot,
    panel: PanelRecord,
    sink: Sink,
    opening: Opening,
  ): Promise<Connection> {
    this.#assertOpen();
    const tenant = snapshot.record.id;
    const open = this.#claim(tenant);
    const release = () => {
      open.users -= 1;
      if (open.users === 0) this.#closeLater(tenant, open);
    };
    try {
      const feed = await open.opening;
      this.#assertOpen();
      return await this.#begin(feed, { snapshot, panel, sink, opening }, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  async #begin(
    feed: Feed,
    asked: {
      readonly snapshot: TenantSnapshot;
      readonly panel: PanelRecord;
      readonly sink: Sink;
      readonly opening: Opening;
    },
    release: () => void,
  ): Promise<Connection> {
    const { history, tenancy, epoch, now, monotonicNow, onError, onSent, onSeen, heartbeatMs } =
      this.#options;
    const { sink, opening } = asked;
    const tenant = asked.snapshot.record.id;
    // As it is at this moment: from here on changes reach the stream, until here they may have passed it by.
    const snapshot = tenancy.peek(tenant) ?? asked.snapshot;
    const panel = snapshot.panels.get(asked.panel.id);
    if (!panel) throw notFound('panel');
    const context = {
      tenant,
      epoch,
      history,
      buffer: feed.buffer,
      now,
      monotonicNow,
      onError,
      onSent: (notifications: number) => onSent(tenant, notifications),
    };
    const stream = new PanelStream(context, sink, panel);
    const settings = settingsData(snapshot, panel);
    feed.connections.set(stream, { screen: opening.screen, settings: digest(settings) });
    const seen = () => onSeen(tenant, { id: panel.id, cursor: stream.cursor, ...opening.screen });
    try {
      await stream.start(opening.from, { ...settings, heartbeatMs }, retryMs());
    } catch (error) {
      feed.connections.delete(stream);
      throw error;
    }
    seen();
    const gone = () => {
      if (!feed.connections.delete(stream)) return;
      stream.destroy();
      seen();
      release();
    };
    return { panelId: panel.id, stream, gone };
  }

  /**
   * Panels of a tenant that are connected now, or the one of them that is asked for, each as its newest screen stands, and
   * the head they are heading for.
   */
  async online(
    tenant: TenantId,
    panelId?: string,
  ): Promise<{ readonly head: number; readonly panels: ReadonlyMap<string, ConnectedPanel> }> {
    const feed = this.#tenantStreams.get(tenant)?.feed;
    const panels = new Map<string, ConnectedPanel>();
    for (const [stream, { screen }] of feed?.connections ?? []) {
      if (stream.closed || (panelId !== undefined && stream.panelId !== panelId)) continue;
      const cursor = Math.max(stream.cursor, panels.get(stream.panelId)?.cursor ?? 0);
      panels.set(stream.panelId, { id: stream.panelId, cursor, ...screen });
    }
    const head = feed?.buffer.head ?? (await this.#options.history.bounds(tenant)).head;
    return { head, panels };
  }

  /**
   * Tells the screens of a panel that are connected here something that is no entry of the log: whoever is not connected
   * never hears of it. Answers whether there was one.
   */
  tell(tenant: TenantId, panelId: string, event: string, data: unknown): boolean {
    let reached = false;
    for (const stream of this.#tenantStreams.get(tenant)?.feed?.connections.keys() ?? []) {
      if (stream.panelId !== panelId || stream.closed) continue;
      stream.tell(event, data);
      reached = true;
    }
    return reached;
  }

  /** Whether the server is about to end: no stream is opened any more. */
  get draining(): boolean {
    return this.#draining;
  }

  /** Says goodbye to every panel: each is told when to come back, spread over a few seconds. */
  drain(): void {
    this.#draining = true;
    for (const { feed } of this.#tenantStreams.values()) {
      for (const stream of feed?.connections.keys() ?? []) {
        stream.end(
          encodeSse({ event: 'bye', data: { reconnectMs: 500 + Math.floor(Math.random() * 4_500) } }),
        );
      }
    }
  }

  close(): void {
    this.#draining = true;
    clearInterval(this.#ticker);
    this.#stopListening();
    for (const { feed } of this.#tenantStreams.values()) {
      feed?.follower.close();
      for (const stream of feed?.connections.keys() ?? []) stream.destroy();
    }
    this.#tenantStreams.clear();
  }

  #claim(tenant: TenantId): OpenFeed {
    let open = this.#tenantStreams.get(tenant);
    if (!open) {
      const made: OpenFeed = { opening: this.#open(tenant), feed: undefined, users: 0 };
      made.opening.then(
        (feed) => {
          if (this.#draining) feed.follower.close();
          else made.feed = feed;
        },
        () => {
          if (this.#tenantStreams.get(tenant) === made) this.#tenantStreams.delete(tenant);
        },
      );
      this.#tenantStreams.set(tenant, made);
      open = made;
    }
    open.users += 1;
    return open;
  }

  #assertOpen(): void {
    if (this.#draining)
      throw new AppError('unavailable', 'the server is shutting down', { retryAfterSeconds: 2 });
  }

  async #open(tenant: TenantId): Promise<Feed> {
    const { history, bus, epoch, now, monotonicNow, onError } = this.#options;
    const { head } = await history.bounds(tenant);
    const buffer = new FrameBuffer(epoch, head);
    const connections = new Map<PanelStream, Told>();
    const rounds = new FlushScheduler({ streams: () => connections.keys(), monotonicNow });
    const deliver = (entries: readonly Entry[]) => {
      buffer.push(framesOf(epoch, entries, now(), onError), entries.at(-1)?.position ?? buffer.head);
      rounds.ask();
    };
    const onGap = (first: number) => buffer.reset(first - 1);
    return {
      buffer,
      connections,
      follower: follow({ history, bus, tenant, from: head, deliver, onGap, onError }),
    };
  }

  #closeLater(tenant: TenantId, open: OpenFeed): void {
    setTimeout(() => {
      if (open.users > 0 || this.#tenantStreams.get(tenant) !== open) return;
      this.#tenantStreams.delete(tenant);
      open.feed?.follower.close();
    }, lingerMs).unref();
  }

  #tick(): void {
    const { heartbeatMs, onSeen } = this.#options;
    for (const [tenant, { feed }] of this.#tenantStreams) {
      for (const [stream, { screen }] of feed?.connections ?? []) {
        stream.tick(heartbeatMs);
        if (!stream.closed) onSeen(tenant, { id: stream.panelId, cursor: stream.cursor, ...screen });
      }
    }
  }

  /** Configuration changed: panels hear of their new settings, deleted ones are shut out. */
  #changed(tenant: TenantId): void {
    const feed = this.#tenantStreams.get(tenant)?.feed;
    const snapshot = this.#options.tenancy.peek(tenant);
    if (!feed || !snapshot) return;
    for (const [stream, told] of feed.connections) {
      const panel = snapshot.panels.get(stream.panelId);
      if (!panel) {
        stream.end();
        continue;
      }
      stream.updateAddress(panel);
      const settings = settingsData(snapshot, panel);
      const now = digest(settings);
      if (now === told.settings) continue;
      told.settings = now;
      stream.tell('settings', settings);
    }
  }
}
