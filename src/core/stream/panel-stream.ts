import { limits } from '#contract/limits.ts';
import type { ReadyEvent, ResumeKind } from '#contract/panel.ts';
import { type Cursor, encodeSse, formatCursor } from '#contract/sse.ts';
import type { Entry, History, LogBounds, TenantId } from '../ports.ts';
import type { PanelAddress } from '../target.ts';
import { reaches } from '../target.ts';
import { chunkBytes, type FrameBuffer } from './frame-buffer.ts';
import { bytesOf, frameOf, iso } from './frames.ts';
import { LiveSet } from './live-set.ts';

/** Where a stream's bytes go: a socket, to the core. */
export interface Sink {
  /** Hands over one chunk; `onFlushed` is called once the system has taken all of it. */
  write(chunk: Buffer | string, onFlushed: () => void): void;
  /** Says no more; what was written is still sent. */
  end(lastWords?: string): void;
  /** Drops the connection and all it holds. */
  destroy(): void;
}

export interface StreamContext {
  readonly tenant: TenantId;
  readonly epoch: string;
  readonly history: Pick<History, 'bounds' | 'readAfter' | 'live' | 'readLive'>;
  readonly buffer: FrameBuffer;
  readonly now: () => number;
  /** Milliseconds that only ever go forward: a clock that is set must not cut panels off, nor let them go stale. */
  readonly monotonicNow: () => number;
  readonly onError: (error: unknown) => void;
  readonly onSent: (notifications: number) => void;
}

/** A client that does not take one chunk in this time is cut off, and resumes by its cursor. */
const stalledMs = 30_000;
const pageSize = 200;

/**
 * One panel's stream: only a cursor into the log. It has at most one chunk under way and takes the next when that is
 * flushed; so it waits for nobody, and nobody waits for it.
 */
