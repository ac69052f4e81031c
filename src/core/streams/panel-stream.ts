import { limits } from '#contract/limits.ts';
import type { ReadyEvent, ResumeKind } from '#contract/panels/panel.ts';
import type { Cursor } from '#contract/panels/sse.ts';
import type { History, LogBounds } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import type { PanelAddress } from '../log/target.ts';
import { iso } from '../time/time.ts';
import type { Encoding, StreamEncoder } from './encoding.ts';
import { type FrameBuffer, joinFrames } from './frame-buffer.ts';

/** The connection to which a stream writes. */
export interface Sink {
  /** Writes one chunk; calls `onFlushed` once the system has taken all of it. */
  write(chunk: Buffer | string, onFlushed: () => void): void;
  /** Ends the stream; what was written before is still sent. */
  end(lastChunk?: string): void;
  /** Drops the connection and all buffered data. */
  destroy(): void;
}

export interface StreamContext {
  readonly epoch: string;
  readonly tenant: TenantId;
  readonly encoding: Encoding;
  readonly history: Pick<History, 'bounds' | 'readAfter' | 'live' | 'readLive'>;
  /** The frames of that encoding. */
  readonly buffer: FrameBuffer;
  readonly now: () => number;
  /** Milliseconds of a clock that never goes back: setting the system clock must neither disconnect panels nor delay heartbeats. */
  readonly monotonicNow: () => number;
  readonly onError: (error: unknown) => void;
  readonly onSent: (notifications: number) => void;
  /** Called when all that the buffer has is written, and there is nothing else to write. */
  readonly onIdle?: () => void;
}

/** A client that does not take one chunk in this time is disconnected, and resumes with its cursor. */
const stalledMs = 30_000;
const pageSize = 200;

/**
 * The stream of a panel, or of several: a cursor into the log. It writes the next chunk only when the previous one is flushed, so a slow
 * client delays nobody and holds at most one chunk of memory.
 */
