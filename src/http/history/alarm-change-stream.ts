import { encodeSse } from '#contract/panels/sse.ts';
import type { TenantId } from '#core/log/route.ts';
import type { Sink } from '#core/streams/panel-stream.ts';
import { iso } from '#core/time/time.ts';
import type { Services } from '../services.ts';

/** The least time between two events. Changes within it are one event. */
const gatherMs = 300;
/** Reads the head of the log at least this often, in case a wake-up was lost. */
const pollMs = 2_000;
const heartbeatMs = 15_000;
/** How long a client has to read what was written. */
const stalledMs = 30_000;

/** Tells a client that the log has grown, so that it reads the list of alarms again. */
export class AlarmChangeStream {
  /** Resolves when the head of the log is read. */
  readonly started: Promise<void>;
  readonly #services: Services;
  readonly #tenant: TenantId;
  readonly #sink: Sink;
  readonly #unsubscribe: () => void;
  readonly #polling: NodeJS.Timeout;
  #gathering: NodeJS.Timeout | undefined;
  #head = 0;
  #writingSince: number | undefined;
  #lastWrite = performance.now();
  #isClosed = false;

  constructor(services: Services, tenant: TenantId, sink: Sink) {
    this.#services = services;
    this.#tenant = tenant;
    this.#sink = sink;
    this.#unsubscribe = services.bus.subscribe(tenant, () => this.#wake());
    this.#polling = setInterval(() => this.#poll(), pollMs).unref();
    this.started = this.#start();
  }

  async #start(): Promise<void> {
    const { head } = await this.#services.history.bounds(this.#tenant);
    this.#head = head;
    const data = { serverTime: iso(this.#services.now()), head };
    this.#write(encodeSse({ event: 'ready', data, retryMs: 3_000 }));
  }

  close(): void {
    this.#isClosed = true;
    this.#unsubscribe();
    clearInterval(this.#polling);
    clearTimeout(this.#gathering);
  }

  #poll(): void {
    if (this.#writingSince !== undefined && performance.now() - this.#writingSince > stalledMs)
      return this.#sink.destroy();
    this.#wake();
  }

  #wake(): void {
    if (this.#isClosed) return;
    this.#gathering ??= setTimeout(() => {
      this.#gathering = undefined;
      void this.#read();
    }, gatherMs).unref();
  }

  async #read(): Promise<void> {
    // If the client still reads the last event, the next poll, within 2 s, sends what has changed since.
    if (this.#writingSince !== undefined) return;
    try {
      const { head } = await this.#services.history.bounds(this.#tenant);
      if (this.#isClosed) return;
      const isNew = head !== this.#head;
      this.#head = head;
      const data = { serverTime: iso(this.#services.now()), head };
      if (isNew) this.#write(encodeSse({ event: 'change', data }));
      else if (performance.now() - this.#lastWrite >= heartbeatMs)
        this.#write(encodeSse({ event: 'heartbeat', data }));
    } catch {
      // The disk is gone: the client connects again.
      this.close();
      this.#sink.end();
    }
  }

  #write(chunk: string): void {
    if (this.#isClosed) return;
    this.#lastWrite = performance.now();
    this.#writingSince = this.#lastWrite;
    this.#sink.write(chunk, () => {
      this.#writingSince = undefined;
    });
  }
}
