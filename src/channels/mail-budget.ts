/** How many mails a tenant may send through the installation's own mail server: for each recipient one. */
import { createLruMap } from '#core/lru-map.ts';
import type { TenantId } from '#core/ports.ts';

const hourMs = 3_600_000;
const maxTenants = 10_000;

/** A bucket for each tenant that fills within an hour, in the memory of this node. */
export class MailBudget {
  readonly #perHour: number;
  readonly #buckets = createLruMap<TenantId, { readonly left: number; readonly at: number }>(maxTenants);

  constructor(perHour: number) {
    this.#perHour = perHour;
  }

  /** Takes `count`, or answers how long to wait until there are so many. */
  take(tenant: TenantId, count: number, now: number): number {
    const { left, at } = this.#buckets.get(tenant) ?? { left: this.#perHour, at: now };
    const gained = (Math.max(0, now - at) * this.#perHour) / hourMs;
    const available = Math.min(this.#perHour, left + gained);
    // More than there can ever be: it takes all.
    const wanted = Math.min(count, this.#perHour);
    const isEnough = available >= wanted;
    this.#buckets.set(tenant, { left: isEnough ? available - wanted : available, at: now });
    return isEnough ? 0 : Math.ceil(((wanted - available) * hourMs) / this.#perHour);
  }
}
