import { AppError } from '../errors.ts';
import type { TenantId } from '../ports.ts';
import type { DueKind, DueSubject, DueTime, DueTimes } from './due-times.ts';

export type DueHandler = (due: DueTime) => Promise<void>;

interface ScheduleOptions {
  readonly dueTimes: DueTimes;
  readonly now: () => number;
  /** Milliseconds that only ever go forward. */
  readonly monotonicNow: () => number;
  /** Other nodes put due times too, each by its clock. */
  readonly isShared: boolean;
  readonly onError: (error: unknown) => void;
}

/** A node that claimed a due time and has not settled it by then is taken for dead. */
const claimMs = 30_000;
const claimedAtOnce = 100;
/** When the database did not answer. */
const retryMs = 5_000;
/** So often a node looks for what others have put. */
const sharedLookMs = 5_000;
const longestSleepMs = 24 * 3_600_000;
/** A clock that is further off was set, or the machine slept. */
const steppedMs = 60_000;
/** The most of a kind that a tenant may have. */
const most: Readonly<Record<DueKind, number>> = { expectation: 1_000, escalation: 10_000, panel: 20_000 };
/** For so long a count is believed, and one that leaves no room. */
const countedMs = 5_000;
const fullCountedMs = 1_000;

interface Counted {
  count: number;
  /** As it was read: what was added since may have replaced others. */
  readonly isFull: boolean;
  readonly until: number;
}

/**
 * Calls a handler for each due time. It sleeps until the earliest: without any, nothing wakes. A handler settles its due time;
 * one that fails is called again later, also by another node, so what it does must be known by the due time's version.
 */
export class Schedule {
  readonly dueTimes: DueTimes;
  readonly #options: ScheduleOptions;
  readonly #handlers = new Map<DueKind, DueHandler>();
  readonly #counts = new Map<string, Counted>();
  #timer: NodeJS.Timeout | undefined;
  #wakesAt = Number.POSITIVE_INFINITY;
  /** The earliest that was put since the last look began: that one may not have seen it. */
  #asked = Number.POSITIVE_INFINITY;
  #run: Promise<void> | undefined;
  #isStopped = true;
  /** The wall clock less the monotonic one, as last seen. */
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

  /** Looks for what became due while nothing ran, and begins to wait for the rest. */
  start(): void {
    this.#isStopped = false;
    this.#look();
  }

  /** Resolves once no handler runs. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    await this.#run;
  }

  /** The time by which things are due. */
  async now(): Promise<number> {
    await this.#followClock();
    return this.#options.now();
  }

  /**
   * Puts a due time `afterMs` from now.
   *
   * @throws AppError `conflict` when the tenant has as many of the kind as it may have.
   */
  async put(subject: DueSubject, afterMs: number, data: unknown): Promise<void> {
    await this.#countOne(subject);
    const dueAt = (await this.now()) + afterMs;
    await this.dueTimes.put({ ...subject, dueAt, data });
    this.wakeAt(dueAt);
  }

  /** To be called when something else than {@link put} made a due time. */
  wakeAt(at: number | null): void {
    if (at === null) return;
    this.#asked = Math.min(this.#asked, at);
    if (this.#isStopped || at >= this.#wakesAt) return;
    clearTimeout(this.#timer);
    this.#wakesAt = at;
    const ms = Math.min(longestSleepMs, Math.max(0, at - this.#options.now()));
    this.#timer = setTimeout(() => this.#look(), ms).unref();
  }

  async #countOne(subject: DueSubject): Promise<void> {
    const { tenant, kind } = subject;
    const count = await this.#count(tenant, kind);
    if (count.count >= most[kind] && !(await this.dueTimes.find(subject)))
      throw new AppError('conflict', `there are ${most[kind]} ${kind}s already: end some first`);
    count.count += 1;
  }

  /** Roughly: what replaces one of the same subject counts too, until the next look. */
  async #count(tenant: TenantId, kind: DueKind): Promise<Counted> {
    const name = `${tenant} ${kind}`;
    const now = this.#options.monotonicNow();
    const known = this.#counts.get(name);
    if (known && known.until > now && (known.isFull || known.count < most[kind])) return known;
    const count = await this.dueTimes.count(tenant, kind);
    const isFull = count >= most[kind];
    const fresh = { count, isFull, until: now + (isFull ? fullCountedMs : countedMs) };
    this.#counts.set(name, fresh);
    return fresh;
  }

  #look(): void {
    this.#wakesAt = Number.NEGATIVE_INFINITY;
    this.#asked = Number.POSITIVE_INFINITY;
    this.#run = this.#work()
      .catch((error: unknown) => {
        this.#options.onError(error);
        return this.#options.now() + retryMs;
      })
      .then((next) => {
        this.#wakesAt = Number.POSITIVE_INFINITY;
        this.wakeAt(Math.min(next ?? Number.POSITIVE_INFINITY, this.#asked));
      });
  }

  /** Does what is due; answers when to look again. */
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
    if (isShared) return Math.min(next ?? Number.POSITIVE_INFINITY, now() + sharedLookMs);
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
   * When the clock was set, due times move with it: what was due in five minutes still is. Nodes cannot do so, because each would
   * move those of all.
   */
  async #followClock(): Promise<void> {
    const { now, monotonicNow, isShared } = this.#options;
    const offset = now() - monotonicNow();
    const step = offset - this.#offset;
    this.#offset = offset;
    if (Math.abs(step) <= steppedMs) return;
    this.#clockSetAt = now();
    if (isShared) return;
    try {
      await this.dueTimes.shift(Math.round(step));
    } catch (error) {
      // To be moved by the next look.
      this.#offset -= step;
      throw error;
    }
  }
}
