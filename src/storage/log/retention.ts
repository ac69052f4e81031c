/** Computes the entries that retention drops from a tenant's log. */

export interface RetentionBounds {
  /** Unix milliseconds; null: no limit of age. */
  readonly olderThan: number | null;
  /** The most notifications to keep; null: no limit. */
  readonly keep: number | null;
  readonly now: number;
}

/** An entry of the log. */
export interface RetentionEntry {
  readonly row: number;
  readonly position: number;
  readonly at: number;
  /** null: the entry is not a notification. */
  readonly bytes: number | null;
}

/** Moves the beginning of a tenant's log from `from` to `first`. `notifications` and `bytes` are the totals between the two. */
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
 * The walk passes at most this many entries that are ahead of the clock to find an old one, as a multiple of the entries of a
 * step. If there are more, only `keep` drops entries until the clock has passed them.
 */
const mostAhead = 20;

/** Finds the next step by walking through the entries of a log, the oldest first. */
export class RetentionWalk {
  readonly #bounds: RetentionBounds;
  readonly #mostEntries: number;
  readonly #hasNotifications: boolean;
  /** How many notifications to drop because of `keep`. */
  #excess: number;
  /** All entries so far are too old, or undecided. */
  #isOld: boolean;
  /** The last notification was ahead of the clock, so the next ones decide about it. */
  #isUndecided = false;
  #walked = 0;
  #ahead = 0;
  #passed: RetentionStep;
  #step: RetentionStep | undefined;

  /** `log`: the stored counters. A step drops at most `mostEntries`. */
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

  /** The entries to drop; undefined when nothing is beyond either bound. */
  get step(): RetentionStep | undefined {
    return this.#step;
  }

  /** Adds the next entry. Returns whether the walk needs another one. */
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
   * Moves the end of the step to the last old notification before the first young one, with the changes that follow it. A
   * notification ahead of the clock was received while the clock was wrong. It counts as old as the next notification, and stays
   * if there is none. In a log without notifications, changes count by their own age; a change ahead of the clock is old.
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
