import { AppError } from '../core/errors.ts';
import type { TenantId } from '../core/ports.ts';

interface AtOnceOptions {
  /** Of one tenant. */
  readonly most: number;
  /** What is under way, as in "exports of this tenant are under way". */
  readonly what: string;
  readonly retryAfterSeconds: number;
}

/** Work that costs much, and of which a tenant has only so much under way. */
export class AtOnce {
  readonly #options: AtOnceOptions;
  readonly #running = new Map<TenantId, number>();

  constructor(options: AtOnceOptions) {
    this.#options = options;
  }

  /** Answers what to call once at the end. @throws AppError `rate-limited` when there is enough. */
  begin(tenant: TenantId): () => void {
    const { most, what, retryAfterSeconds } = this.#options;
    const running = this.#running.get(tenant) ?? 0;
    if (running >= most) {
      const message = `${most} ${what}: wait until one has ended`;
      throw new AppError('rate-limited', message, { retryAfterSeconds });
    }
    this.#running.set(tenant, running + 1);
    return () => {
      const left = (this.#running.get(tenant) ?? 1) - 1;
      if (left > 0) this.#running.set(tenant, left);
      else this.#running.delete(tenant);
    };
  }
}
