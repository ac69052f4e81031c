import { limits } from '#contract/limits.ts';
import { encodeSse, formatCursor } from '#contract/panels/sse.ts';
import type { History, TenantId } from '../ports.ts';
import type { PanelAddress } from '../target.ts';
import { iso } from '../time.ts';
import { encodeNotification } from './frames.ts';

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

/** The texts of a chunk's notifications have at most this many characters, unless a single one has more. */
const chunkChars = 16 * 1024;
/** Most notifications in a chunk: the other fields of each take some 360 characters. */
const chunkNotifications = 96;

/**
 * Sends what a panel should be showing at some head of the log. The notifications keep their own ids and are sent in order
 * of position, so a client that is disconnected in the middle resumes without a gap; the heartbeat after them moves the id
 * to that head. Only positions are kept in memory: each chunk is read when the client is ready for it, without the
 * notifications that were cleared meanwhile. Entries after the head come from the log.
 */
export class LiveSet {
  readonly head: number;
  readonly #source: LiveSource;
  /** Still to be sent, in order. */
  #positions: readonly number[];

  private constructor(source: LiveSource, head: number, positions: readonly number[]) {
    this.head = head;
    this.#source = source;
    this.#positions = positions;
  }

  static async read(source: LiveSource, panel: PanelAddress): Promise<LiveSet> {
    const { history, tenant, now } = source;
    const { head, positions: live } = await history.live(tenant, panel, now(), limits.liveSet);
    const positions = live.map(({ position }) => position).sort((a, b) => a - b);
    return new LiveSet(source, head, positions);
  }

  /** Reads the next chunk; the last one ends with the heartbeat. One call at a time. */
  async next(): Promise<Chunk> {
    const { history, tenant, epoch, now } = this.#source;
    let text = '';
    let sent = 0;
    while (text === '' && this.#positions.length > 0) {
      const next = this.#positions.slice(0, chunkNotifications);
      const { notifications, scanned } = await history.readLive(tenant, next, now(), chunkChars);
      this.#positions = this.#positions.slice(scanned);
      const at = now();
      for (const each of notifications) {
        if (each.expiresAt !== null && each.expiresAt <= at) continue;
        text += encodeNotification(epoch, each, at);
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
