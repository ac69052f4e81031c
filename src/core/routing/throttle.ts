import { hash } from 'node:crypto';
import { findLabel, isLabelField, labelOfField, labelsOf } from '#contract/history/labels.ts';
import type { RuleThen } from '#contract/routing/rule.ts';
import type { NotificationDraft, ThrottleClaim } from '../log/log.ts';
import type { TenantId } from '../log/route.ts';
import { getOrMake } from '../maps.ts';
import { foldCase } from './glob.ts';
import type { RoutingSubject } from './subject.ts';

/** A rule's limit: one shown notification of a kind in a period. */
export interface ThrottleDemand {
  readonly ruleId: string;
  /** Equal for notifications that the rule groups together; 22 characters. */
  readonly key: string;
  readonly perMs: number;
}

/** The shown notification that this one is counted on, and the count so far (1 for the first). */
export interface Throttled {
  readonly on: string;
  readonly count: number;
}

/** The values of these fields; null: it has none. They are compared as they were sent, the host without regard to case. */
export function throttleValues(
  fields: NonNullable<RuleThen['throttle']>['by'],
  subject: RoutingSubject,
): (string | null)[] {
  return fields.map((field) => {
    if (field === 'token') return subject.tokenId;
    if (isLabelField(field)) return findLabel(labelsOf(subject.labels), labelOfField(field))?.[1] ?? null;
    const value = subject[field];
    return field === 'host' && value !== null ? foldCase(value) : value;
  });
}

/** The demand of a rule for a subject. */
export function throttleDemand(
  ruleId: string,
  { by, perMs }: NonNullable<RuleThen['throttle']>,
  subject: RoutingSubject,
): ThrottleDemand {
  const values = throttleValues(by, subject);
  // Hashed, because messages can be long and many are remembered.
  return { ruleId, key: hash('sha256', JSON.stringify([by, values]), 'base64url').slice(0, 22), perMs };
}

/** A notification that was shown; undefined if history does not have it any more. */
type Shown =
  | (Leveled & {
      readonly cleared: object | null;
      /** Its alarm, while it stands. */
      readonly alarm?: { readonly shelved: object | null; readonly suppressed?: object | null } | null;
    })
  | undefined;
type Leveled = Pick<NotificationDraft, 'level' | 'rank' | 'key'>;

/**
 * Whether a notification must be shown although a throttle has `shown` another one lately: that one was cleared, it is shelved or
 * suppressed and of another alarm, the new one is more serious, or it gives the same key another level. Otherwise an outage would
 * be counted where nobody sees it, and a resolve on the alarm that it ends. `current`: what is in the place of `shown`, such as its
 * escalation.
 */
export function mustShow({ level, rank, key }: Leveled, shown: Shown, current = shown): boolean {
  if (!shown || !current || current.cleared || rank > current.rank) return true;
  const isOffPanels = (current.alarm?.shelved ?? current.alarm?.suppressed ?? null) !== null;
  if (isOffPanels && (key === null || key !== current.key)) return true;
  return key !== null && key === shown.key && level !== shown.level;
}

interface Bucket {
  readonly id: string;
  readonly shownAt: number;
  count: number;
}

/** The most kinds remembered for a tenant. The least recently used are dropped, and shown again. */
const defaultBucketsPerTenant = 10_000;

/**
 * The notifications that each tenant's throttles show, in the memory of this process. With several nodes, the store decides with
 * {@link claimsOf} which one is shown, and `adopt` records it here. A single node forgets them at a restart.
 */
export class Throttle {
  readonly #perTenant: number;
  /** By tenant, then by rule and key, least recently used first. */
  readonly #tenants = new Map<TenantId, Map<string, Bucket>>();

  constructor(bucketsPerTenant: number = defaultBucketsPerTenant) {
    this.#perTenant = bucketsPerTenant;
  }

  /**
   * Decides about the notification `id`, received at `now`. Returns undefined if it is shown; later ones are then counted on it.
   * Otherwise returns the notification that it is counted on, by the first demand that already shows one. A period starts with
   * the shown notification.
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

  /** Records that another node's notification `on` has been shown since `shownAt` for the claim `by`, instead of `id`. */
  adopt(
    tenant: TenantId,
    demands: readonly ThrottleDemand[],
    id: string,
    { by, on, shownAt }: { readonly by: string; readonly on: string; readonly shownAt: number },
  ): void {
    this.forget(tenant, demands, id, undefined);
    this.#show(this.#bucketsOf(tenant), by, { id: on, shownAt, count: 0 });
  }

  /** Reverts `check` for `id`, which is not stored or not shown any more: nothing may be counted on it, and it must not be counted. */
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
    return getOrMake(this.#tenants, tenant, () => new Map());
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

/** The claims of a notification that is shown `insteadOf` others, for a store that several nodes share. */
export const claimsOf = (
  demands: readonly ThrottleDemand[],
  insteadOf: readonly string[] = [],
): ThrottleClaim[] => demands.map((demand) => ({ name: nameOf(demand), perMs: demand.perMs, insteadOf }));

/** Keys have a fixed length, so two demands never share a name. */
const nameOf = ({ ruleId, key }: ThrottleDemand) => `${key}${ruleId}`;