export class PanelStream {
  readonly #context: StreamContext;
  readonly #sink: Sink;
  readonly #encoder: StreamEncoder;
  #cursor = 0;
  /** Up to this position it gets what `pastFramesOf` leaves, if its encoding has that. */
  #pastUntil = 0;
  /** Sent before everything else: `ready`, and events that are no entries of the log. */
  #queued: (() => string)[] = [];
  /** Sent next, before the log continues. */
  #live: LiveSet | undefined;
  #writingSince: number | undefined;
  /** A read is running; `#then` is the one after it. */
  #busy = true;
  #then: (() => Promise<void>) | undefined;
  #closed = false;
  #lastWriteAt: number;
  readonly #onFlushed = () => {
    this.#writingSince = undefined;
    this.pump();
  };

  constructor(context: StreamContext, sink: Sink, encoder: StreamEncoder) {
    this.#context = context;
    this.#sink = sink;
    this.#encoder = encoder;
    this.#lastWriteAt = context.monotonicNow();
  }

  get panels(): readonly PanelAddress[] {
    return this.#encoder.panels;
  }

  /** Whether it gets events that are no entries of the log. */
  get hasEvents(): boolean {
    return this.#encoder.event !== undefined;
  }

  /** All entries up to this position have been written to it. */
  get cursor(): number {
    return this.#cursor;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Sends `ready`, then the live set or the entries after `from`. */
  async start(
    from: Cursor | undefined,
    ready: Omit<ReadyEvent, 'serverTime' | 'head' | 'resume' | 'epoch'>,
    retryMs: number,
  ): Promise<void> {
    const { epoch, now, history, tenant } = this.#context;
    const bounds = await history.bounds(tenant);
    const resume = resumeKind(from, epoch, bounds);
    const sendReady = (head: number) => {
      const data = { ...ready, epoch, head, resume, serverTime: iso(now()) } satisfies ReadyEvent;
      // Settings that changed meanwhile are queued already: they come after `ready`.
      const { cursor } = this;
      this.#queued.unshift(() => this.#encoder.ready(data, { cursor, retryMs }));
    };
    if (resume === 'replayed' && from) {
      this.#cursor = from.position;
      if (this.#context.encoding.pastFramesOf) this.#pastUntil = bounds.head;
      sendReady(bounds.head);
    } else {
      await this.#beginLive(sendReady);
    }
    this.#ready();
  }

  /** If its tags changed, the panel drops what it shows and gets the live set for the new tags. */
  updateAddress(panel: PanelAddress): void {
    if (this.#encoder.update(panel))
      this.#during(() => this.#restart('reset', 'the tags of this panel changed'));
  }

  /** Queues an event that is no entry of the log. Returns false if the stream is closed, or has no such events. */
  sendEvent(event: string, data: unknown): boolean {
    if (this.#closed || !this.#queueEvent(event, data)) return false;
    this.pump();
    return true;
  }

  #queueEvent(event: string, data: unknown): boolean {
    const { event: encode } = this.#encoder;
    if (encode) this.#queued.push(() => encode(event, data));
    return encode !== undefined;
  }

  /** To be called regularly: sends heartbeats, and disconnects a client that does not read. */
  tick(heartbeatMs: number): void {
    try {
      this.#tick(heartbeatMs);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Writes the next chunk, unless one is being written. */
  pump(): void {
    try {
      this.#pump();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Sends the last chunk and ends. */
  end(lastChunk?: string): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#sink.end(lastChunk);
  }

  destroy(): void {
    this.#closed = true;
    this.#queued = [];
    this.#live = undefined;
    this.#sink.destroy();
  }

  /** An error ends this stream only; its client reconnects. */
  #fail(error: unknown): void {
    this.#context.onError(error);
    this.destroy();
  }

  #tick(heartbeatMs: number): void {
    const { monotonicNow, buffer } = this.#context;
    const at = monotonicNow();
    if (this.#writingSince !== undefined) {
      if (at - this.#writingSince > stalledMs) this.destroy();
      return;
    }
    if (this.#closed || this.#busy || at - this.#lastWriteAt < heartbeatMs) return;
    if (this.#cursor < buffer.head) return this.pump();
    this.#write(this.#encoder.heartbeat(this.#cursor));
  }

  #pump(): void {
    if (this.#closed || this.#busy || this.#writingSince !== undefined) return;
    if (this.#queued.length > 0) this.#writeQueued();
    if (this.#writingSince !== undefined) return;
    if (this.#live) return this.#writeLive(this.#live);
    const { buffer, now } = this.#context;
    while (this.#cursor < buffer.head) {
      if (this.#cursor < Math.max(buffer.floor, this.#pastUntil)) return this.#catchUp();
      const segment = buffer.after(this.#cursor, this.#encoder, now());
      this.#cursor = segment.to;
      if (segment.bytes) return this.#write(segment.bytes, segment.notifications);
    }
    this.#context.onIdle?.();
  }

  #write(chunk: Buffer | string, notifications = 0): void {
    if (this.#closed || chunk.length === 0) return;
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

  /** Starts a live set; the stream continues from its head. */
  async #beginLive(announce: (head: number) => void): Promise<void> {
    this.#live = await readLiveSet(this.#context, this.#encoder);
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

  /** Mid-stream: the panel drops what it shows, and the live set follows. */
  #restart(event: 'gap' | 'reset', reason: string): Promise<void> {
    return this.#beginLive((head) => this.#queueEvent(event, { reason, head }));
  }

  /** One page of history, for a cursor below the frame buffer. */
  #catchUp(): void {
    this.#during(async () => {
      const { history, tenant, now, encoding } = this.#context;
      const from = this.#cursor;
      const page = await history.readAfter(tenant, from, pageSize);
      if (page.first > from + 1) return this.#restart('gap', 'older than what history keeps');
      const upTo = page.entries.at(-1)?.position;
      if (upTo === undefined)
        throw new Error(`the log has no entry ${from + 1}, though its head is ${page.head}`);
      const at = now();
      const frames = await (encoding.pastFramesOf ?? encoding.framesOf).call(
        encoding,
        page.entries,
        at,
        fail,
      );
      const { bytes, to, notifications } = joinFrames(frames, this.#encoder, { now: at, upTo });
      this.#cursor = to;
      if (bytes) this.#write(bytes, notifications);
    });
  }

  /** Runs one read at a time; nothing else is written meanwhile. If a read fails, the stream ends and the client reconnects. */
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

/** A page that cannot be sent whole ends the stream. */
const fail = (error: unknown) => {
  throw error;
};

function resumeKind(from: Cursor | undefined, epoch: string, { head, first }: LogBounds): ResumeKind {
  if (!from) return 'live';
  if (from.epoch !== epoch || from.position > head) return 'reset';
  return from.position < first - 1 || head - from.position > limits.replayEntries ? 'gap' : 'replayed';
}

interface LiveSet {
  readonly head: number;
  /** Reads the next chunk; the last one ends with the heartbeat. One call at a time. */
  next(): Promise<{ readonly text: string; readonly notifications: number; readonly isLast: boolean }>;
}

/** The texts of a chunk's notifications have at most this many characters, unless a single one has more. */
const chunkChars = 16 * 1024;
/** A chunk ends with the notification that makes it longer than this: instructions do not count in `chunkChars`. */
const largestChunkChars = 64 * 1024;
/** Most notifications in a chunk: the other fields of each take some 360 characters. */
const chunkNotifications = 96;

/**
 * Sends what a panel should be showing at some head of the log. The notifications keep their own ids and are sent in order
 * of position, so a client that is disconnected in the middle resumes without a gap; the heartbeat after them moves the id
 * to that head. Only positions are kept in memory: each chunk is read when the client is ready for it, without the
 * notifications that were cleared meanwhile. Entries after the head come from the log.
 */
async function readLiveSet(
  { tenant, history, now }: StreamContext,
  encoder: StreamEncoder,
): Promise<LiveSet> {
  // One more than a screen keeps: it says that there are more.
  const read = (panel: PanelAddress) => history.live(tenant, panel, now(), limits.liveSet + 1);
  const sets = await Promise.all(encoder.panels.map(read));
  const head = Math.min(...sets.map((set) => set.head));
  const live = sets.flatMap((set) => set.positions).map(({ position }) => position);
  /** Still to be sent, in order. */
  let positions = [...new Set(live)].filter((position) => position <= head).sort((a, b) => a - b);
  return {
    head,
    async next() {
      let text = '';
      let sent = 0;
      while (text === '' && positions.length > 0) {
        const next = positions.slice(0, chunkNotifications);
        const { notifications, scanned } = await history.readLive(tenant, next, now(), chunkChars);
        const before = positions;
        positions = before.slice(scanned);
        const at = now();
        for (const each of notifications) {
          if (each.expiresAt !== null && each.expiresAt <= at) continue;
          const encoded = encoder.live(each, { now: at, head });
          text += typeof encoded === 'string' ? encoded : await encoded;
          sent += 1;
          if (text.length < largestChunkChars) continue;
          positions = before.filter((position) => position > each.position);
          break;
        }
      }
      const isLast = positions.length === 0;
      return { text: isLast ? text + encoder.afterLive(head) : text, notifications: sent, isLast };
    },
  };
}
