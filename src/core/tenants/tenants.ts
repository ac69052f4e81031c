import type { TenantId } from '../ports.ts';
import type { Actor } from './audit.ts';

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
  list(): Promise<readonly TenantRecord[]>;
  get(id: TenantId): Promise<TenantRecord>;
  findByName(name: string): Promise<TenantRecord | undefined>;
  update(
    id: TenantId,
    patch: Partial<Pick<TenantRecord, 'title' | 'timeZone' | 'rate' | 'retentionDays' | 'retentionCount'>>,
    by: Actor,
    at: number,
  ): Promise<TenantRecord>;
}
