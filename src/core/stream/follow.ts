import type { Bus, Entry, History, LogPage, TenantId } from '../ports.ts';

const pageSize = 500;
/** Read this often without a notification from the bus too, as a bus may lose the last one. */
const pollMs = 1_500;
/** After a read that failed. */
const retryMs = 250;

export interface FollowOptions {
  readonly history: Pick<History, 'readAfter'>;
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly tenant: TenantId;
  /** The position after which to begin. */
  readonly from: number;
  /** Gets every entry after `from`, each once, in order. Must not throw. */
  readonly deliver: (entries: readonly Entry[]) => void;
  /** Entries up to `first - 1` were pruned before they were read; delivery continues with `first`. */
  readonly onGap: (first: number) => void;
  readonly onError: (error: unknown) => void;
  readonly pageSize?: number;
  readonly pollMs?: number;
}

export interface Follower {
  /** The last position delivered. */
  readonly position: number;
  close(): void;
}

/**
 * Delivers the entries of a log, first the past, then new ones: each once and in order, whatever the bus loses or repeats.
 *
 * A wake-up only means "read after your position". The entries it carries are used if they are exactly the next ones, so
 * usually nothing is read back. The flag is cleared before a read, so a wake-up during the read causes another read.
 */
export function follow(options: FollowOptions): Follower {
  const { history, bus, tenant, deliver, onGap, onError } = options;
  const limit = options.pageSize ?? pageSize;
  let position = options.from;
  let woken = false;
  let reading = false;
  let closed = false;
  let retry: NodeJS.Timeout | undefined;

  const take = (entries: readonly Entry[]) => {
    const start = entries.findIndex((entry) => entry.position === position + 1);
    if (start < 0) return;
    let end = start;
    while (end < entries.length && entries[end]?.position === position + 1 + (end - start)) end += 1;
    position += end - start;
    deliver(start === 0 && end === entries.length ? entries : entries.slice(start, end));
  };

  const use = (page: LogPage) => {
    if (page.first > position + 1) {
      position = page.first - 1;
      onGap(page.first);
    }
    const before = position;
    take(page.entries);
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
        if (!closed) use(page);
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
    if (!reading) take(entries);
    const last = entries.at(-1);
    if (last === undefined || last.position > position) wake(); // without entries it only says that something happened
  });
  const poll = setInterval(wake, options.pollMs ?? pollMs);
  poll.unref();
  wake();

  return {
    get position() {
      return position;
    },
    close() {
      closed = true;
      unsubscribe();
      clearInterval(poll);
      clearTimeout(retry);
    },
  };
}
