/** The members of a tenant: the port that storage implements. */
import { uuidv7 } from 'uuidv7';
import type { InvitationCreate } from '#contract/people/member.ts';
import type { Role } from '#contract/people/token.ts';
import type { TenantId } from '../log/route.ts';
import type { Actor } from '../tenants/audit.ts';
import type { TenantRecord } from '../tenants/tenants.ts';
import type { Principal } from './access.ts';
import { hashSecret, randomSecret } from './secrets.ts';
import { readEmail } from './sign-in-fields.ts';

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
  /**
   * Checked as {@link Members.setRole}. The member's pending invitations are withdrawn, and revoked are their keys and the tokens that
   * they made for phones that they signed in with their account.
   */
  remove(change: MemberChange): Promise<MemberOutcome>;
  /** Writes last contacts, in bulk; this is no change of configuration. */
  touch(
    seen: readonly { readonly tenant: TenantId; readonly person: string; readonly at: number }[],
  ): Promise<void>;
}

/** Invitations to a tenant: a secret that works once, for a week. */

const invitationMs = 7 * 86_400_000;

export interface InvitationRecord {
  readonly tenant: TenantId;
  readonly id: string;
  readonly role: Role;
  /** Only this address may accept; null: anyone with the secret. */
  readonly email: string | null;
  readonly createdAt: number;
  readonly createdBy: Actor;
  readonly expiresAt: number;
}

/** An invitation is pending while it is not accepted, not withdrawn and not expired; reads return only pending ones. */
export interface Invitations {
  /**
   * @throws AppError `conflict` when a member has this address already, or 200 invitations are pending; `forbidden` when
   * `creator` is no longer authorized.
   */
  create(invitation: InvitationRecord, secretHash: string, creator?: Principal): Promise<void>;
  /** The pending ones, newest first. */
  list(tenant: TenantId, at: number): Promise<readonly InvitationRecord[]>;
  find(tenant: TenantId, id: string, at: number): Promise<InvitationRecord | undefined>;
  /** Finds an invitation, and so its tenant, by the secret alone. */
  findBySecret(secretHash: string, at: number): Promise<InvitationRecord | undefined>;
  /**
   * Makes the person a member and uses up the invitation, in one transaction; only one of several parallel callers succeeds.
   * @throws AppError `gone` when it is not pending, `forbidden` when it is for another address, `conflict` when the person is a
   * member already; the invitation then stays pending.
   */
  accept(secretHash: string, person: string, at: number): Promise<MembershipRecord>;
  /** False when there is no such pending invitation. */
  withdraw(tenant: TenantId, id: string, by: Actor, at: number): Promise<boolean>;
  /** Deletes invitations that are no longer pending. */
  sweep(at: number): Promise<void>;
}

export interface NewInvitation {
  readonly record: InvitationRecord;
  /** Shown once. */
  readonly secret: string;
  /** The stored form of the secret. */
  readonly secretHash: string;
}

/** `until`: it expires no later than the key that creates it. @throws AppError `bad-request` for an invalid address. */
export function newInvitation(
  tenant: TenantId,
  { role, email }: InvitationCreate,
  by: Actor,
  at: number,
  until: number | null = null,
): NewInvitation {
  const secret = randomSecret();
  return {
    record: {
      tenant,
      id: uuidv7(),
      role,
      email: email == null ? null : readEmail(email),
      createdAt: at,
      createdBy: by,
      expiresAt: Math.min(at + invitationMs, until ?? Number.POSITIVE_INFINITY),
    },
    secret,
    secretHash: hashSecret(secret),
  };
}
