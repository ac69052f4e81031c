/** How far retention goes in a tenant's log. */

export interface RetentionBounds {
  /** Unix milliseconds; null: whatever its age. */
  readonly olderThan: number | null;
  /** Notifications kept; null: however many. */
  readonly keep: number | null;
  readonly now: number;
}

/** An entry of the log. */
export interface RetentionEntry {
  readonly row: number;
  readonly position: number;
  readonly at: number;
  /** null: it is about a notification, and none itself. */
  readonly bytes: number | null;
}

/** A tenant's log is to begin at `first` and no longer at `from`; what lies between holds so many notifications and bytes. */
export interface RetentionStep {
  readonly from: number;
  readonly first: number;
  /** Rows below this one are not kept. */
  readonly firstRow: number;
  readonly notifications: number;
  readonly bytes: number;
  /** The latest time of these notifications; null without any. */
  readonly latest: number | null;
}

/**
 * The most entries that are ahead of the clock, as a multiple of what a step drops, behind which an old one is looked for. With
 * more of them, the log stays as it is until the clock has passed them, except for what is beyond `keep`.
 */
const mostAhead = 20;

/** Finds the next step by walking through the entries of a log, the oldest first. */
export class RetentionWalk {
  readonly #bounds: RetentionBounds;
  readonly #mostEntries: number;
  readonly #hasNotifications: boolean;
  /** Notifications to be dropped whatever their age. */
  #excess: number;
  /** No entry was young enough yet. */
  #isOld: boolean;
  /** The last notification was ahead of the clock: those that come after it decide. */
  #isUndecided = false;
  #walked = 0;
  #ahead = 0;
  #passed: RetentionStep;
  #step: RetentionStep | undefined;

  /** `log`: as stored. A step drops `mostEntries` at the most. */
  constructor(
    log: { readonly first: number; readonly notifications: number },
    bounds: RetentionBounds,
    mostEntries: number,
  ) {
    const { first, notifications } = log;
    this.#bounds = bounds;
    this.#mostEntries = mostEntries;
    this.#hasNotifications = notifications > 0;
    this.#excess = bounds.keep === null ? 0 : notifications - bounds.keep;
    this.#isOld = bounds.olderThan !== null;
    this.#passed = { from: first, first, firstRow: 0, notifications: 0, bytes: 0, latest: null };
  }

  /** What is dropped; undefined when nothing is beyond either bound. */
  get step(): RetentionStep | undefined {
    return this.#step;
  }

  /** Takes the next entry. Returns whether the one after it is needed. */
  add(entry: RetentionEntry): boolean {
    const before = this.#passed;
    this.#passed = sum(before, entry);
    const isNotification = entry.bytes !== null;
    if (isNotification && this.#excess > 0) {
      this.#excess -= 1;
      this.#step = this.#passed;
    }
    if (this.#isOld && (isNotification || !this.#hasNotifications)) this.#judgeAge(entry.at, before);
    this.#walked += 1;
    if (this.#isUndecided) this.#ahead += 1;
    if (this.#excess <= 0 && !this.#isOld) return false;
    return this.#step ? this.#walked < this.#mostEntries : this.#ahead < mostAhead * this.#mostEntries;
  }

  /**
   * Up to the last old notification before the first that is young enough, with the changes that follow it. One that is ahead of
   * the clock was received while the clock was wrong: it is as old as what came after it, and stays while nothing has. Without
   * notifications, changes go by their own age; one that is ahead of the clock is old.
   */
  #judgeAge(at: number, before: RetentionStep): void {
    const { olderThan, now } = this.#bounds;
    const isAhead = at > now;
    if (isAhead ? !this.#hasNotifications : at < (olderThan ?? 0)) {
      this.#step = this.#passed;
      this.#isUndecided = false;
      return;
    }
    const [done, all] = [this.#step?.first ?? before.from, before.first];
    if (this.#hasNotifications && !this.#isUndecided && all > done) this.#step = before;
    this.#isUndecided = isAhead;
    this.#isOld = isAhead;
  }
}

function sum(before: RetentionStep, { row, position, at, bytes }: RetentionEntry): RetentionStep {
  const passed = { ...before, first: position + 1, firstRow: row + 1 };
  if (bytes === null) return passed;
  return {
    ...passed,
    notifications: before.notifications + 1,
    bytes: before.bytes + bytes,
    latest: Math.max(before.latest ?? 0, at),
  };
}
