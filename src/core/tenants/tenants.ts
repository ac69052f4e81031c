import { badField } from '../errors.ts';
import type { TenantId } from '../log/route.ts';
import type { Actor } from './audit.ts';

/** Each installation has a tenant of this name: it is made at the start when it is missing. */
export const defaultTenant = 'default';

/**
 * A suspended tenant is refused everywhere until it is resumed, and keeps what it has. To everybody else, a tenant that is deleted does not
 * exist from the moment of `deleting` on, while its data is removed; then nothing is left of it but its number and its audit entry.
 */
export type TenantState = 'active' | 'suspended' | 'deleting' | 'deleted';

export const isGone = ({ state }: { readonly state: TenantState }): boolean =>
  state === 'deleting' || state === 'deleted';

/** A deleted tenant, as its audit entry has it for a year. */
export interface DeletedTenant {
  readonly name: string;
  readonly title: string;
  readonly state: 'deleting' | 'deleted';
  readonly deletedAt: number;
  readonly deletedBy: Actor;
}

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A limit as set: null takes the server's own. */
export type RateSetting = Rate | 'off' | null;

export interface TenantRecord {
  readonly id: TenantId;
  readonly name: string;
  readonly title: string;
  readonly timeZone: string;
  readonly state: TenantState;
  readonly rate: RateSetting;
  readonly retentionDays: number | 'off' | null;
  readonly retentionCount: number | 'off' | null;
  readonly createdAt: number;
  /** Grows with every change of anything in the tenant's configuration … */
  readonly changed: number;
  /** … and with every change of its rules. */
  readonly rulesRevision: number;
}

export interface Tenants {
  create(name: string, title: string, by: Actor, at: number): Promise<TenantRecord>;
  /**
   * As {@link Tenants.create}, in one transaction with its owner. @throws AppError `not-found` without such a person, `forbidden`
   * when there are as many tenants as `most.inAll`, `conflict` when the owner owns as many as `most.ofOwner`.
   */
  createOwned(
    tenant: {
      readonly name: string;
      readonly title: string;
      readonly timeZone?: string;
      readonly owner: { readonly id: string; readonly email: string };
    },
    by: Actor,
    at: number,
    most?: { readonly inAll?: number | 'off'; readonly ofOwner?: number },
  ): Promise<TenantRecord>;
  /** Without those that are deleted, as {@link Tenants.findByName}. */
  list(): Promise<readonly TenantRecord[]>;
  /** Also one that is deleted: see its state. */
  get(id: TenantId): Promise<TenantRecord>;
  findByName(name: string): Promise<TenantRecord | undefined>;
  /** @throws AppError `not-found`; `conflict` when another tenant has the new name, and when the tenant `default` would lose its name. */
  update(
    id: TenantId,
    patch: Partial<
      Pick<TenantRecord, 'name' | 'title' | 'timeZone' | 'rate' | 'retentionDays' | 'retentionCount'>
    >,
    by: Actor,
    at: number,
  ): Promise<TenantRecord>;
  /** Suspends or resumes. @throws AppError `not-found`. */
  setState(id: TenantId, state: 'active' | 'suspended', by: Actor, at: number): Promise<TenantRecord>;
  /**
   * From now on the tenant is `deleting`, and its name is free; the caller of {@link Tenants.removeSome} removes its data.
   * @throws AppError `not-found`; `conflict` for the tenant `default`.
   */
  delete(id: TenantId, by: Actor, at: number): Promise<void>;
  listDeleting(): Promise<readonly { readonly id: TenantId; readonly name: string }[]>;
  /** The last deleted first. */
  listDeleted(): Promise<readonly DeletedTenant[]>;
  /** Removes a batch of what a `deleting` tenant has beside its log; returns how many rows. Call it again until it returns 0. */
  removeSome(id: TenantId): Promise<number>;
  /** A `deleting` tenant is `deleted`. */
  endDeletion(id: TenantId): Promise<void>;
}

/** The operator's upper bounds. They hold for new settings of a tenant, for stored ones and for the server's defaults. */

type Limit = number | 'off';

export interface TenantBounds {
  readonly rate: Rate | 'off';
  readonly retentionDays: Limit;
  readonly retentionCount: Limit;
}

export function atMost(wanted: Limit, most: Limit): Limit {
  if (most === 'off') return wanted;
  return wanted === 'off' ? most : Math.min(wanted, most);
}

export function rateAtMost(wanted: Rate | 'off', most: Rate | 'off'): Rate | 'off' {
  if (most === 'off') return wanted;
  if (wanted === 'off') return most;
  if (wanted.perSecond <= most.perSecond && wanted.burst <= most.burst) return wanted;
  return {
    perSecond: Math.min(wanted.perSecond, most.perSecond),
    burst: Math.min(wanted.burst, most.burst),
  };
}

/** @throws AppError `bad-request` naming the field and its bound. */
export function checkBounds(
  { rate, retentionDays, retentionCount }: Partial<Pick<TenantRecord, keyof TenantBounds>>,
  bounds: TenantBounds,
): void {
  const check = (name: string, wanted: Limit | null | undefined, most: Limit, setting: string) => {
    if (wanted != null && atMost(wanted, most) !== wanted)
      throw badField(name, `must be at most ${most}, the bound of this server (${setting})`);
  };
  check('retentionDays', retentionDays, bounds.retentionDays, 'BELFRY_MAX_RETENTION_DAYS');
  check('retentionCount', retentionCount, bounds.retentionCount, 'BELFRY_MAX_RETENTION_COUNT');
  if (rate == null || bounds.rate === 'off' || rateAtMost(rate, bounds.rate) === rate) return;
  const { perSecond, burst } = bounds.rate;
  throw badField(
    'rate',
    `must be at most ${perSecond} a second and ${burst} at once, the bound of this server (BELFRY_MAX_TENANT_RATE)`,
  );
}
