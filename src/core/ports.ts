/** Interfaces that storage and the bus implement for the core. Times are Unix milliseconds; positions are 1, 2, 3 … per tenant. */
import type { Query } from './search/search-query.ts';
import type { PanelAddress, Target } from './target.ts';

/** A tenant's number inside this installation. It is never sent, and comes only from a credential. */
export type TenantId = number;

export interface Ref {
  readonly id: string;
  readonly name: string;
}

/** What routing decided, kept with the notification; `revision` is that of the rule set it was decided by. */
export interface Route {
  readonly revision: number;
  readonly rules: readonly Ref[];
  readonly muted: boolean;
  readonly target: Target;
}

export interface NotificationDraft {
  /** UUIDv7. */
  readonly id: string;
  readonly receivedAt: number;
  readonly title: string;
  readonly message: string;
  /** Level, rank and ttl as routing left them; `sentLevel` and `sentTtl` as the sender gave them. ttl 0: until cleared. */
  readonly level: string;
  readonly rank: number;
  readonly ttl: number;
  readonly sentLevel: string;
  readonly sentTtl: number | null;
  /** receivedAt + ttl, or null when it stays until cleared. */
  readonly expiresAt: number | null;
  readonly ip: string | null;
  readonly host: string | null;
  readonly key: string | null;
  readonly url: string | null;
  readonly sourceIp: string;
  readonly tokenId: string;
  readonly route: Route;
  /** The notification that a throttle counted this one on, and its number there (1 for the first). */
  readonly throttledOn: string | null;
  readonly throttleCount: number;
}

export interface Notification extends NotificationDraft {
  readonly kind: 'notification';
  readonly position: number;
}

/** A notification was taken off the panels that `route` names. */
export interface Clear {
  readonly kind: 'clear';
  readonly position: number;
  /** The notification that was cleared. */
  readonly id: string;
  readonly reason: 'cleared' | 'replaced';
  /** Who: a token's or key's name, or the id of the notification that replaced it. */
  readonly by: string;
  readonly at: number;
  readonly route: Route;
}

/** Position and rank of a live notification. */
export interface LivePosition {
  readonly rank: number;
  readonly position: number;
}

export interface LiveNotification extends Notification {
  /** How many a throttle has counted on it. */
  readonly count: number;
}

/** One entry of a tenant's log. */
export type Entry = Notification | Clear;

/** The sender's retry key: the same key and hash within `limits.idempotencyMs` stores nothing again. */
export interface Idempotency {
  readonly key: string;
  readonly hash: string;
}

export type AppendOutcome =
  | {
      readonly kind: 'stored';
      readonly id: string /** In order: the clearing of what it replaced, then itself. */;
      readonly entries: readonly Entry[];
    }
  | RepeatOutcome
  | {
      /** Nothing is stored: a throttle shows `on` since `shownAt` already, so the notification is to be counted on it. */
      readonly kind: 'throttled';
      /** The name of the throttle's claim. */
      readonly by: string;
      readonly on: string;
      readonly shownAt: number;
    };

export type RepeatOutcome =
  | { readonly kind: 'repeated'; readonly id: string }
  | { readonly kind: 'conflict' };

/** A notification is to be the one that a throttle shows for so long, unless another one is shown already. */
export interface ThrottleClaim {
  readonly name: string;
  readonly perMs: number;
}

export type ClearOutcome =
  | { readonly kind: 'cleared'; readonly entry: Clear }
  | { readonly kind: 'not-live' }
  | { readonly kind: 'not-found' };

export interface LogBounds {
  /** The position of the newest entry; 0 when there is none. */
  readonly head: number;
  /** The oldest position still kept; head + 1 when nothing is. */
  readonly first: number;
}

export interface LogPage extends LogBounds {
  readonly entries: readonly Entry[];
}

/** A notification as history returns it. */
export interface HistoryRecord extends Notification {
  readonly tokenName: string;
  readonly cleared: {
    readonly at: number;
    readonly by: string;
    readonly reason: 'cleared' | 'replaced';
  } | null;
  readonly receipts: { readonly shown: number; readonly expired: number; readonly cleared: number };
}

/** Bounds on one call that may take long. */
export interface CallOptions {
  /** After this time the call returns what it has. Without it, the call runs to the end. */
  readonly timeoutMs?: number;
  /** Ends the work: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface SearchOptions extends CallOptions {
  readonly limit: number;
  /** Only positions below this one (the next page) … */
  readonly before?: number;
  /** … or above this one (a live tail). */
  readonly after?: number;
  readonly now: number;
}

export interface SearchPage {
  /** Newest first. */
  readonly records: readonly HistoryRecord[];
  /** `before` for the next page; null on the last one. */
  readonly next: number | null;
  /**
   * null, unless the time was over before the page was full and before the log's beginning was reached. Then it is the time
   * (Unix milliseconds) back to which the log was searched, `next` is lower than `before`, and the next page goes on there.
   */
  readonly searchedTo: number | null;
  /** The log's head when this was read: nothing up to it was left out. */
  readonly head: number;
}

