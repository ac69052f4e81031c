import { parseCursor } from '#contract/panels/sse.ts';
import type { Entry } from '#core/log/log.ts';
import type { PanelAddress } from '#core/log/target.ts';
import type { EncodingContext } from '#core/streams/encoding.ts';
import { FrameBuffer } from '#core/streams/frame-buffer.ts';
import { frameOf, screenStreams } from '#core/streams/frames.ts';
import { PanelStream, type Sink } from '#core/streams/panel-stream.ts';
import { ModelLog, notification } from './model-log.ts';

/** What the rule `r1` says, with which entries may have matched. */
const text = 'What to do. '.repeat(300);
const instructing = new Map([['r1', { rule: { id: 'r1', name: 'r1' }, ordinal: 0, text }]]);
const frames = { epoch: 'e1', router: () => ({ instructing }) };
export const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
export const panel: PanelAddress = { id: 'p1', tags: ['noc'] };
const settings = {
  panel: { id: 'p1', name: 'P', tags: ['noc'], location: null, display: {} },
  tenant: { name: 't', title: 'T', timeZone: 'UTC' },
  levels: [],
  heartbeatMs: 15_000,
};

/** An event of a panel's stream. */
interface StreamMessage {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: {
    readonly position?: number;
    readonly id?: string;
    readonly resume?: string;
    readonly head?: number;
  };
}

/** A client that accepts chunks on command, and parses their events. */
class SlowClient implements Sink {
  text = '';
  waiting: (() => void) | undefined;
  ended = false;
  destroyed = false;
  largest = 0;

  write(chunk: Buffer | string, onFlushed: () => void): void {
    if (this.waiting) throw new Error('a second chunk before the first was flushed');
    this.largest = Math.max(this.largest, chunk.length);
    this.text += chunk.toString();
    this.waiting = onFlushed;
  }

  end(): void {
    this.ended = true;
  }

  destroy(): void {
    this.destroyed = true;
  }

  take(): void {
    const flushed = this.waiting;
    this.waiting = undefined;
    flushed?.();
  }

  events(): StreamMessage[] {
    return this.text
      .split('\n\n')
      .filter(Boolean)
      .map((frame) => {
        const field = (name: string) =>
          frame
            .split('\n')
            .find((line) => line.startsWith(`${name}: `))
            ?.slice(name.length + 2);
        return { event: field('event') ?? '', id: field('id'), data: JSON.parse(field('data') ?? 'null') };
      });
  }

  positions(): number[] {
    return this.events().flatMap(({ event, data }) =>
      (event === 'notification' || event === 'clear') && data.position ? [data.position] : [],
    );
  }
}

/** A panel stream with log and frame buffer in memory, fixed clocks, and a client that reads on command. */
export class PanelStreamWorld {
  readonly log = new ModelLog();
  readonly buffer: FrameBuffer;
  client = new SlowClient();
  /** The number of notifications that the stream counted. */
  sent = 0;
  now = 10_000;
  monotonicNow = 500;
  stream: PanelStream;

  constructor(options: { before?: number; bufferFrames?: number } = {}) {
    for (let i = 0; i < (options.before ?? 0); i++) this.log.append(notification);
    this.buffer = new FrameBuffer(this.log.head, { maxFrames: options.bufferFrames ?? 3 });
    this.stream = this.#connect();
  }

  /** Replaces the connection by a new stream, which is not started yet. */
  reconnect(): void {
    this.stream.destroy();
    this.client = new SlowClient();
    this.stream = this.#connect();
  }

  publish(...makers: ((position: number) => Entry)[]): void {
    const entries = makers.map((make) => this.log.append(make));
    const encoded = entries
      .map((entry) => frameOf(frames, entry, this.now))
      .filter((frame) => frame !== undefined);
    this.buffer.push(encoded, this.log.head);
    this.stream.pump();
  }

  start(cursor?: string): Promise<void> {
    return this.stream.start(cursor === undefined ? undefined : parseCursor(cursor), settings, 2_000);
  }

  /** The client accepts chunks for this many turns. */
  async take(turns: number): Promise<void> {
    for (let i = 0; i < turns; i++) {
      this.client.take();
      await turn();
    }
  }

  settle(): Promise<void> {
    return this.take(300);
  }

  #connect(): PanelStream {
    const now = () => this.now;
    const context: EncodingContext = {
      ...frames,
      tenant: 1,
      history: this.log,
      snapshot: () => undefined,
      now,
    };
    const encoding = screenStreams.encoding(context);
    return new PanelStream(
      {
        tenant: 1,
        epoch: frames.epoch,
        encoding,
        history: this.log,
        buffer: this.buffer,
        now,
        monotonicNow: () => this.monotonicNow,
        onError: (error) => {
          throw error;
        },
        onSent: (notifications) => {
          this.sent += notifications;
        },
      },
      this.client,
      screenStreams.encoder(context, encoding, [panel]),
    );
  }
}
