import { limits } from '../../contract/limits.ts';
import { encodeSse, formatCursor } from '../../contract/sse.ts';
import type { History, TenantId } from '../ports.ts';
import type { PanelAddress } from '../target.ts';
import { encodeNotification, iso } from './frames.ts';

export interface LiveSource {
  readonly tenant: TenantId;
  readonly epoch: string;
  readonly history: Pick<History, 'live' | 'stillLive'>;
  readonly now: () => number;
}

interface Piece {
  readonly text: string;
  readonly notifications: number;
  readonly isLast: boolean;
}

/** Texts of a piece have at most this many characters, unless one alone has more. */
const pieceChars = 16 * 1024;
/** Positions that are asked about at once: as many as short texts need to fill a piece. */
const positionsAtOnce = 128;

/**
 * What a panel should be showing as of some head, on its way to it. The notifications keep their own ids and go in order
 * of position, so a client cut off in the middle resumes without a hole; the heartbeat behind them moves the id to that
 * head. Only positions are kept in memory: each piece is read when the client is ready for it, without what was cleared
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

  /** Reads the next piece of the stream; the last one ends with the heartbeat. Call it again when that has answered. */
  async next(): Promise<Piece> {
    const { history, tenant, epoch, now } = this.#source;
    let text = '';
    let sent = 0;
    while (text === '' && this.#positions.length > 0) {
      const asked = this.#positions.slice(0, positionsAtOnce);
      const { notifications, looked } = await history.stillLive(tenant, asked, now(), pieceChars);
      this.#positions = this.#positions.slice(looked);
      const at = now();
      for (const each of notifications) text += encodeNotification(epoch, each, at, each.count);
      sent = notifications.length;
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
