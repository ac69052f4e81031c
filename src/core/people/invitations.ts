/** Invitations to a tenant: a secret that works once, for a week. */
import { uuidv7 } from 'uuidv7';
import type { InvitationCreate } from '#contract/people/member.ts';
import type { Role } from '#contract/people/token.ts';
import type { TenantId } from '../ports.ts';
import type { Actor } from '../tenants/audit.ts';
import type { Principal } from './access.ts';
import { readEmail } from './email.ts';
import type { MembershipRecord } from './members.ts';
import { hashSecret, randomSecret } from './secrets.ts';

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
