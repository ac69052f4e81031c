/** The list of a search: read page by page, and extended at the top. */
import type { HistoryNotification, HistoryPage } from '#contract/history/notification.ts';

export type LoadPage = (cursor: string | undefined) => Promise<HistoryPage>;

/** The most new notifications that are kept. With more, the list is read again from the start. */
const mostArrivals = 1_000;
/** The next page is read when this many rows are left below what is seen. */
const readAhead = 60;
/** A row keeps the beginning of its message, so that a long list stays small; the drawer reads the whole. */
const messageChars = 500;

let lastKey = 0;

export class HistoryPages {
  /** Identifies the list. */
  readonly key = ++lastKey;
  /** Where the list was scrolled to. */
  scrollTop = 0;
  /** The mouse moves over the list: rows must not move. */
  isHeld = false;
  /** How long the first page took; undefined until it has been read. */
  tookMs: number | undefined;
  /** How long the last page took, whichever it was. */
  lastTookMs = 0;
  /** How far back the search got before its time ran out; null when it searched everything. */
  searchedTo: string | null = null;
  /** The last error of reading. */
  error: unknown;
  /** When the head was last read, while it cannot be read again; undefined while the list is up to date. */
  staleSince: number | undefined;
  isReady = false;
  isExtending = false;
  readonly #load: LoadPage;
  readonly #listeners = new Set<() => void>();
  #version = 0;
  #rows: HistoryNotification[] = [];
  /** How many rows of the list arrived after its first page was read. */
  #arrivals = 0;
  /** Newer than the rows and not inserted yet, newest first. */
  #waiting: HistoryNotification[] = [];
  #waitingMore = false;
  /** Where each page starts among the rows that were read, and its cursor. */
  #pages: { readonly start: number; readonly cursor: string | undefined }[] = [];
  #next: string | null = null;
  #starting: Promise<void> | undefined;
  #visible: readonly [first: number, last: number] = [0, 50];
  #readAt = 0;

  constructor(load: LoadPage) {
    this.#load = async (cursor) => {
      const since = performance.now();
      const page = await load(cursor);
      this.lastTookMs = performance.now() - since;
      return { ...page, notifications: page.notifications.map(shortened) };
    };
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
  /** Increases with every change. */
  readonly version = (): number => this.#version;

