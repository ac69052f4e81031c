import { limits } from '#contract/limits.ts';
import { encodeSse, encodeSseJson } from '#contract/panels/sse.ts';
import { historyJson } from '#core/log/history-view.ts';
import type { TenantId } from '#core/log/route.ts';
import type { Sink } from '#core/streams/panel-stream.ts';
import { iso } from '#core/time/time.ts';
import type { Services } from '../services.ts';
import { queryOf } from './searches.ts';

/** New notifications are collected for this long, so that a tail reads at most a few times a second. */
const gatherMs = 200;
const heartbeatMs = 15_000;
/** Reads at least this often, in case a wake-up was lost. */
const pollMs = 2_000;
const pageLimit = 50;
/** The most new notifications that a tail holds. Beyond either limit it sends `gap` and the newest ones. */
const heldRecords = 1_000;
const heldChars = 4 * 1024 * 1024;
/** The largest write, and how long a client has to read it. */
const chunkChars = 16 * 1024;
const stalledMs = 30_000;

/**
 * Sends new matches as they arrive. It searches for notifications newer than the last answer, so a tail finds
 * exactly what the page finds. A client gets the next chunk when it has read the previous one. It is disconnected if it
 * does not read a chunk within 30 s.
 */
export class HistoryTail {
  /** Resolves when the head of the log is read; then `ready` is sent, and everything that is stored from now on. */
  readonly started: Promise<void>;
  readonly #services: Services;
  readonly #tenant: TenantId;
  readonly #q: string | undefined;
  readonly #sink: Sink;
  readonly #unsubscribe: () => void;
  readonly #polling: NodeJS.Timeout;
  #gathering: NodeJS.Timeout | undefined;
  readonly #abort = new AbortController();
  #after = 0;
  #woken = false;
  /** A search is running, or its results are still being sent. */
  #busy = true;
  #lastWrite: number;
  #writing = false;

  constructor(services: Services, tenant: TenantId, q: string | undefined, sink: Sink) {
    this.#services = services;
    this.#tenant = tenant;
    this.#q = q;
    this.#sink = sink;
    this.#lastWrite = performance.now();
    this.#unsubscribe = services.bus.subscribe(tenant, () => this.#wake());
    this.#polling = setInterval(() => this.#poll(), pollMs).unref();
    this.started = this.#start();
  }

  async #start(): Promise<void> {
    const { head } = await this.#services.history.bounds(this.#tenant);
    this.#after = head;
    const data = { serverTime: iso(this.#services.now()), head };
    void this.#write(encodeSse({ event: 'ready', data, retryMs: 3_000 })).then(() => this.#idle());
  }

  close(): void {
    this.#abort.abort();
    this.#unsubscribe();
    clearInterval(this.#polling);
    clearTimeout(this.#gathering);
  }

  #poll(): void {
    if (this.#writing && performance.now() - this.#lastWrite > stalledMs) return this.#sink.destroy();
    this.#wake();
  }

  #wake(): void {
    this.#woken = true;
    if (this.#gathering || this.#busy || this.#abort.signal.aborted) return;
    this.#gathering = setTimeout(() => {
      this.#gathering = undefined;
      void this.#read();
    }, gatherMs).unref();
  }

  #idle(): void {
    this.#busy = false;
    if (this.#woken) this.#wake();
  }

  async #read(): Promise<void> {
    if (this.#busy || this.#abort.signal.aborted) return;
    this.#busy = true;
    this.#woken = false;
    try {
      await this.#send(await this.#newer());
    } catch {
      // The panel or level of the query was deleted, or the disk is gone: the client connects again.
      this.close();
      this.#sink.end();
    } finally {
      this.#idle();
    }
  }

  /** New matches, oldest first; `complete` is false when there were more than a tail holds. */
  async #newer(): Promise<{ records: string[]; complete: boolean }> {
    const { history, now } = this.#services;
    const query = await queryOf(this.#services, this.#tenant, this.#q);
    const records: string[] = [];
    let before: number | undefined;
    let head = this.#after;
    let chars = 0;
    do {
      const page = await history.search(this.#tenant, query, {
        limit: pageLimit,
        form: 'lines',
        now: now(),
        after: this.#after,
        timeoutMs: limits.searchMs,
        signal: this.#abort.signal,
        ...(before !== undefined && { before }),
      });
      if (before === undefined) head = page.head;
      records.push(...page.records);
      for (const lines of page.records) chars += lines.length;
      before = page.next ?? undefined;
    } while (before !== undefined && records.length < heldRecords && chars < heldChars);
    this.#after = Math.max(this.#after, head);
    return { records: records.reverse(), complete: before === undefined };
  }

  async #send({ records, complete }: { records: readonly string[]; complete: boolean }): Promise<void> {
    const { tenancy, now } = this.#services;
    const snapshot = await tenancy.get(this.#tenant);
    let chunk = complete
      ? ''
      : encodeSse({
          event: 'gap',
          data: { reason: 'more arrived than a tail shows; the search has it all' },
        });
    for (const json of historyJson(records, snapshot)) {
      chunk += encodeSseJson('notification', json);
      if (chunk.length < chunkChars) continue;
      await this.#write(chunk);
      chunk = '';
    }
    if (chunk === '' && performance.now() - this.#lastWrite >= heartbeatMs)
      chunk = encodeSse({ event: 'heartbeat', data: { serverTime: iso(now()), head: this.#after } });
    if (chunk !== '') await this.#write(chunk);
  }

  /** Resolves when the operating system has taken the chunk; never if the client has gone. */
  #write(chunk: string): Promise<void> {
    if (this.#abort.signal.aborted) return Promise.resolve();
    this.#writing = true;
    this.#lastWrite = performance.now();
    return new Promise((resolve) => {
      this.#sink.write(chunk, () => {
        this.#writing = false;
        resolve();
      });
    });
  }
}
