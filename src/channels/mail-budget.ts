/** Limits the mails that a tenant sends through the installation's own mail server. Each recipient counts as one mail. */
import { createLruMap } from '#core/lru-map.ts';
import type { TenantId } from '#core/ports.ts';

const hourMs = 3_600_000;
const maxTenants = 10_000;

/** A token bucket, which refills within an hour. Each node has its own. */
interface Bucket {
  /** Negative while mails are reserved in advance. */
  tokens: number;
  at: number;
  /** By channel: the tokens that are reserved for its next mail, and when it may be sent. */
  readonly reservations: Map<string, { readonly tokens: number; readonly dueAt: number }>;
}

/** Serves channels in the order of their first attempts. Otherwise a mail to many recipients might wait forever behind small ones. */
export class MailBudget {
  readonly #perHour: number;
  readonly #buckets = createLruMap<TenantId, Bucket>(maxTenants);

  constructor(perHour: number) {
    this.#perHour = perHour;
  }

  /** Returns 0 if the mail may be sent now. Otherwise reserves `count` tokens, and returns after how long the channel must call again. */
  take(
    { tenant, id }: { readonly tenant: TenantId; readonly id: string },
    count: number,
    now: number,
  ): number {
    const bucket = this.#bucketOf(tenant, now);
    const { reservations } = bucket;
    // A mail to more recipients than the bucket can hold takes a full bucket.
    const tokens = Math.min(count, this.#perHour);
    const reservation = reservations.get(id);
    if (reservation?.tokens !== tokens) {
      bucket.tokens -= tokens;
      if (bucket.tokens >= 0) return 0;
      const waitMs = this.#refillMs(-bucket.tokens);
      reservations.set(id, { tokens, dueAt: now + waitMs });
      return waitMs;
    }
    // If the bucket is not negative, every reservation is covered, even if the clock was set back.
    const waitMs = Math.min(reservation.dueAt - now, this.#refillMs(-bucket.tokens));
    if (waitMs > 0) return waitMs;
    reservations.delete(id);
    return 0;
  }

  #bucketOf(tenant: TenantId, now: number): Bucket {
    const bucket = this.#buckets.get(tenant) ?? { tokens: this.#perHour, at: now, reservations: new Map() };
    bucket.tokens = Math.min(
      this.#perHour,
      bucket.tokens + (Math.max(0, now - bucket.at) * this.#perHour) / hourMs,
    );
    bucket.at = now;
    // The bucket is full again, so channels that did not return in this time have given up their mails.
    if (bucket.tokens >= this.#perHour) bucket.reservations.clear();
    this.#buckets.set(tenant, bucket);
    return bucket;
  }

  #refillMs(tokens: number): number {
    return Math.max(0, Math.ceil((tokens * hourMs) / this.#perHour));
  }
}
