/** How many mails a tenant may send through the installation's own mail server: for each recipient one. */
import { createLruMap } from '#core/lru-map.ts';
import type { TenantId } from '#core/ports.ts';

const hourMs = 3_600_000;
const maxTenants = 10_000;

/** Fills within an hour, in the memory of this node. */
interface Bucket {
  /** Below zero: what was promised has yet to be gained. */
  left: number;
  at: number;
  /** By channel: how much its next mail has taken already, and when it may go. */
  readonly promised: Map<string, { readonly wanted: number; readonly dueAt: number }>;
}

/** In the order in which they asked: otherwise a mail to many would never find enough while others send to one. */
export class MailBudget {
  readonly #perHour: number;
  readonly #buckets = createLruMap<TenantId, Bucket>(maxTenants);

  constructor(perHour: number) {
    this.#perHour = perHour;
  }

  /** 0: the mail may go now. Otherwise `count` is kept for this channel, which asks again after so long. */
  take(
    { tenant, id }: { readonly tenant: TenantId; readonly id: string },
    count: number,
    now: number,
  ): number {
    const bucket = this.#bucketOf(tenant, now);
    const { promised } = bucket;
    // More than there can ever be: it takes all.
    const wanted = Math.min(count, this.#perHour);
    const own = promised.get(id);
    if (own?.wanted !== wanted) {
      bucket.left -= wanted;
      if (bucket.left >= 0) return 0;
      promised.set(id, { wanted, dueAt: now + this.#toGain(-bucket.left) });
      return this.#toGain(-bucket.left);
    }
    // Once nothing is owed, whatever the clock says, all that was promised is there.
    const waitMs = Math.min(own.dueAt - now, this.#toGain(-bucket.left));
    if (waitMs > 0) return waitMs;
    promised.delete(id);
    return 0;
  }

  #bucketOf(tenant: TenantId, now: number): Bucket {
    const bucket = this.#buckets.get(tenant) ?? { left: this.#perHour, at: now, promised: new Map() };
    bucket.left = Math.min(
      this.#perHour,
      bucket.left + (Math.max(0, now - bucket.at) * this.#perHour) / hourMs,
    );
    bucket.at = now;
    // The budget is full again: channels that did not return for their mails in this time gave them up.
    if (bucket.left >= this.#perHour) bucket.promised.clear();
    this.#buckets.set(tenant, bucket);
    return bucket;
  }

  #toGain(mails: number): number {
    return Math.max(0, Math.ceil((mails * hourMs) / this.#perHour));
  }
}