export class PanelStream {
  readonly #context: StreamContext;
  readonly #sink: Sink;
  #panel: PanelAddress;
  #group: string;
  #cursor = 0;
  /** What goes out before all else: ready, and what is no entry of the log. */
  #queued: (() => string)[] = [];
  /** What goes out next, before the log goes on. */
  #live: LiveSet | undefined;
  #writingSince: number | undefined;
  /** A read is under way; `#then` is the one to follow it. */
  #busy = true;
  #then: (() => Promise<void>) | undefined;
  #closed = false;
  #lastWriteAt: number;
  readonly #onFlushed = () => {
    this.#writingSince = undefined;
    this.pump();
  };

  constructor(context: StreamContext, sink: Sink, panel: PanelAddress) {
    this.#context = context;
    this.#sink = sink;
    this.#panel = panel;
    this.#group = groupOf(panel);
    this.#lastWriteAt = context.monotonicNow();
  }

  get panelId(): string {
    return this.#panel.id;
  }

  /** Everything up to here has been written to it. */
  get cursor(): number {
    return this.#cursor;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Begins: `ready`, then the live set or what came after `from`. */
  async start(
    from: Cursor | undefined,
    ready: Omit<ReadyEvent, 'serverTime' | 'head' | 'resume' | 'epoch'>,
    retryMs: number,
  ): Promise<void> {
    const { epoch, now, history, tenant } = this.#context;
    const bounds = await history.bounds(tenant);
    const resume = resumeKind(from, epoch, bounds);
    const say = (head: number) => {
      const data = { ...ready, epoch, head, resume, serverTime: iso(now()) } satisfies ReadyEvent;
      // Settings that changed meanwhile are told already: they come after it.
      this.#queued.unshift(() => encodeSse({ event: 'ready', data, retryMs }));
    };
    if (resume === 'replayed' && from) {
      this.#cursor = from.position;
      say(bounds.head);
    } else {
      await this.#beginLive(say);
    }
    this.#ready();
  }

  /** Its tags changed: what it shows is dropped, and the live set of its new place follows. */
  updateAddress(panel: PanelAddress): void {
    if (groupOf(panel) === this.#group) return;
    this.#panel = panel;
    this.#group = groupOf(panel);
    this.#restart('reset', 'the tags of this panel changed');
  }

  /** Queues an event that is no entry of the log. */
  tell(event: string, data: unknown): void {
    if (this.#closed) return;
    this.#queued.push(() => encodeSse({ event, data }));
    this.pump();
  }

  /** Called when due: a heartbeat to a client that is up to date, the end for one that stalls. */
  tick(heartbeatMs: number): void {
    try {
      this.#tick(heartbeatMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Writes what is next, if nothing is under way. */
  pump(): void {
    try {
      this.#pump();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Says goodbye and ends. */
  end(lastWords?: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#sink.end(lastWords);
  }

  destroy(): void {
    this.#closed = true;
    this.#queued = [];
    this.#live = undefined;
    this.#sink.destroy();
  }

  /** An error here ends this stream, whose client comes back, and touches no other stream of the tenant. */
  #fail(error: unknown): void {
    this.#context.onError(error);
    this.destroy();
  }

  #tick(heartbeatMs: number): void {
    const { now, monotonicNow, buffer, epoch } = this.#context;
    const at = monotonicNow();
    if (this.#writingSince !== undefined) {
      if (at - this.#writingSince > stalledMs) this.destroy();
      return;
    }
    if (this.#closed || this.#busy || at - this.#lastWriteAt < heartbeatMs) return;
    if (this.#cursor < buffer.head) return this.pump();
    const data = { serverTime: iso(now()), head: this.#cursor };
    this.#write(encodeSse({ event: 'heartbeat', id: formatCursor(epoch, this.#cursor), data }));
  }

  #pump(): void {
    if (this.#closed || this.#busy || this.#writingSince !== undefined) return;
    if (this.#queued.length > 0) return this.#writeQueued();
    if (this.#live) return this.#writeLive(this.#live);
    const { buffer, now } = this.#context;
    while (this.#cursor < buffer.head) {
      if (this.#cursor < buffer.floor) return void this.#catchUp();
      const segment = buffer.after(this.#cursor, this.#panel, this.#group, now());
      this.#cursor = segment.to;
      if (segment.bytes) return this.#write(segment.bytes, segment.notifications);
    }
  }

  #write(chunk: Buffer | string, notifications = 0): void {
    if (this.#closed) return;
    if (notifications > 0) this.#context.onSent(notifications);
    this.#writingSince = this.#context.monotonicNow();
    this.#lastWriteAt = this.#writingSince;
    this.#sink.write(chunk, this.#onFlushed);
  }

  #writeQueued(): void {
    const chunk = this.#queued.map((encode) => encode()).join('');
    this.#queued = [];
    this.#write(chunk);
  }

  /** Begins a live set, from whose head the stream goes on. */
  async #beginLive(announce: (head: number) => void): Promise<void> {
    this.#live = await LiveSet.read(this.#context, this.#panel);
    this.#cursor = this.#live.head;
    announce(this.#cursor);
  }

  #writeLive(live: LiveSet): void {
    this.#during(async () => {
      const { text, notifications, isLast } = await live.next();
      if (isLast) this.#live = undefined;
      this.#write(text, notifications);
    });
  }

  /** Mid-stream: what is shown is dropped, the live set follows. */
  #restart(event: 'gap' | 'reset', reason: string): void {
    this.#during(() =>
      this.#beginLive((head) => this.#queued.push(() => encodeSse({ event, data: { reason, head } }))),
    );
  }

  /** One page of history, for a cursor below the frame buffer. */
  #catchUp(): void {
    this.#during(async () => {
      const { history, tenant } = this.#context;
      const from = this.#cursor;
      const page = await history.readAfter(tenant, from, pageSize);
      if (page.first > from + 1) {
        await this.#beginLive((head) =>
          this.#queued.push(() =>
            encodeSse({ event: 'gap', data: { reason: 'older than what history keeps', head } }),
          ),
        );
        return;
      }
      if (page.entries.length === 0)
        throw new Error(`the log has no entry ${from + 1}, though its head is ${page.head}`);
      const { bytes, to, notifications } = this.#joinPage(page.entries, from);
      this.#cursor = to;
      if (bytes.length > 0) this.#write(bytes, notifications);
    });
  }

  #joinPage(entries: readonly Entry[], from: number): { bytes: Buffer; to: number; notifications: number } {
    const { epoch, now } = this.#context;
    const at = now();
    const parts: Buffer[] = [];
    let size = 0;
    let notifications = 0;
    let to = from;
    for (const entry of entries) {
      const frame = frameOf(epoch, entry, at);
      const bytes = frame && reaches(frame.target, this.#panel) ? bytesOf(epoch, frame, at) : undefined;
      if (bytes && size > 0 && size + bytes.length > chunkBytes) break;
      if (bytes) {
        parts.push(bytes);
        size += bytes.length;
        if (frame?.again) notifications += 1;
      }
      to = entry.position;
    }
    return { bytes: Buffer.concat(parts, size), to, notifications };
  }

  /** Runs one read at a time; nothing else is written meanwhile. A read that fails ends the stream: the client comes back. */
  #during(read: () => Promise<void>): void {
    if (this.#closed) return;
    if (this.#busy) {
      this.#then = read;
      return;
    }
    this.#busy = true;
    read().then(
      () => this.#ready(),
      (error: unknown) => this.#fail(error),
    );
  }

  #ready(): void {
    this.#busy = false;
    const next = this.#then;
    this.#then = undefined;
    if (next) this.#during(next);
    else this.pump();
  }
}

function groupOf({ tags }: PanelAddress): string {
  return JSON.stringify([...tags].sort());
}

function resumeKind(from: Cursor | undefined, epoch: string, { head, first }: LogBounds): ResumeKind {
  if (!from) return 'live';
  if (from.epoch !== epoch || from.position > head) return 'reset';
  return from.position < first - 1 || head - from.position > limits.replayEntries ? 'gap' : 'replayed';
}
