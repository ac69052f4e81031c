/** Reads payloads one after the other, so that a tenant with expensive ones delays no other tenant. */
import { unavailable } from '#core/errors.ts';
import { FairQueue } from '#core/fair-queue.ts';
import type { TenantId } from '#core/ports.ts';

/** Of the payloads of one tenant that wait for their turn; one always may. */
const mostWaitingBytes = 16 * 1024 * 1024;

/**
 * Tenants take turns, a payload at a time. After each, other requests get as much time as it took. A payload that takes less than
 * a millisecond waits for nothing if no other is being read.
 */
export class PayloadTurns {
  readonly #queue = new FairQueue(1, (tookMs) => tookMs);
  readonly #waitingBytes = new Map<TenantId, number>();

  /** @throws AppError `unavailable` when too much of the tenant waits, and what `read` throws. */
  async run<T>(tenant: TenantId, bytes: number, read: () => T | Promise<T>): Promise<T> {
    const waiting = this.#waitingBytes.get(tenant) ?? 0;
    if (waiting > 0 && waiting + bytes > mostWaitingBytes)
      throw unavailable('too many large payloads of this tenant wait to be read; try again');
    this.#waitingBytes.set(tenant, waiting + bytes);
    try {
      return (await this.#queue.run(tenant, async () => ({ value: await read() }))).value;
    } finally {
      const left = (this.#waitingBytes.get(tenant) ?? 0) - bytes;
      if (left > 0) this.#waitingBytes.set(tenant, left);
      else this.#waitingBytes.delete(tenant);
    }
  }
}
