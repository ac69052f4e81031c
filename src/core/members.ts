/** The people of a tenant, and which of them may do what to the others. */
import { type Role, roles } from '#contract/token.ts';
import type { Actor } from './audit.ts';
import type { TenantId } from './ports.ts';
import type { TenantRecord } from './tenants.ts';

export interface MemberRecord {
  /** The person's id, as next what is the person's own in every tenant. */
  readonly person: string;
  readonly email: string;
  readonly name: string;
  readonly twoFactor: boolean;
  readonly role: Role;
  readonly joinedAt: number;
  readonly lastSeenAt: number | null;
}

/** The same from the person's side. */
export interface MembershipRecord {
  readonly tenant: TenantRecord;
  readonly role: Role;
  readonly joinedAt: number;
}

/** `forbidden`: it is about an owner, and an owner alone may do that. */
export type MemberOutcome = 'done' | 'not-found' | 'last-owner' | 'forbidden';

export interface MemberChange {
  readonly tenant: TenantId;
  readonly person: string;
  /** The role of whoever asks; `self`: the person, who may always go. */
  readonly as: Role | 'self';
  readonly by: Actor;
  readonly at: number;
}

export interface Members {
  /** By name, then e-mail. */
  list(tenant: TenantId): Promise<readonly MemberRecord[]>;
  /** The role of each, by the person's id. */
  roles(tenant: TenantId): Promise<ReadonlyMap<string, Role>>;
  find(tenant: TenantId, person: string): Promise<MemberRecord | undefined>;
  /** The tenants a person belongs to, by title. */
  ofPerson(person: string): Promise<readonly MembershipRecord[]>;
  /** False when there is no such person or tenant, or the person is a member already. */
  add(tenant: TenantId, person: string, role: Role, by: Actor, at: number): Promise<boolean>;
  /**
   * Judged together with the change: of two owners who are demoted at once one stays. A role that is theirs already is
   * no change. Waiting invitations to roles that the member may no longer give are withdrawn, keys of such roles that the
   * member made, or one of these keys, are revoked.
   */
  setRole(change: MemberChange & { readonly role: Role }): Promise<MemberOutcome>;
  /** Judged as {@link Members.setRole} is; the member's waiting invitations are withdrawn, and the keys revoked. */
  remove(change: MemberChange): Promise<MemberOutcome>;
  /** Last contact, in bulk and now and then; it is no change of configuration. */
  touch(
    seen: readonly { readonly tenant: TenantId; readonly person: string; readonly at: number }[],
  ): Promise<void>;
}

/** The roles that somebody of a role may give to others: none below admin, and none above their own. */
export function mayGive(own: Role): readonly Role[] {
  return includesRole(own, 'admin') ? roles.slice(0, roles.indexOf(own) + 1) : [];
}

/** Whether one role may do all that another may. */
export function includesRole(own: Role, other: Role): boolean {
  return roles.indexOf(own) >= roles.indexOf(other);
}
