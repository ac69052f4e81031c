import { hash } from 'node:crypto';
import { type Cursor, encodeSse } from '../contract/sse.ts';
import type { PanelRecord } from './directory.ts';
import { AppError, notFound } from './errors.ts';
import { type Follower, follow } from './follow.ts';
import { type Frame, frameOf } from './frames.ts';
import { PanelStream, type Sink } from './panel-stream.ts';
import type { Bus, Entry, History, TenantId } from './ports.ts';
import { Ring } from './ring.ts';
import type { Tenancy, TenantSnapshot } from './tenancy.ts';

export interface FeedsOptions {
  readonly history: Pick<History, 'bounds' | 'readAfter' | 'live'>;
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly tenancy: Tenancy;
  readonly epoch: string;
  readonly now: () => number;
  readonly heartbeatMs: number;
  readonly onError: (error: unknown) => void;
  /** Notifications written to a tenant's panels, for counting. */
  readonly onSent: (tenant: TenantId, notifications: number) => void;
  /** A panel was heard of: it connected, is connected, or left. */
  readonly onSeen: (tenant: TenantId, panelId: string, cursor: number) => void;
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
  readonly ring: Ring;
  readonly follower: Follower;
  /** Each stream with a digest of the settings it was last told. */
  readonly connections: Map<PanelStream, string>;
}

interface OpenFeed {
  /** Rejects when the log cannot be read: for those who wait to connect. */
  readonly opening: Promise<Feed>;
  /** undefined then: for everyone else. */
  readonly opened: Promise<Feed | undefined>;
  /** Streams that are connected or about to be; the feed is kept while there are any. */
  users: number;
}

/** Asks for a little time before coming back, drawn for each client so that a herd spreads out. */
const retryMs = () => 2_000 + Math.floor(Math.random() * 6_000);
/** A feed nobody reads is kept this long: a wall that reconnects finds its ring. */
const lingerMs = 15_000;

/** Past, then live, for many panels: one follower a tenant, one cursor a panel. */
export class Feeds {
  readonly #options: FeedsOptions;
  readonly #feeds = new Map<TenantId, OpenFeed>();
  readonly #ticker: NodeJS.Timeout;
  readonly #stopListening: () => void;
  #draining = false;

  constructor(options: FeedsOptions) {
    this.#options = options;
    this.#ticker = setInterval(() => void this.#tick(), Math.min(1_000, options.heartbeatMs / 2)).unref();
    this.#stopListening = options.tenancy.onChange((tenant) => void this.#changed(tenant));
  }

  /**
   * Connects a panel and begins its stream.
   * @throws AppError `unavailable` while the server drains.
   */
  async connect(
    snapshot: TenantSnapshot,
    panel: PanelRecord,
    sink: Sink,
    from: Cursor | undefined,
  ): Promise<Connection> {
    if (this.#draining)
      throw new AppError('unavailable', 'the server is shutting down', { retryAfterSeconds: 2 });
    const tenant = snapshot.record.id;
    const open = this.#claim(tenant);
    const release = () => {
      open.users -= 1;
      if (open.users === 0) this.#closeLater(tenant, open);
    };
    try {
      const feed = await open.opening;
      return await this.#begin(feed, snapshot, panel, sink, from, release);
    } catch (error) {
      release();
      throw error;
    }
  }

  async #begin(
    feed: Feed,
    asked: TenantSnapshot,
    { id }: PanelRecord,
    sink: Sink,
    from: Cursor | undefined,
    release: () => void,
  ): Promise<Connection> {
    const { history, tenancy, epoch, now, onError, onSent, onSeen, heartbeatMs } = this.#options;
    const tenant = asked.record.id;
    // As it is at this moment: from here on changes reach the stream, until here they may have passed it by.
    const snapshot = tenancy.peek(tenant) ?? asked;
    const panel = snapshot.panels.get(id);
    if (!panel) throw notFound('panel');
    const context = {
      tenant,
      epoch,
      history,
      ring: feed.ring,
      now,
      onError,
      onSent: (notifications: number) => onSent(tenant, notifications),
    };
    const stream = new PanelStream(context, sink, panel);
    const settings = settingsData(snapshot, panel);
    feed.connections.set(stream, digest(settings));
    try {
      await stream.start(from, { ...settings, heartbeatMs }, retryMs());
    } catch (error) {
      feed.connections.delete(stream);
      throw error;
    }
    onSeen(tenant, panel.id, stream.cursor);
    const gone = () => {
      if (!feed.connections.delete(stream)) return;
      stream.destroy();
      onSeen(tenant, panel.id, stream.cursor);
      release();
    };
    return { panelId: panel.id, stream, gone };
  }

