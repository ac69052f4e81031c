/** What is to happen at a time, kept in the database: it happens once, whatever ends or stops meanwhile. */
import type { TenantId } from '../ports.ts';

/**
 * `expectation`: the next notification of a key has not come. `escalation`: nobody has taken a notification. `panel`: it is
 * time to look whether a panel is connected.
 */
export type DueKind = 'expectation' | 'escalation' | 'panel';

export interface DueSubject {
  readonly tenant: TenantId;
  readonly kind: DueKind;
  /** What it is about: a key, a notification, a panel. */
  readonly subject: string;
}

export interface DueTime extends DueSubject {
  /** Unix milliseconds; null: nothing is to happen until it is put again. */
  readonly dueAt: number | null;
  /** Random, and another one with each change: names this state where it must not be repeated. */
  readonly version: string;
  readonly data: unknown;
}

export type NewDueTime = Omit<DueTime, 'version'>;

/** One row for each subject. What a write promises is durable. */
export interface DueTimes {
  /** Adds it, or takes the place of the one with this subject. */
  put(due: NewDueTime): Promise<void>;
  /** Changes it, or removes it when `next` is undefined, if it is as it was read; answers whether it was. */
  settle(due: DueTime, next: Pick<DueTime, 'dueAt' | 'data'> | undefined): Promise<boolean>;
  find(subject: DueSubject): Promise<DueTime | undefined>;
  /** By subject. */
  list(tenant: TenantId, kind: DueKind, limit: number): Promise<readonly DueTime[]>;
  /** Answers what it removed. */
  remove(subject: DueSubject): Promise<DueTime | undefined>;
  count(tenant: TenantId, kind: DueKind): Promise<number>;
  /** The earliest; undefined when nothing is due at any time. */
  next(): Promise<number | undefined>;
  /**
   * What is due at `now`, the earliest first, and no other call answers it before `until`: so one node acts on it, and another
   * one when that has not settled it by then.
   */
  claim(now: number, until: number, limit: number): Promise<readonly DueTime[]>;
  /** Moves all of them: the clock was set by so much. */
  shift(ms: number): Promise<void>;
}
