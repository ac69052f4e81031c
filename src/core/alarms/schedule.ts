/**
 * Alarms: what Belfry does later, when something stays silent. There are four kinds: an *expectation* (the next notification of a
 * key has not come), a *panel* (no screen of it is connected), *on-call* (nobody will be on call) and *iphone* (an iPhone has read nothing
 * for long, and is not woken any more; no alarm). Each is a due time: a row in the database with a kind, a
 * subject, a time and data, at most one of each subject. A due time is waiting until its time, then one node claims it for thirty
 * seconds, acts, and settles it: it gets a new time, or is removed. Settling succeeds only if nobody changed the due time since
 * it was read (its version); then the handler reads it again. A node that dies in between does not settle, so another one acts
 * after the claim; the notification is still stored once, as its retry key contains the version. If the system clock is set, the
 * due times are shifted with it. Not promised: punctuality to the second, as with several nodes the others look for new due times
 * every five seconds.
 *
 * Due times: actions at a later time, kept in the database so that each happens once, even if a server stops in between.
 */
import { AppError } from '../errors.ts';
import type { TenantId } from '../log/route.ts';

/**
 * `expectation`: the next notification of a key has not come. `panel`: checks whether a panel is connected. `on-call`: checks
 * whether somebody will be on call. `iphone`: the end of the time in which an iPhone that has read a panel is woken.
 */
export type DueKind = 'expectation' | 'iphone' | 'on-call' | 'panel';

export interface DueSubject {
  readonly tenant: TenantId;
  readonly kind: DueKind;
  /** The key, panel or on-call schedule concerned. */
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
  /** Shifts all of them, and when steps of escalations are due, after the clock was set by `ms`. */
  shift(ms: number): Promise<void>;
}

export type DueHandler = (due: DueTime) => Promise<void>;

interface ScheduleOptions {
  readonly dueTimes: DueTimes;
  readonly now: () => number;
  /** Milliseconds that only ever go forward. */
  readonly monotonicNow: () => number;
  /** Other nodes add due times too, each by its own clock. */
  readonly isShared: boolean;
  readonly onError: (error: unknown) => void;
}

/** After this time another node may claim a due time that is not settled. */
const claimMs = 30_000;
const claimedAtOnce = 100;
/** The pause after an error of the database. */
const retryMs = 5_000;
/** How often a node checks for due times of others. */
const sharedScanMs = 5_000;
/** How often it checks whether the clock was set, while there are due times. */
const clockCheckMs = 1_000;
/** A larger difference means that the clock was set, or that the machine slept. */
const steppedMs = 60_000;
/** The most due times of a kind that a tenant may have. */
const maxOfKind: Readonly<Record<DueKind, number>> = {
  expectation: 1_000,
  iphone: 200,
  'on-call': 1_000,
  panel: 20_000,
};
/** How long a count is cached; shorter if the limit is reached. */
const countedMs = 5_000;
const fullCountedMs = 1_000;

interface Counted {
  count: number;
  /** Whether the count from the database was at the limit. Later additions may have replaced others. */
  readonly isFull: boolean;
  readonly until: number;
}

/**
 * Calls a handler for each due time. It sleeps until the earliest one; without any, there is no timer. A handler must settle its
 * due time. If it fails, it is called again later, maybe on another node, so it must be idempotent for the due time's version.
 */
