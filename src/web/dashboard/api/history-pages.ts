/**
 * One search's notifications as a list that is read page by page and grows at its top. It holds a bounded part of them: pages
 * far from what is looked at are let go, and read again by their cursor when they are wanted.
 */
import type { HistoryNotification, HistoryPage } from '#contract/notification.ts';
import { type HeldPage, letGo, pageAt } from './held-pages.ts';

type LoadPage = (cursor: string | undefined) => Promise<HistoryPage>;

/** New ones are held up to this number; beyond it the list begins anew at its head. */
const heldArrivals = 1_000;
/** The next page is read when this many rows are left to go. */
const ahead = 60;
/** So long after a failure the same rows are not asked for again. */
const againMs = 3_000;

let made = 0;

export class HistoryPages {
  /** Tells one list from another. */
  readonly key = ++made;
  /** Where the list was scrolled to when it was last looked at. */
  scrollTop = 0;
  /** Somebody is about to point at a row: nothing may move. */
  isHeld = false;
  /** How long the first page took; undefined until it is there. */
  tookMs: number | undefined;
  /** The server had no time to search further back than this; null when it had. */
  searchedTo: string | null = null;
  /** What the last reading failed with. */
  error: unknown;
  /** When its head was read last, if that could not be done again; undefined while the list is up to date. */
  staleSince: number | undefined;
  readonly #load: LoadPage;
  readonly #listeners = new Set<() => void>();
  #version = 0;
  /** Newer than the first page, newest first: those in the list, and those that wait to be let in. */
  #arrived: HistoryNotification[] = [];
  #waiting: HistoryNotification[] = [];
  #waitingMore = false;
  #pages: HeldPage[] = [];
  #next: string | null | undefined;
  #extending = false;
  #starting: Promise<void> | undefined;
  #aim = 0;
  #sight: readonly [first: number, last: number] = [0, 50];
  #readAt = 0;

  constructor(load: LoadPage) {
    this.#load = load;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };
  /** Another number after every change. */
  readonly version = (): number => this.#version;

  /** Whether the first page has been read. */
  get isReady(): boolean {
    return this.#pages.length > 0;
  }
  get count(): number {
    return this.#arrived.length + this.#paged;
  }
  /** There is nothing below the last row. */
  get isWhole(): boolean {
    return this.#next === null;
  }
  get isExtending(): boolean {
    return this.#extending;
  }
  get waiting(): number {
    return this.#waiting.length;
  }
  /** More wait than are counted. */
  get waitingMore(): boolean {
    return this.#waitingMore;
  }

  /** undefined while it is being read again. */
  row(index: number): HistoryNotification | undefined {
    const at = index - this.#arrived.length;
    if (at < 0) return this.#arrived[index];
    const page = pageAt(this.#pages, at);
    return page?.rows?.[at - page.start];
  }

  /** -1 when it is not among the rows that are held. */
  indexOf(id: string): number {
    const arrived = this.#arrived.findIndex((row) => row.id === id);
    if (arrived >= 0) return arrived;
    for (const { rows, start } of this.#pages) {
      const at = rows?.findIndex((row) => row.id === id) ?? -1;
      if (at >= 0) return this.#arrived.length + start + at;
    }
    return -1;
  }

  /** Reads the first page; the list is the newest then, whatever it was. */
  start(): Promise<void> {
    this.#starting ??= this.#restart().finally(() => {
      this.#starting = undefined;
    });
    return this.#starting;
  }

