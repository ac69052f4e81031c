/**
 * The log of a tenant and the history of its notifications: the only truth about what was accepted. The log is a sequence of
 * entries. Entries are notifications and what happens to them: clears, acknowledgements, shelvings and returns. Each has a
 * position (1, 2, 3 … without gaps) in the order of commits, so a reader that continues after a position misses nothing. An
 * entry never changes; a clear or an acknowledgement of a notification is an entry of its own. A notification is live on its
 * panels until it is cleared, replaced by another one of its key, or expired by its ttl; history keeps it until retention
 * deletes the oldest entries. When the promise of a write resolves, the write is durable; if it rejects with `unavailable`,
 * nothing was stored, unless the connection to the database was lost during the commit. These are the
 * interfaces that storage implements for the core. Times are Unix milliseconds.
 */
import type { OptionalTexts } from '#contract/history/fields.ts';
import type { Query } from '../search/search-query.ts';
import type { AlarmPlaces, AlarmsWanted } from './alarm-places.ts';
import type { Escalation, Ref, Route, SuppressingRule, TenantId } from './route.ts';
import type { PanelAddress } from './target.ts';

export interface NotificationDraft extends OptionalTexts {
  /** UUIDv7 of the time of `receivedAt`, as `newNotificationId` makes it: stores look for an id where notifications of its time are. */
  readonly id: string;
  readonly receivedAt: number;
  readonly title: string;
  readonly message: string;
  /** Level, rank and ttl after routing; `sentLevel` and `sentTtl` are the sender's values. ttl 0: until cleared. */
  readonly level: string;
  readonly rank: number;
  readonly ttl: number;
  readonly sentLevel: string;
  readonly sentTtl: number | null;
  /** receivedAt + ttl, or null when it stays until cleared. */
  readonly expiresAt: number | null;
  readonly sourceIp: string;
  readonly tokenId: string;
  readonly route: Route;
  /** If a throttle counted this notification on another one: the id of the shown one, and the ordinal of this one (1 for the first). */
  readonly throttledOn: string | null;
  readonly throttleCount: number;
}

export interface Notification extends NotificationDraft {
  readonly kind: 'notification';
  readonly position: number;
}

/** A notification was removed from the panels that `route` names. */
export interface Clear {
  readonly kind: 'clear';
  readonly position: number;
  /** The notification that was cleared. */
  readonly id: string;
  readonly reason: 'cleared' | 'replaced';
  /** The name of a token or key, or the id of the notification that replaced it. */
  readonly by: string;
  readonly at: number;
  readonly note?: string | null;
  readonly route: Route;
}

/** Somebody has seen a notification and takes care of it. */
export interface Acknowledged {
  readonly at: number;
  /** The name of a person, token or key. */
  readonly by: string;
  readonly note: string | null;
  /** When the alarm is open again by itself; absent: it stays acknowledged. */
  readonly until?: number;
}

/** A notification was acknowledged on the panels that `route` names; it stays there. */
export interface Acknowledgement extends Acknowledged {
  readonly kind: 'acknowledgement';
  readonly position: number;
  /** The notification that was acknowledged. */
  readonly id: string;
  readonly route: Route;
}

/** Somebody has put an alarm aside until a time. */
export interface Shelved extends Acknowledged {
  readonly until: number;
}

/** A notification was taken off the panels that `route` names, until a time. */
export interface Shelving extends Shelved {
  readonly kind: 'shelving';
  readonly position: number;
  /** The notification that was shelved. */
  readonly id: string;
  readonly route: Route;
}

/** A notification was taken off the panels that `route` names, as long as its cause stands. */
export interface Suppression {
  readonly kind: 'suppression';
  readonly position: number;
  /** The notification that was suppressed. */
  readonly id: string;
  readonly at: number;
  /** A notification of the alarm that is its cause. */
  readonly by: string;
  /** What both have in common, as in {@link SuppressKeys}. */
  readonly key: string;
  readonly route: Route;
}

