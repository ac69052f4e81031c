import type { Receipts } from '#contract/panel.ts';
import { ApiError } from './api-error.ts';
import { backoffMs } from './backoff.ts';

export type Receipt = Receipts[number];

export interface ReceiptOutboxOptions {
  /** Sends one batch; throws an ApiError when it was not taken. */
  readonly post: (receipts: Receipts) => Promise<unknown>;
  /** Gathers for so long before it sends. */
  readonly gatherMs?: number;
}

/** The most one call takes. */
const batchSize = 1_000;
/** While the server is away the newest are kept: receipts are proof, and never worth all memory. */
const maxWaiting = 10_000;
const retry = { baseMs: 1_000, capMs: 30_000 };

/** Receipts on their way to the server: gathered, sent in batches, kept and sent again while it is away. */
export class ReceiptOutbox {
  readonly #post: ReceiptOutboxOptions['post'];
  readonly #gatherMs: number;
  #waiting: Receipt[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sending: Promise<void> | undefined;
  #failures = 0;
  #closed = false;

  constructor({ post, gatherMs = 100 }: ReceiptOutboxOptions) {
    this.#post = post;
    this.#gatherMs = gatherMs;
  }

  add(receipt: Receipt): void {
    if (this.#closed) return;
    this.#waiting.push(receipt);
    if (this.#waiting.length > maxWaiting) this.#waiting = this.#waiting.slice(-maxWaiting);
    this.#schedule(this.#gatherMs);
  }

  /** Tries once more to send what waits, and takes no more. */
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
        this.#schedule(this.#failures === 0 ? this.#gatherMs : backoffMs(this.#failures, retry));
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
      if (isWorthAnother(error)) this.#waiting.unshift(...batch);
    }
  }
}

/** A refusal of the batch itself would only be repeated. */
function isWorthAnother(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return error.status === 0 || error.status === 408 || error.status === 429 || error.status >= 500;
}
