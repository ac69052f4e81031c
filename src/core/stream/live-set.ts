import { limits } from '../../contract/limits.ts';
import { encodeSse, formatCursor } from '../../contract/sse.ts';
import type { History, Notification, TenantId } from '../ports.ts';
import type { PanelAddress } from '../target.ts';
import { encodeNotification, iso } from './frames.ts';

export interface LiveSource {
  readonly tenant: TenantId;
  readonly epoch: string;
  readonly history: Pick<History, 'live'>;
  readonly now: () => number;
}

/** A piece is ended once it has this many characters. */
const pieceChars = 16 * 1024;

/**
 * What a panel should be showing as of some head, on its way to it. The notifications keep their own ids and go in order
 * of position, so a client cut off in the middle resumes without a hole; the heartbeat behind them moves the id to that
 * head. For a client that keeps us waiting they are let go, and read again when it goes on.
 */
export class LiveSet {
  readonly head: number;
  readonly #source: LiveSource;
  readonly #panel: PanelAddress;
  #sentTo = 0;
  #rest: readonly Notification[] | undefined;
  #counts: Readonly<Record<string, number>>;

  private constructor(
    source: LiveSource,
    panel: PanelAddress,
    { head, notifications, counts }: Awaited<ReturnType<History['live']>>,
  ) {
    this.head = head;
    this.#source = source;
    this.#panel = panel;
    this.#rest = notifications;
    this.#counts = counts;
  }

  static async read(source: LiveSource, panel: PanelAddress): Promise<LiveSet> {
    return new LiveSet(source, panel, await readLive(source, panel));
  }

  /** Keeps nothing in memory of what is still to be sent. */
  letGo(): void {
    this.#rest = undefined;
  }

  get wasLetGo(): boolean {
    return this.#rest === undefined;
  }

  /** Reads again what was let go. What came after the head comes from the log. */
  async recall(): Promise<void> {
    const { notifications, counts } = await readLive(this.#source, this.#panel);
    this.#counts = counts;
    this.#rest = notifications.filter(({ position }) => position > this.#sentTo && position <= this.head);
  }

  /** The next piece of the stream, with how many notifications it holds; the last one ends with the heartbeat. */
  next(): { readonly text: string; readonly notifications: number; readonly isLast: boolean } {
    const { epoch, now } = this.#source;
    const rest = this.#rest ?? [];
    const at = now();
    let text = '';
    let notifications = 0;
    let taken = 0;
    while (taken < rest.length && text.length < pieceChars) {
      const notification = rest[taken++] as Notification;
      this.#sentTo = notification.position;
      if (notification.expiresAt !== null && notification.expiresAt <= at) continue;
      text += encodeNotification(epoch, notification, at, this.#counts[notification.id] ?? 0);
      notifications += 1;
    }
    this.#rest = rest.slice(taken);
    const isLast = taken === rest.length;
    if (isLast) text += this.#closing(at);
    return { text, notifications, isLast };
  }

  #closing(at: number): string {
    const data = { serverTime: iso(at), head: this.head };
    return encodeSse({ event: 'heartbeat', id: formatCursor(this.#source.epoch, this.head), data });
  }
}

function readLive({ history, tenant, now }: LiveSource, panel: PanelAddress): ReturnType<History['live']> {
  return history.live(tenant, panel, now(), limits.liveSet);
}