/** Somebody has named the person who takes care of an alarm. */
export interface Assignment {
  readonly kind: 'assignment';
  readonly position: number;
  readonly id: string;
  readonly at: number;
  readonly by: string;
  /** null: nobody takes care of it any more. */
  readonly owner: Ref | null;
  readonly route: Route;
}

/** An alarm is open again: its acknowledgement was taken back, it comes off the shelf, or its cause has ended. */
export interface Return {
  readonly kind: 'return';
  readonly position: number;
  /** The notification that stood then. */
  readonly id: string;
  readonly at: number;
  /** Who did so; {@link belfryAsActor} when the time was over, or the cause has ended. */
  readonly by: string;
  readonly route: Route;
  readonly from: 'acknowledged' | 'shelved' | 'suppressed';
  /** Panels show it again. null: it was on panels all the time, as it was acknowledged. */
  readonly shown: CountedNotification | null;
}

/** As whom Belfry acts when a time is over. */
export const belfryAsActor = 'belfry';

/**
 * What an alarm remembers of its notifications: those of one key that replaced each other, or a notification without a key and its
 * escalations. It ends when the last of them is cleared, resolved or expired.
 */
export interface AlarmMemory {
  /** When the first notification was received. */
  readonly since: number;
  /**
   * Notifications, also those that throttles counted, without the steps of its escalation. Steps from before it was acknowledged and
   * then became worse still count.
   */
  readonly count: number;
  readonly highestLevel: string;
  readonly highestRank: number;
  readonly shelved: Shelved | null;
  /** Set while its cause stands: since when it is suppressed, and by which notification. */
  readonly suppressed: Pick<Suppression, 'at' | 'by'> | null;
  readonly owner: Ref | null;
  /** Absent: it has none. */
  readonly escalation?: AlarmEscalation;
}

export interface SuppressedAlarms {
  readonly causes: readonly { readonly position: number; readonly key: string }[];
  readonly suppressed: readonly (LivePosition & { readonly key: string })[];
}

/** How far the escalation of an alarm is. */
export interface AlarmEscalation extends Escalation {
  /** Index of the next step; as many were sent. */
  readonly step: number;
  /** When it is due; null: never, or not while the alarm is acknowledged, shelved or suppressed. */
  readonly nextAt: number | null;
}

/** Of a live notification. */
export type LivePosition = Pick<Notification, 'rank' | 'position'>;

export interface CountedNotification extends Notification {
  /** How many later notifications a throttle counted on this one. */
  readonly count: number;
}

export interface LiveNotification extends CountedNotification {
  readonly acknowledged: Acknowledged | null;
}

/** One entry of a tenant's log. */
export type Entry = (Notification | Clear | Acknowledgement) | (Shelving | Return | Suppression | Assignment);

/** The sender's idempotency key. A repeat with the same key and hash within `limits.idempotencyMs` stores nothing. */
export interface Idempotency {
  readonly key: string;
  readonly hash: string;
  /**
   * Other content under the same key is a conflict, unless this is set: then it is a newer state, which is stored and replaces the
   * content that counts as a repeat.
   */
  readonly isState?: boolean;
  /** Unix milliseconds; absent: 24 hours after it was received. */
  readonly until?: number;
}

export type AppendOutcome =
  | {
      readonly kind: 'stored';
      readonly id: string;
      /**
       * First the clear of the notification that it replaced, if any, then the notification, then the acknowledgement that it
       * takes over from that, unless it is of a higher level or in the place of a silent sender; its time is when it was received.
       */
      readonly entries: readonly Entry[];
      /** True when it ends an alert and was also queued for the channels that had the alert, whether or not its own rules name them. */
      readonly endsDelivered?: boolean;
    }
  | RepeatOutcome
  | {
      /**
       * Nothing is stored: the draft was not made for the alarm as it is. `id`: the notification whose escalation the draft
       * continues, so it must keep its level and panels, or be counted on it; null: it continues none. `step`: for which it must be made.
       */
      readonly kind: 'changed';
      readonly id: string | null;
      readonly step: number;
    }
  | {
      /** Nothing is stored. A throttle has shown `on` since `shownAt`; the caller must count the notification on `on`. */
      readonly kind: 'throttled';
      /** The name of the throttle's claim. */
      readonly by: string;
      readonly on: string;
      readonly shownAt: number;
    };

