import type { Bus, Entry, History, LogPage, TenantId } from '../ports.ts';

const pageSize = 500;
/** The interval of reads without a message from the bus, because the bus may lose messages. */
const pollMs = 1_500;
/** The wait after a failed read. */
const retryMs = 250;

export interface FollowOptions {
  readonly history: Pick<History, 'readAfter'>;
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly tenant: TenantId;
  /** Delivery starts after this position. */
  readonly from: number;
  /** Gets every entry after `from`, each once, in order. Must not throw. */
  readonly deliver: (entries: readonly Entry[]) => void;
  /** Entries up to `first - 1` were pruned before they were read; delivery continues with `first`. */
  readonly onGap: (first: number) => void;
  readonly onError: (error: unknown) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicNow: () => number;
  readonly pageSize?: number;
  readonly pollMs?: number;
}

export interface Follower {
  /** The last position delivered. */
  readonly position: number;
  /** When all that the log had was delivered, by `monotonicNow`: long ago when the log cannot be read. */
  readonly readAt: number;
  close(): void;
}

/**
 * Delivers the entries of a log, first stored ones, then new ones: each once and in order, even if the bus loses or repeats
 * messages.
 *
 * A message only means "read after your position". Its entries are used if they are exactly the next ones, which usually
 * avoids a read. `woken` is cleared before a read, so a message during the read causes another read.
 */
export function follow(options: FollowOptions): Follower {
  const { history, bus, tenant, deliver, onGap, onError, monotonicNow } = options;
  const limit = options.pageSize ?? pageSize;
  let position = options.from;
  let readAt = monotonicNow();
  let woken = false;
  let reading = false;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  const deliverNext = (entries: readonly Entry[]) => {
    const start = entries.findIndex((entry) => entry.position === position + 1);
    if (start < 0) return;
    let end = start;
    while (end < entries.length && entries[end]?.position === position + 1 + (end - start)) end += 1;
    position += end - start;
    readAt = monotonicNow();
    deliver(start === 0 && end === entries.length ? entries : entries.slice(start, end));
  };

  const deliverPage = (page: LogPage) => {
    if (page.first > position + 1) {
      position = page.first - 1;
      onGap(page.first);
    }
    const before = position;
    deliverNext(page.entries);
    if (position >= page.head) return;
    if (position === before)
      throw new Error(
        `the log of tenant ${tenant} has no entry ${position + 1}, though its head is ${page.head}`,
      );
    woken = true;
  };

  const read = async () => {
    if (reading || closed) return;
    reading = true;
    try {
      while (woken && !closed) {
        woken = false;
        const page = await history.readAfter(tenant, position, limit);
        if (!closed) deliverPage(page);
        readAt = monotonicNow();
      }
    } catch (error) {
      woken = true;
      onError(error);
      retry = setTimeout(() => void read(), retryMs);
      retry.unref();
    } finally {
      reading = false;
    }
  };

  const wake = () => {
    woken = true;
    void read();
  };

  const unsubscribe = bus.subscribe(tenant, (entries) => {
    if (!reading) deliverNext(entries);
    const last = entries.at(-1);
    if (last === undefined || last.position > position) wake(); // a message without entries only means that something changed
  });
  const poll = setInterval(wake, options.pollMs ?? pollMs);
  poll.unref();
  wake();

  return {
    get position() {
      return position;
    },
    get readAt() {
      return readAt;
    },
    close() {
      closed = true;
      unsubscribe();
      clearInterval(poll);
      clearTimeout(retry);
    },
  };
}
