/** Members and invitations of a tenant. */
import { type Static, Type } from 'typebox';
import { closed, component, Instant, Name, NullableInstant, nullable } from '../schema.ts';
import { Email, NewPassword } from './account.ts';
import { roles } from './token.ts';

const RoleName = Type.Enum([...roles]);

export const Member = component('Member', {
  id: Type.String({ description: "The person's id." }),
  email: Type.String(),
  name: Type.String(),
  role: RoleName,
  twoFactor: Type.Boolean(),
  joinedAt: Instant,
  lastSeenAt: NullableInstant,
});
export type Member = Static<typeof Member>;

export const MemberList = component('MemberList', { members: Type.Array(Member) });

export const MemberPatch = component('MemberPatch', { role: RoleName });

const invitation = {
  id: Type.String(),
  role: RoleName,
  email: nullable(Type.String(), {
    description: 'Only this address may accept; null: whoever has the link.',
  }),
  createdAt: Instant,
  createdBy: Type.String(),
  expiresAt: Instant,
};

/** One that waits: not accepted, not withdrawn, not expired. */
export const Invitation = component('Invitation', invitation);
export type Invitation = Static<typeof Invitation>;

export const InvitationList = component('InvitationList', { invitations: Type.Array(Invitation) });

export const InvitationCreate = component('InvitationCreate', {
  role: RoleName,
  email: Type.Optional(nullable(Email)),
});
export type InvitationCreate = Static<typeof InvitationCreate>;

/** `secret` is shown once; the link is the server's address, then /invite#secret. */
export const InvitationCreated = component('InvitationCreated', {
  ...invitation,
  secret: Type.String(),
  link: Type.String(),
});
export type InvitationCreated = Static<typeof InvitationCreated>;

export const InvitationSecret = component('InvitationSecret', { secret: Type.String({ maxLength: 200 }) });

/** The tenant and role of an invitation. */
export const InvitationPreview = component('InvitationPreview', {
  tenantTitle: Type.String(),
  role: RoleName,
  email: nullable(Type.String()),
  createdBy: Type.String(),
  expiresAt: Instant,
});
export type InvitationPreview = Static<typeof InvitationPreview>;

/** Signed in: the secret alone. Otherwise with what the new account needs. */
export const InvitationAccept = component('InvitationAccept', {
  secret: Type.String({ maxLength: 200 }),
  account: Type.Optional(closed({ email: Email, name: Name, password: NewPassword })),
});
export type InvitationAccept = Static<typeof InvitationAccept>;
