/** Due times: actions at a later time, kept in the database so that each happens once, even if a server stops in between. */
import type { TenantId } from '../ports.ts';

/**
 * `expectation`: the next notification of a key has not come. `escalation`: nobody has acknowledged a notification. `panel`:
 * checks whether a panel is connected.
 */
export type DueKind = 'expectation' | 'escalation' | 'panel';

export interface DueSubject {
  readonly tenant: TenantId;
  readonly kind: DueKind;
  /** The key, notification or panel concerned. */
  readonly subject: string;
}

export interface DueTime extends DueSubject {
  /** Unix milliseconds; null: not due until it is put again. */
  readonly dueAt: number | null;
  /** Random, and new with each change, so that the action for this state can be made idempotent. */
  readonly version: string;
  readonly data: unknown;
}

export type NewDueTime = Omit<DueTime, 'version'>;

/** One row for each subject. Writes are durable when they resolve. */
export interface DueTimes {
  /** Adds it, or replaces the one with this subject. */
  put(due: NewDueTime): Promise<void>;
  /** Adds it, unless there is one with this subject. Returns whether it was added. */
  add(due: NewDueTime): Promise<boolean>;
  /**
   * Compare-and-set: changes it, or removes it when `next` is undefined, if its version is still that of `due`. Returns whether
   * it was.
   */
  settle(due: DueTime, next: Pick<DueTime, 'dueAt' | 'data'> | undefined): Promise<boolean>;
  find(subject: DueSubject): Promise<DueTime | undefined>;
  /** Ordered by subject. */
  list(tenant: TenantId, kind: DueKind, limit: number): Promise<readonly DueTime[]>;
  /** Returns the removed one. */
  remove(subject: DueSubject): Promise<DueTime | undefined>;
  count(tenant: TenantId, kind: DueKind): Promise<number>;
  /** The earliest due time; undefined when there is none. */
  next(): Promise<number | undefined>;
  /**
   * Those due at `now`, the earliest first. No other call returns them before `until`, so one node acts on them, and another one
   * if they are not settled by then.
   */
  claim(now: number, until: number, limit: number): Promise<readonly DueTime[]>;
  /** Shifts all of them, after the clock was set by `ms`. */
  shift(ms: number): Promise<void>;
}
