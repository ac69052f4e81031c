/** The alarms of a search in one state, read page by page and read again when something has changed. */
import type { Alarm, AlarmPage } from '#contract/history/alarm.ts';
import type { StandingState } from '#contract/history/alarm-states.ts';

export type LoadAlarms = (page: { cursor: string | undefined; limit: number }) => Promise<AlarmPage>;

/** One alarm of the list. */
export interface AlarmRow {
  /** Stays the same when a repeat replaces the notification of the alarm. */
  readonly key: string;
  readonly alarm: Alarm;
  /** It has ended, or is in another state now. It is still listed because rows must not move. */
  readonly hasLeft: boolean;
}

/** The most that are loaded. */
export const mostAlarms = 5_000;
/** The first page is small, so that it is drawn soon. */
const firstPage = 100;
const otherPages = 500;
/** Rows that have left are looked up one by one, to show what has become of them. */
const mostLookedUp = 20;

const keyOf = ({ key, id }: Alarm): string => (key === null ? id : `key ${key}`);
const rowOf = (alarm: Alarm): AlarmRow => ({ key: keyOf(alarm), alarm, hasLeft: false });
/** The order of the server: the highest level first, then the newest. */
const inOrder = (a: AlarmRow, b: AlarmRow): number =>
  b.alarm.rank - a.alarm.rank || b.alarm.since.localeCompare(a.alarm.since);

const acknowledgedLast = (a: AlarmRow, b: AlarmRow): number =>
  Number(a.alarm.acknowledged !== null) - Number(b.alarm.acknowledged !== null);

export class AlarmList {
  rows: readonly AlarmRow[] = [];
  /** Of all alarms that match the search; undefined until they have been read. */
  counts: Readonly<Record<StandingState, number>> | undefined;
  scrollTop = 0;
  /** The mouse moves over the list: rows must not move. */
  isHeld = false;
  /** More alarms than wait are never skipped. */
  readonly waitingMore = false;
  error: unknown;
  isReady = false;
  /** All that match are loaded. */
  isWhole = false;
  /** When it was last read, while it cannot be read again. */
  staleSince: number | undefined;
  lastTookMs = 0;
  /** When it was last read; Unix milliseconds. */
  readAt = 0;
  readonly #load: LoadAlarms;
  readonly #find: (id: string) => Promise<Alarm | undefined>;
  readonly #compare: (a: AlarmRow, b: AlarmRow) => number;
  readonly #listeners = new Set<() => void>();
  #version = 0;
  #selected: ReadonlySet<string> = new Set();
  /** As the server has them, with those that wait. */
  #newest: readonly AlarmRow[] = [];
  /** The last of them in the order of the server. */
  #last: AlarmRow | undefined;
  #reading: Promise<void> | undefined;
  #isOutdated = false;

  /**
   * @param find reads one alarm; undefined when it is not known any more.
   * @param isOpenFirst What is acknowledged comes after all that is not.
   */
  constructor(load: LoadAlarms, find: (id: string) => Promise<Alarm | undefined>, isOpenFirst = false) {
    this.#load = load;
    this.#find = find;
    this.#compare = isOpenFirst ? (a, b) => acknowledgedLast(a, b) || inOrder(a, b) : inOrder;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
  /** Increases with every change. */
  readonly version = (): number => this.#version;

  /** Rows can be added and removed without moving those that are being read. */
  get isFree(): boolean {
    return this.scrollTop < 4 && !this.isHeld && this.#selected.size === 0;
  }

  /** How many alarms are new and not listed yet. */
  get waiting(): number {
    const listed = new Set(this.rows.map(({ key }) => key));
    return this.#newest.filter(({ key }) => !listed.has(key)).length;
  }

  /** Selected rows stay, also when they have left. */
  select(keys: ReadonlySet<string>): void {
    this.#selected = keys;
    this.insertWaitingWhenFree();
  }

  /** Reads the list again. While it is being read, it is read once more afterwards. */
  refresh(): Promise<void> {
    this.#isOutdated = true;
    this.#reading ??= this.#readUntilUpToDate().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readUntilUpToDate(): Promise<void> {
    while (this.#isOutdated) {
      this.#isOutdated = false;
      try {
        const since = performance.now();
        await this.#read();
        this.lastTookMs = performance.now() - since;
        this.readAt = Date.now();
        this.error = undefined;
        this.staleSince = undefined;
      } catch (error) {
        this.error = error;
        if (this.isReady) this.staleSince = this.readAt;
      }
      this.#changed();
    }
  }

  async #read(): Promise<void> {
    const found = new Map<string, AlarmRow>();
    const isFirst = !this.isReady;
    let cursor: string | undefined;
    do {
      const limit = cursor === undefined ? firstPage : Math.min(otherPages, mostAlarms - found.size);
      const page = await this.#load({ cursor, limit });
      for (const row of page.alarms.map(rowOf)) found.set(row.key, row);
      cursor = page.nextCursor ?? undefined;
      this.counts = page.counts;
      // At first, each page is shown when it comes.
      if (isFirst) this.#show([...found.values()], cursor === undefined);
    } while (cursor !== undefined && found.size < mostAlarms);
    if (!isFirst) this.#show([...found.values()], cursor === undefined);
    await this.#lookUpLeft();
  }

  #show(newest: readonly AlarmRow[], isWhole: boolean): void {
    this.#last = newest.at(-1);
    this.#newest = this.#compare === inOrder ? newest : newest.toSorted(this.#compare);
    this.isWhole = isWhole;
    if (!this.isReady || this.isFree) this.rows = this.#newest;
    else this.#updateInPlace();
    this.isReady = true;
    this.#changed();
  }

  #updateInPlace(): void {
    const newest = new Map(this.#newest.map((row) => [row.key, row]));
    const last = this.#last;
    this.rows = this.rows.map((row) => {
      const hasLeft = this.isWhole || (last !== undefined && inOrder(row, last) < 0);
      return newest.get(row.key) ?? (hasLeft ? { ...row, hasLeft } : row);
    });
  }

  async #lookUpLeft(): Promise<void> {
    const left = this.rows.filter(({ hasLeft, alarm }) => hasLeft && alarm.state !== 'ended');
    await Promise.all(
      left.slice(0, mostLookedUp).map(async (row) => {
        const found = await this.#find(row.alarm.id);
        // One that is resolved may have the same state still, but the server does not list it.
        const hasEnded = !found || found.state === row.alarm.state || found.state === 'ended';
        const alarm = hasEnded ? { ...row.alarm, state: 'ended' as const } : found;
        this.rows = this.rows.map((each) =>
          each.key === row.key && each.hasLeft ? { ...each, alarm } : each,
        );
      }),
    );
  }

  /** Shows what is new, and removes what has left, except selected rows. */
  insertWaiting(): void {
    const listed = new Set(this.#newest.map(({ key }) => key));
    const kept = this.rows.filter(({ key }) => this.#selected.has(key) && !listed.has(key));
    this.rows = kept.length === 0 ? this.#newest : [...this.#newest, ...kept].sort(this.#compare);
    this.#changed();
  }

  insertWaitingWhenFree(): void {
    if (this.isFree && this.rows !== this.#newest) this.insertWaiting();
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
