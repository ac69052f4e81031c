import { hash } from 'node:crypto';
import type { RuleThen } from '#contract/rule.ts';
import { foldCase } from '../fold-case.ts';
import type { TenantId, ThrottleClaim } from '../ports.ts';
import type { RoutingSubject } from './subject.ts';

/** A rule's limit: one shown notification of a kind in a period. */
export interface ThrottleDemand {
  readonly ruleId: string;
  /** The same for notifications that are alike to the rule; 22 characters. */
  readonly key: string;
  readonly perMs: number;
}

/** The shown notification that this one is counted on, and the count so far (1 for the first). */
export interface Throttled {
  readonly on: string;
  readonly count: number;
}

/** What a rule asks for a subject; fields are compared as they were sent, the host without regard to case. */
export function throttleDemand(
  ruleId: string,
  { by, perMs }: NonNullable<RuleThen['throttle']>,
  subject: RoutingSubject,
): ThrottleDemand {
  const values = by.map((field) => {
    if (field === 'token') return subject.tokenId;
    const value = subject[field];
    return field === 'host' && value !== null ? foldCase(value) : value;
  });
  // Hashed, as a message can be long and many are remembered.
  return { ruleId, key: hash('sha256', JSON.stringify([by, values]), 'base64url').slice(0, 22), perMs };
}

interface Bucket {
  readonly id: string;
  readonly shownAt: number;
  count: number;
}

/** So many kinds are remembered for a tenant; of more, those longest unused are forgotten, and shown once more. */
const defaultBucketsPerTenant = 10_000;

/**
 * What each tenant's throttles have shown, as far as this process knows. Where several nodes share a store, the store decides
 * by {@link claimsOf} which one is shown, and this process learns of it by `adopt`; a single node that is restarted shows
 * the first one again.
 */
export class Throttle {
  readonly #perTenant: number;
  /** By tenant, then by rule and key, the longest unused first. */
  readonly #tenants = new Map<TenantId, Map<string, Bucket>>();

  constructor(bucketsPerTenant: number = defaultBucketsPerTenant) {
    this.#perTenant = bucketsPerTenant;
  }

  /**
   * Decides about the notification `id`, received at `now`: undefined when it is to be shown, and from now on others
   * are counted on it; else what it is counted on. With several demands, the first that has shown one already counts.
   * A time is counted from the one that was shown.
   */
  check(
    tenant: TenantId,
    demands: readonly ThrottleDemand[],
    id: string,
    now: number,
  ): Throttled | undefined {
    if (demands.length === 0) return undefined;
    const buckets = this.#bucketsOf(tenant);
    const open = findOpen(buckets, demands, now);
    if (open) {
      const { name, bucket } = open;
      bucket.count += 1;
      buckets.delete(name);
      buckets.set(name, bucket);
      return { on: bucket.id, count: bucket.count };
    }
    for (const demand of demands) this.#show(buckets, nameOf(demand), { id, shownAt: now, count: 0 });
    return undefined;
  }

  /** The notification that `check` would count this one on. */
  find(tenant: TenantId, demands: readonly ThrottleDemand[], now: number): string | undefined {
    const buckets = this.#tenants.get(tenant);
    return buckets && findOpen(buckets, demands, now)?.bucket.id;
  }

  /** The throttle of the claim `by` shows `on` since `shownAt`, on another node, and not `id`, which this process took for the first. */
  adopt(
    tenant: TenantId,
    demands: readonly ThrottleDemand[],
    id: string,
    { by, on, shownAt }: { readonly by: string; readonly on: string; readonly shownAt: number },
  ): void {
    this.forget(tenant, demands, id, undefined);
    this.#show(this.#bucketsOf(tenant), by, { id: on, shownAt, count: 0 });
  }

  /**
   * Takes back what `check` answered for `id`, which was not stored: nothing may be counted on what does not exist, nor
   * be counted itself.
   */
  forget(
    tenant: TenantId,
    demands: readonly ThrottleDemand[],
    id: string,
    counted: Throttled | undefined,
  ): void {
    const buckets = this.#tenants.get(tenant);
    for (const demand of demands) {
      const bucket = buckets?.get(nameOf(demand));
      if (bucket?.id === id) buckets?.delete(nameOf(demand));
      else if (bucket && bucket.id === counted?.on) {
        bucket.count -= 1;
        return;
      }
    }
  }

  #bucketsOf(tenant: TenantId): Map<string, Bucket> {
    let buckets = this.#tenants.get(tenant);
    if (!buckets) {
      buckets = new Map();
      this.#tenants.set(tenant, buckets);
    }
    return buckets;
  }

  #show(buckets: Map<string, Bucket>, name: string, bucket: Bucket): void {
    buckets.delete(name);
    buckets.set(name, bucket);
    if (buckets.size <= this.#perTenant) return;
    const [oldest] = buckets.keys();
    if (oldest !== undefined) buckets.delete(oldest);
  }
}

function findOpen(
  buckets: ReadonlyMap<string, Bucket>,
  demands: readonly ThrottleDemand[],
  now: number,
): { readonly name: string; readonly bucket: Bucket } | undefined {
  for (const demand of demands) {
    const name = nameOf(demand);
    const bucket = buckets.get(name);
    // A clock that was set back must not lengthen the time.
    if (bucket && now >= bucket.shownAt && now < bucket.shownAt + demand.perMs) return { name, bucket };
  }
  return undefined;
}

/** What a notification that is to be shown asks of a store that several nodes share. */
export const claimsOf = (demands: readonly ThrottleDemand[]): ThrottleClaim[] =>
  demands.map((demand) => ({ name: nameOf(demand), perMs: demand.perMs }));

/** Keys have a fixed length, so two demands never share a name. */
const nameOf = ({ ruleId, key }: ThrottleDemand) => `${key}${ruleId}`;