  async #restart(): Promise<void> {
    const since = performance.now();
    try {
      const { notifications, nextCursor, searchedTo } = await this.#load(undefined);
      this.tookMs = performance.now() - since;
      this.error = undefined;
      this.#pages = [
        { cursor: undefined, start: 0, length: notifications.length, rows: notifications, loading: false },
      ];
      this.#next = nextCursor;
      this.searchedTo = searchedTo;
      this.#arrived = [];
      this.#waiting = [];
      this.#waitingMore = false;
      this.#noteRead();
    } catch (error) {
      this.error = error;
      this.#noteFailure();
    }
    this.#changed();
  }

  /** Reads the head again: what is new waits or comes in, what is there already is made true. */
  async refresh(letIn: boolean): Promise<void> {
    if (!this.isReady) return this.start();
    let page: HistoryPage;
    try {
      page = await this.#load(undefined);
    } catch {
      this.#noteFailure();
      return this.#changed();
    }
    this.#noteRead();
    this.#replace(new Map(page.notifications.map((row) => [row.id, row])));
    const newest = this.newest;
    const fresh = page.notifications.filter(({ position }) => position > newest);
    const isAll = page.nextCursor === null || page.searchedTo !== null;
    if (isAll || fresh.length < page.notifications.length) return this.add([...fresh].reverse(), letIn);
    if (letIn) return this.start();
    this.#waitingMore = true;
    this.add([...fresh].reverse(), false);
  }

  /** Reads the rows in sight again, if one of them is live: others may have cleared it, or its time may be over. */
  async renew(): Promise<void> {
    const [first, last] = this.#sight;
    const isLive = (index: number) => this.row(index)?.state === 'live';
    const cursors = new Set<string | undefined>();
    for (let index = first; index <= Math.min(last, this.count - 1); index++)
      if (isLive(index)) cursors.add(pageAt(this.#pages, index - this.#arrived.length)?.cursor);
    try {
      for (const cursor of cursors) {
        const { notifications } = await this.#load(cursor);
        this.#replace(new Map(notifications.map((row) => [row.id, row])));
      }
      if (cursors.size > 0) this.#noteRead();
    } catch {
      this.#noteFailure();
    }
    if (cursors.size > 0) this.#changed();
  }

  /** New ones, the oldest first; those that are known already are left out. */
  add(rows: readonly HistoryNotification[], letIn: boolean): void {
    const newest = this.newest;
    const fresh = rows.filter(({ position }) => position > newest).reverse();
    if (fresh.length > 0) {
      this.#waiting = [...fresh, ...this.#waiting];
      if (this.#waiting.length > heldArrivals) {
        this.#waiting.length = heldArrivals;
        this.#waitingMore = true;
      }
    }
    if (letIn) this.letIn();
    else if (fresh.length > 0) this.#changed();
  }

  /** What waits comes in at the top; where that is too much to hold, the list begins anew. */
  letIn(): void {
    if (this.#waitingMore || this.#arrived.length + this.#waiting.length > heldArrivals) {
      void this.start();
      return;
    }
    if (this.#waiting.length === 0) return;
    this.#arrived = [...this.#waiting, ...this.#arrived];
    this.#waiting = [];
    this.#changed();
  }

  /** Whether what is new may come in without moving what is read. */
  get isFree(): boolean {
    return this.scrollTop < 4 && !this.isHeld;
  }

  letInWhenFree(): void {
    if (this.isFree && this.#waiting.length > 0) this.letIn();
  }

  /** A row is known to be otherwise now. */
  update(row: HistoryNotification): void {
    this.#replace(new Map([[row.id, row]]));
    this.#changed();
  }

  /** The rows from `first` to `last` are looked at: reads what of them, and of what follows, is not here. */
  want(first: number, last: number): void {
    if (!this.isReady) return;
    this.#sight = [first, last];
    const from = Math.max(0, first - this.#arrived.length);
    this.#aim = from;
    for (const page of this.#pages)
      if (!page.rows && page.start <= last - this.#arrived.length && page.start + page.length > from)
        void this.#reread(page);
    if (last + ahead < this.count || this.error !== undefined || this.searchedTo !== null) return;
    void this.extend();
  }

  /** Reads the next page, if there is one. */
  async extend(): Promise<void> {
    if (this.#extending || this.#next === null || this.#next === undefined) return;
    this.#extending = true;
    this.error = undefined;
    const cursor = this.#next;
    const chain = this.#pages;
    this.#changed();
    try {
      const { notifications, nextCursor, searchedTo } = await this.#load(cursor);
      if (chain === this.#pages) {
        const length = notifications.length;
        this.#pages.push({ cursor, start: this.#paged, length, rows: notifications, loading: false });
        this.#next = nextCursor;
        this.searchedTo = searchedTo;
        letGo(this.#pages, this.#aim);
      }
    } catch (error) {
      this.error = error;
    } finally {
      this.#extending = false;
      this.#changed();
    }
  }

  async #reread(page: HeldPage): Promise<void> {
    if (page.loading) return;
    page.loading = true;
    try {
      page.rows = (await this.#load(page.cursor)).notifications.slice(0, page.length);
      this.error = undefined;
      letGo(this.#pages, this.#aim);
    } catch (error) {
      this.error = error;
      this.#changed();
      // Whoever still looks there wants them at the next change: not before the server had time.
      await new Promise((resolve) => setTimeout(resolve, againMs));
    } finally {
      page.loading = false;
      this.#changed();
    }
  }

  #noteRead(): void {
    this.#readAt = Date.now();
    this.staleSince = undefined;
  }

  #noteFailure(): void {
    if (this.isReady) this.staleSince = this.#readAt;
  }

  get #paged(): number {
    const last = this.#pages.at(-1);
    return last ? last.start + last.length : 0;
  }

  /** The position of the newest that is known, waiting or not; 0 when there is none. */
  get newest(): number {
    const first = this.#waiting[0] ?? this.#arrived[0] ?? this.#pages[0]?.rows?.[0];
    return first?.position ?? 0;
  }

  #replace(known: ReadonlyMap<string, HistoryNotification>): void {
    const renewed = (rows: readonly HistoryNotification[]) =>
      rows.some(({ id }) => known.has(id)) ? rows.map((row) => known.get(row.id) ?? row) : rows;
    this.#arrived = [...renewed(this.#arrived)];
    for (const page of this.#pages) if (page.rows) page.rows = renewed(page.rows);
  }

  #changed(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}