  /** Panels of a tenant that are connected now, with their cursors, and the head they are heading for. */
  async online(
    tenant: TenantId,
  ): Promise<{ readonly head: number; readonly cursors: ReadonlyMap<string, number> }> {
    const feed = await this.#feeds.get(tenant)?.opened;
    const cursors = new Map<string, number>();
    for (const stream of feed?.connections.keys() ?? []) {
      if (!stream.closed)
        cursors.set(stream.panelId, Math.max(stream.cursor, cursors.get(stream.panelId) ?? 0));
    }
    const head = feed?.ring.head ?? (await this.#options.history.bounds(tenant)).head;
    return { head, cursors };
  }

  /** Says goodbye to every panel: each is told when to come back, spread over a few seconds. */
  async drain(): Promise<void> {
    this.#draining = true;
    for (const { opened } of this.#feeds.values()) {
      for (const stream of (await opened)?.connections.keys() ?? []) {
        stream.end(
          encodeSse({ event: 'bye', data: { reconnectMs: 500 + Math.floor(Math.random() * 4_500) } }),
        );
      }
    }
  }

  async close(): Promise<void> {
    this.#draining = true;
    clearInterval(this.#ticker);
    this.#stopListening();
    for (const { opened } of this.#feeds.values()) {
      const feed = await opened;
      feed?.follower.close();
      for (const stream of feed?.connections.keys() ?? []) stream.destroy();
    }
    this.#feeds.clear();
  }

  #claim(tenant: TenantId): OpenFeed {
    let open = this.#feeds.get(tenant);
    if (!open) {
      const opening = this.#open(tenant);
      const made: OpenFeed = { opening, opened: opening.catch(() => this.#forget(tenant, made)), users: 0 };
      this.#feeds.set(tenant, made);
      open = made;
    }
    open.users += 1;
    return open;
  }

  #forget(tenant: TenantId, open: OpenFeed): undefined {
    if (this.#feeds.get(tenant) === open) this.#feeds.delete(tenant);
  }

  async #open(tenant: TenantId): Promise<Feed> {
    const { history, bus, epoch, now, onError } = this.#options;
    const { head } = await history.bounds(tenant);
    const ring = new Ring(epoch, head);
    const connections = new Map<PanelStream, string>();
    let scheduled = false;
    const flush = () => {
      scheduled = false;
      for (const stream of connections.keys()) stream.pump();
    };
    const deliver = (entries: readonly Entry[]) => {
      const at = now();
      const frames = entries
        .map((entry) => frameOf(epoch, entry, at))
        .filter((frame): frame is Frame => frame !== undefined);
      ring.push(frames, entries.at(-1)?.position ?? ring.head);
      // What one turn of the event loop brings goes out in one write per panel.
      if (!scheduled) setImmediate(flush);
      scheduled = true;
    };
    const onGap = (first: number) => ring.reset(first - 1);
    return {
      ring,
      connections,
      follower: follow({ history, bus, tenant, from: head, deliver, onGap, onError }),
    };
  }

  #closeLater(tenant: TenantId, open: OpenFeed): void {
    setTimeout(() => {
      if (open.users > 0 || this.#feeds.get(tenant) !== open) return;
      this.#feeds.delete(tenant);
      void open.opened.then((feed) => feed?.follower.close());
    }, lingerMs).unref();
  }

  async #tick(): Promise<void> {
    const { heartbeatMs, onSeen } = this.#options;
    for (const [tenant, { opened }] of this.#feeds) {
      for (const stream of (await opened)?.connections.keys() ?? []) {
        stream.tick(heartbeatMs);
        if (!stream.closed) onSeen(tenant, stream.panelId, stream.cursor);
      }
    }
  }

  /** Configuration changed: panels hear of their new settings, deleted ones are shut out. */
  async #changed(tenant: TenantId): Promise<void> {
    const feed = await this.#feeds.get(tenant)?.opened;
    const snapshot = this.#options.tenancy.peek(tenant);
    if (!feed || !snapshot) return;
    for (const [stream, told] of feed.connections) {
      const panel = snapshot.panels.get(stream.panelId);
      if (!panel) {
        stream.end();
        continue;
      }
      stream.readdress(panel);
      const settings = settingsData(snapshot, panel);
      const now = digest(settings);
      if (now === told) continue;
      feed.connections.set(stream, now);
      stream.tell('settings', settings);
    }
  }
}

function settingsData(
  { record, levels }: TenantSnapshot,
  { id, name, tags, location, display }: PanelRecord,
) {
  return {
    panel: { id, name, tags: [...tags], location, display },
    tenant: { name: record.name, title: record.title, timeZone: record.timeZone },
    levels: [...levels.values()],
  };
}

function digest(settings: unknown): string {
  return hash('sha1', JSON.stringify(settings), 'base64');
}
