import { backoffMs } from '#contract/backoff.ts';
import type { Receipts } from '#contract/panels/panel.ts';
import { isTemporary } from './call.ts';

export type Receipt = Receipts[number];

interface ReceiptOutboxOptions {
  /** Sends one batch; throws an ApiError when the server did not accept it. */
  readonly post: (receipts: Receipts) => Promise<unknown>;
  /** How long receipts are collected before a batch is sent. */
  readonly collectMs?: number;
}

/** The server accepts at most this many receipts in one request. */
const batchSize = 1_000;
/** While the server is unreachable, only this many of the newest receipts are kept, to bound memory. */
const maxWaiting = 10_000;
const retry = { baseMs: 1_000, capMs: 30_000 };

/** Sends receipts to the server in batches. Keeps them and retries while the server is unreachable. */
export class ReceiptOutbox {
  readonly #post: ReceiptOutboxOptions['post'];
  readonly #collectMs: number;
  #waiting: Receipt[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<void> | undefined;
  #failures = 0;
  #closed = false;

  constructor({ post, collectMs = 100 }: ReceiptOutboxOptions) {
    this.#post = post;
    this.#collectMs = collectMs;
  }

  add(receipt: Receipt): void {
    if (this.#closed) return;
    this.#waiting.push(receipt);
    if (this.#waiting.length > maxWaiting) this.#waiting = this.#waiting.slice(-maxWaiting);
    this.#schedule(this.#collectMs);
  }

  /** Accepts no further receipts, and tries once to send the waiting ones. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#sending;
    if (this.#waiting.length > 0) await this.#send();
  }

  #schedule(ms: number): void {
    if (this.#timer !== undefined || this.#sending || this.#closed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#sending = this.#send().finally(() => {
        this.#sending = undefined;
        if (this.#waiting.length === 0) return;
        this.#schedule(this.#failures === 0 ? this.#collectMs : backoffMs(this.#failures, retry));
      });
    }, ms);
  }

  async #send(): Promise<void> {
    const batch = this.#waiting.splice(0, batchSize);
    try {
      await this.#post(batch);
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      // The server would refuse an invalid batch again.
      if (isTemporary(error)) this.#waiting.unshift(...batch);
    }
  }
}
