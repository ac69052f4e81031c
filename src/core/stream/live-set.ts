import { limits } from '#contract/limits.ts';
import { encodeSse, formatCursor } from '#contract/sse.ts';
import type { History, TenantId } from '../ports.ts';
import type { PanelAddress } from '../target.ts';
import { encodeNotification, iso } from './frames.ts';

export interface LiveSource {
  readonly tenant: TenantId;
  readonly epoch: string;
  readonly history: Pick<History, 'live' | 'readLive'>;
  readonly now: () => number;
}

interface Chunk {
  readonly text: string;
  readonly notifications: number;
  readonly isLast: boolean;
}

/** What senders wrote of a chunk's notifications has at most this many characters, unless one alone has more. */
const chunkChars = 16 * 1024;
/** Notifications of a chunk at most: what surrounds the words of each has some 360 characters. */
const chunkNotifications = 96;

/**
 * What a panel should be showing as of some head, on its way to it. The notifications keep their own ids and go in order
 * of position, so a client cut off in the middle resumes without a hole; the heartbeat behind them moves the id to that
 * head. Only positions are kept in memory: each chunk is read when the client is ready for it, without what was cleared
 * meanwhile. What came after the head comes from the log.
 */
export class LiveSet {
  readonly head: number;
  readonly #source: LiveSource;
  /** Those still to be sent, in order. */
  #positions: readonly number[];

  private constructor(source: LiveSource, head: number, positions: readonly number[]) {
    this.head = head;
    this.#source = source;
    this.#positions = positions;
  }

  static async read(source: LiveSource, panel: PanelAddress): Promise<LiveSet> {
    const { history, tenant, now } = source;
    const { head, places } = await history.live(tenant, panel, now(), limits.liveSet);
    const positions = places.map(({ position }) => position).sort((a, b) => a - b);
    return new LiveSet(source, head, positions);
  }

  /** Reads the next chunk of the stream; the last one ends with the heartbeat. Call it again when that has answered. */
  async next(): Promise<Chunk> {
    const { history, tenant, epoch, now } = this.#source;
    let text = '';
    let sent = 0;
    while (text === '' && this.#positions.length > 0) {
      const asked = this.#positions.slice(0, chunkNotifications);
      const { notifications, scanned } = await history.readLive(tenant, asked, now(), chunkChars);
      this.#positions = this.#positions.slice(scanned);
      const at = now();
      for (const each of notifications) {
        if (each.expiresAt !== null && each.expiresAt <= at) continue;
        text += encodeNotification(epoch, each, at, each.count);
        sent += 1;
      }
    }
    const isLast = this.#positions.length === 0;
    return { text: isLast ? text + this.#closing() : text, notifications: sent, isLast };
  }

  #closing(): string {
    const { epoch, now } = this.#source;
    const data = { serverTime: iso(now()), head: this.head };
    return encodeSse({ event: 'heartbeat', id: formatCursor(epoch, this.head), data });
  }
}