export class Schedule {
  readonly dueTimes: DueTimes;
  readonly #options: ScheduleOptions;
  readonly #handlers = new Map<DueKind, DueHandler>();
  readonly #counts = new Map<string, Counted>();
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;
  /** The earliest due time added since the current scan began, which may have missed it. */
  #earliestAdded = Number.POSITIVE_INFINITY;
  #run: Promise<void> | undefined;
  #isStopped = true;
  /** The last difference between the wall clock and the monotonic clock. */
  #offset: number;
  #clockSetAt = 0;

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.dueTimes = options.dueTimes;
    this.#offset = options.now() - options.monotonicNow();
  }

  /** When the clock was last set, as that clock shows it; 0: never. */
  get clockSetAt(): number {
    return this.#clockSetAt;
  }

  handle(kind: DueKind, handler: DueHandler): void {
    this.#handlers.set(kind, handler);
  }

  /** Handles everything that became due while no server ran, and starts the timer. */
  start(): void {
    this.#isStopped = false;
    this.#scan();
  }

  /** Looks for what is due: a tenant that was suspended may have been resumed. */
  wake(): void {
    this.#wakeAt(this.#options.now());
  }

  /** Resolves once no handler runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#run;
  }

  /** The current time, after due times were adjusted to a clock that was set. */
  async now(): Promise<number> {
    await this.#followClock();
    return this.#options.now();
  }

  /**
   * Adds or replaces a due time, `afterMs` from now.
   *
   * @throws AppError `conflict` when the tenant has the most of the kind allowed.
   */
  async put(subject: DueSubject, afterMs: number, data: unknown): Promise<void> {
    await this.#countOne(subject);
    const dueAt = (await this.now()) + afterMs;
    await this.dueTimes.put({ ...subject, dueAt, data });
    this.#wakeAt(dueAt);
  }

  /** Changes a due time to `afterMs` from now, if it is as it was read. Returns whether it was. */
  async putOff(due: DueTime, afterMs: number, data: unknown): Promise<boolean> {
    const dueAt = (await this.now()) + afterMs;
    const isSettled = await this.dueTimes.settle(due, { dueAt, data });
    if (isSettled) this.#wakeAt(dueAt);
    return isSettled;
  }

  #wakeAt(at: number): void {
    this.#earliestAdded = Math.min(this.#earliestAdded, at);
    if (this.#isStopped || at >= this.#wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = at;
    this.#sleep();
  }

  /** A timer runs in monotonic time, so it would not follow a clock that is set while it runs. */
  #sleep(): void {
    const { now } = this.#options;
    const ms = Math.min(clockCheckMs, Math.max(0, this.#wakesAt - now()));
    this.#timer = setTimeout(() => {
      if (now() >= this.#wakesAt || this.#isClockSet()) this.#scan();
      else this.#sleep();
    }, ms).unref();
  }

  #isClockSet(): boolean {
    const { now, monotonicNow } = this.#options;
    return Math.abs(now() - monotonicNow() - this.#offset) > steppedMs;
  }

  async #countOne(subject: DueSubject): Promise<void> {
    const { tenant, kind } = subject;
    const count = await this.#count(tenant, kind);
    if (count.count >= maxOfKind[kind] && !(await this.dueTimes.find(subject)))
      throw new AppError('conflict', `there are ${maxOfKind[kind]} ${kind}s already: end some first`);
    count.count += 1;
  }

  /** Approximate: replacements count as additions until the count is read again. */
  async #count(tenant: TenantId, kind: DueKind): Promise<Counted> {
    const name = `${tenant} ${kind}`;
    const now = this.#options.monotonicNow();
    const known = this.#counts.get(name);
    if (known && known.until > now && (known.isFull || known.count < maxOfKind[kind])) return known;
    const count = await this.dueTimes.count(tenant, kind);
    const isFull = count >= maxOfKind[kind];
    const fresh = { count, isFull, until: now + (isFull ? fullCountedMs : countedMs) };
    this.#counts.set(name, fresh);
    return fresh;
  }

  #scan(): void {
    this.#wakesAt = Number.NEGATIVE_INFINITY;
    this.#earliestAdded = Number.POSITIVE_INFINITY;
    this.#run = this.#work()
      .catch((error: unknown) => {
        this.#options.onError(error);
        return this.#options.now() + retryMs;
      })
      .then((next) => {
        this.#wakesAt = Number.POSITIVE_INFINITY;
        this.#wakeAt(Math.min(next ?? Number.POSITIVE_INFINITY, this.#earliestAdded));
      });
  }

  /** Handles all due times; returns the time of the next scan. */
  async #work(): Promise<number | null> {
    let claimed: readonly DueTime[];
    let next: number | undefined;
    do {
      const now = await this.now();
      next = await this.dueTimes.next();
      claimed =
        next === undefined || next > now ? [] : await this.dueTimes.claim(now, now + claimMs, claimedAtOnce);
      await Promise.all(claimed.map((due) => this.#fire(due)));
    } while (claimed.length > 0 && !this.#isStopped);
    const { isShared, now } = this.#options;
    if (isShared) return Math.min(next ?? Number.POSITIVE_INFINITY, now() + sharedScanMs);
    return next ?? null;
  }

  async #fire(due: DueTime): Promise<void> {
    try {
      await this.#handlers.get(due.kind)?.(due);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  /**
   * When the clock is set, due times are shifted with it: what was due in five minutes still is. With several nodes they are not,
   * because each node would shift those of all.
   */
  async #followClock(): Promise<void> {
    const { now, monotonicNow, isShared } = this.#options;
    const offset = now() - monotonicNow();
    const step = offset - this.#offset;
    this.#offset = offset;
    if (Math.abs(step) <= steppedMs) return;
    this.#clockSetAt = now();
    // The timer counts to a time before the step. The next scan, or the next check of the clock, arms it again.
    if (Number.isFinite(this.#wakesAt)) this.#wakesAt = now();
    if (isShared) return;
    try {
      await this.dueTimes.shift(Math.round(step));
    } catch (error) {
      // The next scan shifts them.
      this.#offset -= step;
      throw error;
    }
  }
}