export type RepeatOutcome =
  | { readonly kind: 'repeated'; readonly id: string }
  | { readonly kind: 'conflict' };

/**
 * Asks that the notification be the one that a throttle shows for `perMs`. Fails if the throttle already shows another one, except
 * those in `insteadOf`.
 */
export interface ThrottleClaim {
  readonly name: string;
  readonly perMs: number;
  readonly insteadOf: readonly string[];
}

/** What storing a notification depends on. */
export interface AppendTerms {
  /** Only a store that several nodes share uses them; a single node keeps its throttles in memory. */
  readonly claims?: readonly ThrottleClaim[];
  /** The escalation that its rules ask for. A repeat continues that of its alarm, unless it must be acknowledged anew. */
  readonly escalation?: Escalation;
  /** How many steps of the escalation that it continues the draft takes into account; default 0. Others: `changed`. */
  readonly step?: number;
  /**
   * Set for a step: the notification that it replaces. Nothing is stored unless exactly that stands, `step` is its next one, and the alarm
   * is open.
   */
  readonly replaces?: string;
}

export type ClearOutcome =
  | { readonly kind: 'cleared'; readonly entry: Clear }
  | { readonly kind: 'not-live' }
  | { readonly kind: 'not-found' };

/** What somebody does about alarms. */
export type AlarmAction = {
  /** The channel from which it came: it is not told. */
  readonly channel?: string;
} & (
  | ({
      readonly kind: 'acknowledge';
      /** Whose acknowledgement it may change: that of the same `by`, or anybody's. Absent: nobody's. */
      readonly over?: 'own' | 'any' | undefined;
      /** null: it does not end; absent: it lasts as long as the route or, without one, the level of the alarm that stands says. */
      readonly until?: number | null;
    } & Omit<Acknowledged, 'until'>)
  | ({ readonly kind: 'shelve' } & Shelved)
  | ({ readonly kind: 'clear' } & Pick<Clear, 'at' | 'by' | 'note'>)
  | ({ readonly kind: 'assign' } & Pick<Assignment, 'at' | 'by' | 'owner'>)
  | ({
      readonly kind: 'unacknowledge' | 'unshelve';
      /** Only if its time is over at `at`. */
      readonly isDue?: true;
    } & Pick<Return, 'at' | 'by'>)
);

/** `id`: the notification that stands in the place of the given one. */
export type AlarmOutcome =
  | {
      readonly kind: 'done';
      readonly id: string;
      readonly entry: Clear | Acknowledgement | Shelving | Return | Assignment;
    }
  /** Somebody else has acknowledged it. */
  | { readonly kind: 'already'; readonly id: string; readonly acknowledged: Acknowledged }
  /** It has ended, or there is nothing to take back. `off`: why it cannot be acknowledged; absent if it has come back since. */
  | { readonly kind: 'nothing'; readonly id: string; readonly off?: 'shelved' | 'suppressed' }
  | { readonly kind: 'not-found' };

/** An alarm that is to be open again. */
export interface DueReturn {
  readonly tenant: TenantId;
  readonly id: string;
  readonly kind: 'unacknowledge' | 'unshelve';
}

/** A step of an escalation that is to be sent, and the notification that stands. */
export interface DueStep {
  readonly tenant: TenantId;
  readonly id: string;
  readonly step: number;
}

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
  readonly cleared: Pick<Clear, 'at' | 'by' | 'reason'> | null;
  readonly acknowledged: Acknowledged | null;
  readonly receipts: { readonly shown: number; readonly expired: number; readonly cleared: number };
  /** null: it is not the one that stands of an alarm. */
  readonly alarm: AlarmMemory | null;
}