  get count(): number {
    return this.#rows.length;
  }
  /** Whether the last row is the end of history. */
  get isWhole(): boolean {
    return this.isReady && this.#next === null;
  }
  get waiting(): number {
    return this.#waiting.length;
  }
  /** More notifications wait than are kept. */
  get waitingMore(): boolean {
    return this.#waitingMore;
  }
  /** The position of the newest that is known, waiting or not; 0 when there is none. */
  get newest(): number {
    return (this.#waiting[0] ?? this.#rows[0])?.position ?? 0;
  }
  /** New rows can be inserted without moving the rows that are being read. */
  get isFree(): boolean {
    return this.scrollTop < 4 && !this.isHeld;
  }

  row(index: number): HistoryNotification | undefined {
    return this.#rows[index];
  }

  /** -1 when it is not among the rows. */
  indexOf(id: string): number {
    return this.#rows.findIndex((row) => row.id === id);
  }

  /** Reads the first page; the list begins again with it. */
  start(): Promise<void> {
    this.#starting ??= this.#restart().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #restart(): Promise<void> {
    try {
      const page = await this.#load(undefined);
      this.tookMs = this.lastTookMs;
      this.#rows = [];
      this.#pages = [];
      this.#arrivals = 0;
      this.#waiting = [];
      this.#waitingMore = false;
      this.#append(page, undefined);
      this.isReady = true;
      this.#noteRead();
    } catch (error) {
      this.error = error;
      this.#noteFailure();
    }
    this.#changed();
  }

  /** Reads the first page again: updates known rows; new ones are inserted if the list is free when they come, or wait. */
  async refresh(): Promise<void> {
    if (!this.isReady) return this.start();
    let page: HistoryPage;
    try {
      page = await this.#load(undefined);
    } catch {
      this.#noteFailure();
      return this.#changed();
    }
    this.#noteRead();
    this.#replace(page.notifications);
    const newest = this.newest;
    const fresh = page.notifications.filter(({ position }) => position > newest);
    const isAll = page.nextCursor === null || page.searchedTo !== null;
    const isMissed = !isAll && fresh.length === page.notifications.length;
    if (isMissed && this.isFree) return this.start();
    this.#waitingMore ||= isMissed;
    this.add(fresh.reverse());
  }

  /** Reads the pages in sight that have a live row: others may have cleared it, or its time may be over. */
  async renew(): Promise<void> {
    const [first, last] = this.#visible;
    const cursors = new Set<string | undefined>();
    for (const [offset, { state }] of this.#rows.slice(first, last + 1).entries()) {
      const at = first + offset - this.#arrivals;
      if (state === 'live') cursors.add(this.#pages.findLast(({ start }) => start <= at)?.cursor);
    }
    if (cursors.size === 0) return;
    try {
      for (const cursor of cursors) this.#replace((await this.#load(cursor)).notifications);
      this.#noteRead();
    } catch {
      this.#noteFailure();
    }
    this.#changed();
  }

  /** Adds new notifications, oldest first; known ones are skipped. They wait while the list is not free. */
  add(rows: readonly HistoryNotification[]): void {
    const newest = this.newest;
    const fresh = rows.filter(({ position }) => position > newest).map(shortened);
    this.#waiting = [...fresh.reverse(), ...this.#waiting];
    this.#waitingMore ||= this.#waiting.length > mostArrivals;
    this.#waiting.length = Math.min(this.#waiting.length, mostArrivals);
    if (this.isFree) this.insertWaiting();
    else this.#changed();
  }

  /** Inserts the waiting notifications at the top. If there are too many, reads the list again from the start. */
  insertWaiting(): void {
    if (this.#waitingMore || this.#arrivals + this.#waiting.length > mostArrivals) {
      void this.start();
      return;
    }
    this.#rows = [...this.#waiting, ...this.#rows];
    this.#arrivals += this.#waiting.length;
    this.#waiting = [];
    this.#changed();
  }

  insertWaitingWhenFree(): void {
    if (this.isFree && this.#waiting.length > 0) this.insertWaiting();
  }

  /** Replaces a row by its current state. */
  update(row: HistoryNotification): void {
    this.#replace([row]);
    this.#changed();
  }

  /** Call it with the visible rows: loads the next page when its start is near. */
  want(first: number, last: number): void {
    this.#visible = [first, last];
    const isEnough = last + readAhead < this.count || this.error !== undefined || this.searchedTo !== null;
    if (this.isReady && !isEnough) void this.extend();
  }

  /** Reads the next page, if there is one. */
  async extend(): Promise<void> {
    if (this.isExtending || this.#next === null) return;
    const [pages, cursor] = [this.#pages, this.#next];
    this.isExtending = true;
    this.error = undefined;
    this.#changed();
    try {
      const page = await this.#load(cursor);
      // The list was restarted in the meantime.
      if (pages === this.#pages) this.#append(page, cursor);
    } catch (error) {
      this.error = error;
    }
    this.isExtending = false;
    this.#changed();
  }

  #append({ notifications, nextCursor, searchedTo }: HistoryPage, cursor: string | undefined): void {
    this.#pages.push({ start: this.#rows.length - this.#arrivals, cursor });
    this.#rows.push(...notifications);
    this.#next = nextCursor;
    this.searchedTo = searchedTo;
    this.error = undefined;
  }

  #noteRead(): void {
    this.#readAt = Date.now();
    this.staleSince = undefined;
  }

  #noteFailure(): void {
    if (this.isReady) this.staleSince = this.#readAt;
  }

  #replace(rows: readonly HistoryNotification[]): void {
    const known = new Map(rows.map((row) => [row.id, shortened(row)]));
    this.#rows = this.#rows.map((row) => known.get(row.id) ?? row);
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

const shortened = (row: HistoryNotification): HistoryNotification =>
  row.message.length <= messageChars ? row : { ...row, message: row.message.slice(0, messageChars) };
