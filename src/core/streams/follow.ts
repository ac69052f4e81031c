import { coalesced } from '../limits/concurrency.ts';
import type { Bus } from '../log/bus.ts';
import type { Entry, History, LogPage } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';

const pageSize = 500;
/** How often the heads of all followed logs are read. */
const pollMs = 1_000;
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
}

export interface Follower {
  /** The last position delivered. */
  readonly position: number;
  /** When all that the log had was delivered, by `monotonicNow`: long ago when the log cannot be read. */
  readonly readAt: number;
  /** Must be called with the head of the log every second or so, as {@link pollHeads} does: the bus may lose messages. */
  observe(head: number): void;
  close(): void;
}

/**
 * Delivers the entries of a log, first stored ones, then new ones: each once and in order. What the bus loses or repeats
 * changes nothing, as long as the follower observes the head of the log.
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
  wake();

  return {
    get position() {
      return position;
    },
    get readAt() {
      return readAt;
    },
    observe(head) {
      if (head > position) wake();
      else readAt = monotonicNow();
    },
    close() {
      closed = true;
      unsubscribe();
      clearTimeout(retry);
    },
  };
}

/**
 * Lets all followers observe the heads of their logs, in one read however many there are. A follower that is behind then reads
 * its log. Returns a function that stops it.
 */
export function pollHeads(
  {
    history,
    onError,
  }: { readonly history: Pick<History, 'heads'>; readonly onError: (error: unknown) => void },
  hubs: ReadonlyMap<TenantId, { readonly hub: { readonly follower: Follower } | undefined }>,
): () => void {
  const poll = coalesced(async () => {
    const followers = new Map<TenantId, Follower>();
    for (const [tenant, { hub }] of hubs) if (hub) followers.set(tenant, hub.follower);
    if (followers.size === 0) return;
    const heads = await history.heads([...followers.keys()]);
    for (const [tenant, follower] of followers) follower.observe(heads.get(tenant) ?? 0);
  });
  const timer = setInterval(() => void poll().catch(onError), pollMs).unref();
  return () => clearInterval(timer);
}