/** Time limits of a call that may take long. */
export interface CallOptions {
  /** After this time the call returns what it has. Without it, the call runs to the end. */
  readonly timeoutMs?: number;
  /** Ends the work: the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** The formats in which a search returns records: see `recordForms` in history-view.ts. */
export interface RecordForms {
  readonly record: HistoryRecord;
  readonly position: number;
  readonly lines: string;
  readonly ndjson: string;
  readonly csv: string;
}
export type RecordForm = keyof RecordForms;

export interface SearchOptions<Form extends RecordForm = 'record'> extends CallOptions {
  readonly limit: number;
  /** Default: `record`. */
  readonly form?: Form;
  /** Only positions below this one (the next page) … */
  readonly before?: number;
  /** … or above this one (a live tail). */
  readonly after?: number;
  readonly now: number;
}

export interface SearchPage<Form extends RecordForm = 'record'> {
  /** Newest first. */
  readonly records: readonly RecordForms[Form][];
  /** `before` for the next page; null on the last one. */
  readonly next: number | null;
  /**
   * Set only if the time ran out before the page was full and before the search reached the start of the log. Then it is
   * the time (Unix milliseconds) back to which the log was searched; `next` is lower than `before` and continues there.
   */
  readonly searchedTo: number | null;
  /** The log's head at the time of the read. The search considered every entry up to it. */
  readonly head: number;
}

/**
 * The log of each tenant and the history of its notifications: the single source of truth.
 *
 * When a promise of a write resolves, the write is durable: committed and fsynced. Positions are dense and in commit order,
 * so a reader that continues after position p misses nothing.
 *
 * @throws AppError `unavailable` when the queue or the disk is full, or the disk or the database failed. Nothing is stored
 * then, with one exception: if the connection to the database is lost during a commit, the entries may have been stored. The
 * caller may retry with the same idempotency key; the retry never stores twice.
 */
export interface History {
  append(
    tenant: TenantId,
    draft: NotificationDraft,
    idempotency: Idempotency | null,
    terms?: AppendTerms,
  ): Promise<AppendOutcome>;
  /** What `append` would return for a repeated key; undefined if the key was not used within its time. */
  findRepeat(tenant: TenantId, idempotency: Idempotency, now: number): Promise<RepeatOutcome | undefined>;
  /**
   * Removes a live notification from its panels, and queues that for channels as `act` does, unless `isQuiet`: then nobody has said
   * that the alarm is over. `by`: who did.
   */
  clear(tenant: TenantId, id: string, by: string, at: number, isQuiet?: boolean): Promise<ClearOutcome>;
  /**
   * Applies an action to the alarms of these notifications, all of them durable or none; at most some hundred. The answers are in the
   * order of `ids`. An id of any notification of an alarm names it. `within`: an alarm that does not reach this panel is not found.
   * What was done is queued for the channels that had the alarm and want to be told, see `channels/updates.ts`.
   */
  act(
    tenant: TenantId,
    ids: readonly string[],
    action: AlarmAction,
    within?: PanelAddress,
  ): Promise<readonly AlarmOutcome[]>;
  /** Alarms that stand at `now`, by rank, then the newest `since` first, then by position. A rank below `info` is no alarm. */
  alarms(tenant: TenantId, wanted: AlarmsWanted): Promise<AlarmPlaces>;
  /** Alarms of all tenants whose acknowledgement or shelf ends at `now` or earlier, the first of them; at most `limit`. */
  dueReturns(now: number, limit: number): Promise<readonly DueReturn[]>;
  /**
   * Suppresses the open alarms of all tenants whose cause stands at `now`, and brings back those whose cause has ended, at most
   * `limit` of them. No tenant holds up another. Returns the entries of each tenant for which it did something, for the bus; there
   * are none for alarms that only got another cause, and for causes that suppress nothing. An empty map: nothing is left to do.
   */
  updateSuppression(now: number, limit: number): Promise<ReadonlyMap<TenantId, readonly Entry[]>>;
  /** The rules by which alarms suppress others, as {@link SuppressKey} names them, and the newest revision of the rule set with each. */
  suppressingRules(): Promise<readonly SuppressingRule[]>;
  /** Alarms of revisions up to this one no longer suppress others by this rule. */
  endSuppressing(tenant: TenantId, rule: string, revision: number): Promise<void>;
  /** The alarms that suppress others by a key, and those that are suppressed by one, at `now`. */
  suppression(tenant: TenantId, now: number): Promise<SuppressedAlarms>;
  /** As `append` does: the id of the cause by one of these keys, other than the alarm in which `own` stands. */
  findCause(tenant: TenantId, keys: readonly string[], at: number, own?: string): Promise<string | undefined>;
  /** Steps of all active tenants that are due at `now`, the first of them; at most `limit`. */
  dueSteps(now: number, limit: number): Promise<readonly DueStep[]>;
  /**
   * Sets when a step is due that was due; null: never, nor is a later one. Undefined: the alarm has no escalation any more. Does nothing
   * if the step is no longer the next one, or the alarm is not open.
   */
  settleStep(due: DueStep, at: number | null | undefined): Promise<void>;
  /** The entries about these notifications, but not the notifications themselves, oldest first; at most `limit` of the newest. */
  entriesOf(tenant: TenantId, ids: readonly string[], limit: number): Promise<readonly Entry[]>;
  bounds(tenant: TenantId): Promise<LogBounds>;
  /** The heads of several logs in one read; one that has no entry may be missing. */
  heads(tenants: readonly TenantId[]): Promise<ReadonlyMap<TenantId, number>>;
  /** Entries with positions after `position`, in order, at most `limit`. */
  readAfter(tenant: TenantId, position: number, limit: number): Promise<LogPage>;
  /** Positions of the notifications that a panel should show at `now`: at most `limit`, by rank, then newest first. */
  live(
    tenant: TenantId,
    panel: PanelAddress,
    now: number,
    limit: number,
  ): Promise<{ readonly head: number; readonly positions: readonly LivePosition[] }>;
  /**
   * The notifications at `positions` that are live at `now`, in the given order. It stops when title, message, host, key and
   * url of the result together exceed `chars` characters, but returns at least one. `scanned`: how many positions it read.
   */
  readLive(
    tenant: TenantId,
    positions: readonly number[],
    now: number,
    chars: number,
  ): Promise<{ readonly notifications: readonly LiveNotification[]; readonly scanned: number }>;
  /**
   * Of the live notifications that stay until after `until`: the ids of those beyond the `limit` highest in rank, then newest, in
   * that order; some thousands at most.
   */
  stayingBeyond(tenant: TenantId, limit: number, until: number): Promise<readonly string[]>;
  find(tenant: TenantId, id: string): Promise<HistoryRecord | undefined>;
  /** The titles of these notifications, by their ids, without those that history no longer keeps; at most some hundred. */
  titles(tenant: TenantId, ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** The notifications at these positions, in the given order, without those that history no longer keeps; at most some hundred. */
  recordsAt(tenant: TenantId, positions: readonly number[]): Promise<readonly HistoryRecord[]>;
  /** The id of the notification of this key that is live at `now`. */
  findLive(tenant: TenantId, key: string, now: number): Promise<string | undefined>;
  /** Each call makes progress, however short its time limit is. Searches of one tenant do not delay those of another. */
  search<Form extends RecordForm = 'record'>(
    tenant: TenantId,
    query: Query,
    options: SearchOptions<Form>,
  ): Promise<SearchPage<Form>>;
  /**
   * Deletes the oldest entries beyond either bound, one batch per call; returns how many it deleted (0: done). They disappear
   * for every reader at once. If a wrong clock dated an entry after `now`, the entry counts as old as its successor.
   */
  prune(
    tenant: TenantId,
    bounds: { readonly olderThan: number | null; readonly keep: number | null },
    now: number,
  ): Promise<number>;
  /** A lower bound of the rule set revisions in the routes of stored notifications; undefined if there is none. */
  oldestRevision(tenant: TenantId): Promise<number | undefined>;
  /** Rows and bytes of a tenant's history; bytes are an estimate. */
  size(tenant: TenantId): Promise<{ readonly notifications: number; readonly bytes: number }>;
}
