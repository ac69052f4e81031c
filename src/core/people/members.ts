/** The members of a tenant: the port that storage implements. */
import type { Role } from '#contract/people/token.ts';
import type { TenantId } from '../ports.ts';
import type { Actor } from '../tenants/audit.ts';
import type { TenantRecord } from '../tenants/tenants.ts';
import type { Principal } from './access.ts';

export interface MemberRecord {
  /** The person's id. Role and times are per tenant; the other fields are the same in every tenant. */
  readonly person: string;
  readonly email: string;
  readonly name: string;
  readonly twoFactor: boolean;
  readonly role: Role;
  readonly joinedAt: number;
  readonly lastSeenAt: number | null;
}

/** A membership as the person sees it. */
export interface MembershipRecord {
  readonly tenant: TenantRecord;
  readonly role: Role;
  readonly joinedAt: number;
}

/** `forbidden`: only an owner may change or remove an owner; or `principal` has lost the role meanwhile. */
export type MemberOutcome = 'done' | 'not-found' | 'last-owner' | 'forbidden';

export interface MemberChange {
  readonly tenant: TenantId;
  readonly person: string;
  /** The role of the person who requests the change; `self` when members change themselves: they may always leave. */
  readonly as: Role | 'self';
  readonly by: Actor;
  readonly at: number;
  /** Who requests the change, if it must still have its role when the change is written. */
  readonly principal?: Principal;
}

export interface Members {
  /** By name, then email. */
  list(tenant: TenantId): Promise<readonly MemberRecord[]>;
  /** The role of each, by the person's id. */
  roles(tenant: TenantId): Promise<ReadonlyMap<string, Role>>;
  find(tenant: TenantId, person: string): Promise<MemberRecord | undefined>;
  /** The tenants a person belongs to, by title. */
  ofPerson(person: string): Promise<readonly MembershipRecord[]>;
  /** False when there is no such person or tenant, or the person is a member already. */
  add(tenant: TenantId, person: string, role: Role, by: Actor, at: number): Promise<boolean>;
  /**
   * Checked and changed in one transaction: if two owners are demoted at once, one remains. Setting the same role again is
   * no change. Pending invitations to roles that the member may no longer grant are withdrawn. Keys of such roles that the
   * member or one of these keys created are revoked.
   */
  setRole(change: MemberChange & { readonly role: Role }): Promise<MemberOutcome>;
  /** Checked as {@link Members.setRole}. The member's pending invitations are withdrawn and keys revoked. */
  remove(change: MemberChange): Promise<MemberOutcome>;
  /** Writes last contacts, in bulk; this is no change of configuration. */
  touch(
    seen: readonly { readonly tenant: TenantId; readonly person: string; readonly at: number }[],
  ): Promise<void>;
}