/**
 * The log and its history: the only truth.
 *
 * A promise to store that resolved is durable: committed and fsynced. Positions are dense and in commit order, so a
 * reader that has seen position p and reads after it misses nothing.
 *
 * @throws AppError `unavailable` when the queue or the disk is full, or the disk or the database failed; nothing is stored then,
 * with one exception: if the connection to the database is lost during a commit, the entries may have been stored or not. A
 * retry with the same idempotency key tells, and never stores twice.
 */
export interface History {
  /** Only a store that several nodes share looks at `claims`; a single node's throttles are in its memory. */
  append(
    tenant: TenantId,
    draft: NotificationDraft,
    idempotency: Idempotency | null,
    claims?: readonly ThrottleClaim[],
  ): Promise<AppendOutcome>;
  /** The outcome of `append` if the key was used within its time; undefined if it was not. */
  findRepeat(tenant: TenantId, idempotency: Idempotency, now: number): Promise<RepeatOutcome | undefined>;
  /** Takes a live notification off the panels. */
  clear(tenant: TenantId, id: string, by: string, at: number): Promise<ClearOutcome>;
  bounds(tenant: TenantId): Promise<LogBounds>;
  /** Entries with positions after `position`, in order, at most `limit`. */
  readAfter(tenant: TenantId, position: number, limit: number): Promise<LogPage>;
  /** The positions of what a panel should be showing at `now`: at most `limit`, the highest rank first, then the newest. */
  live(
    tenant: TenantId,
    panel: PanelAddress,
    now: number,
    limit: number,
  ): Promise<{ readonly head: number; readonly positions: readonly LivePosition[] }>;
  /**
   * Those of the notifications at `positions` that are live at `now`, in the order given: as many as have `chars` characters
   * together in title, message, host, key and url, but at least one. `looked` positions were looked at for it.
   */
  readLive(
    tenant: TenantId,
    positions: readonly number[],
    now: number,
    chars: number,
  ): Promise<{ readonly notifications: readonly LiveNotification[]; readonly scanned: number }>;
  find(tenant: TenantId, id: string): Promise<HistoryRecord | undefined>;
  /** Each call searches some more of the log, however short its time is. Searches of one tenant do not hold up another's. */
  search(tenant: TenantId, query: Query, options: SearchOptions): Promise<SearchPage>;
  /**
   * Drops the oldest beyond either bound, a part at a time; answers how many entries it dropped (0: done). They are gone for
   * every reader at once. One received after `now`, by a clock that was wrong, is as old as what came after it.
   */
  prune(
    tenant: TenantId,
    bounds: { readonly olderThan: number | null; readonly keep: number | null },
    now: number,
  ): Promise<number>;
  /** The lowest revision of rules by which a notification that is kept may have been decided; undefined without any. */
  oldestRevision(tenant: TenantId): Promise<number | undefined>;
  /** Rows and bytes of a tenant's history; bytes are an estimate. */
  size(tenant: TenantId): Promise<{ readonly notifications: number; readonly bytes: number }>;
}

export interface ReceiptWrite {
  readonly id: string;
  readonly state: 'shown' | 'expired' | 'cleared';
  readonly at: number;
}

export interface ReceiptRow {
  readonly panelId: string;
  readonly shownAt: number | null;
  readonly expiredAt: number | null;
  readonly clearedAt: number | null;
}

/** Display receipts. The first receipt for each state counts; receipts for notifications not routed to the panel are ignored. */
export interface ReceiptStore {
  /** Answers those that were new, with when the notification was received. */
  record(
    tenant: TenantId,
    panel: PanelAddress,
    receipts: readonly ReceiptWrite[],
  ): Promise<
    readonly {
      readonly id: string;
      readonly state: ReceiptWrite['state'];
      readonly at: number;
      readonly receivedAt: number;
    }[]
  >;
  of(tenant: TenantId, id: string): Promise<readonly ReceiptRow[]>;
}

/**
 * What a wake-up is about: the log of a tenant, or what every node reads from the database: changes to the directory
 * of any tenant, and commands to panels.
 */
export type Channel = TenantId | 'directory' | 'commands';

/**
 * Wakes who waits for news, on this node and on the others: followers of a tenant's log, and nodes that read something from
 * the database. It may lose and repeat wake-ups, so who waits also looks by themselves now and then. A follower uses the
 * entries a wake-up carries only if they are exactly the next ones; none only says that something happened.
 */
export interface Bus {
  publish(channel: Channel, entries: readonly Entry[]): void;
  subscribe(channel: Channel, listener: (entries: readonly Entry[]) => void): () => void;
  /** Why other nodes are not woken now; undefined when they are, or when there can be none. */
  problem(): string | undefined;
  /** Gives back what it holds, within about a second whatever hangs. */
  close(): Promise<void>;
}

/** Storage health for the readiness check. */
export interface StorageHealth {
  /** undefined if intake works, else a sentence that says why not. */
  problem(): string | undefined;
}
