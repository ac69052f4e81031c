/** Members and invitations of a tenant. */
import { type Static, Type } from 'typebox';
import { Email, NewPassword, PersonName } from './session.ts';
import { roles } from './token.ts';

const Instant = Type.String({ format: 'date-time' });
const RoleName = Type.Enum([...roles]);

export const Member = Type.Object(
  {
    id: Type.String({ description: "The person's id." }),
    email: Type.String(),
    name: Type.String(),
    role: RoleName,
    twoFactor: Type.Boolean(),
    joinedAt: Instant,
    lastSeenAt: Type.Union([Instant, Type.Null()]),
  },
  { title: 'Member', additionalProperties: false },
);
export type Member = Static<typeof Member>;

export const MemberList = Type.Object(
  { members: Type.Array(Member) },
  { title: 'MemberList', additionalProperties: false },
);

export const MemberPatch = Type.Object(
  { role: RoleName },
  { title: 'MemberPatch', additionalProperties: false },
);
export type MemberPatch = Static<typeof MemberPatch>;

const invitation = {
  id: Type.String(),
  role: RoleName,
  email: Type.Union([Type.String(), Type.Null()], {
    description: 'Only this address may accept; null: whoever has the link.',
  }),
  createdAt: Instant,
  createdBy: Type.String(),
  expiresAt: Instant,
};

/** One that waits: not accepted, not withdrawn, not expired. */
export const Invitation = Type.Object(invitation, { title: 'Invitation', additionalProperties: false });
export type Invitation = Static<typeof Invitation>;

export const InvitationList = Type.Object(
  { invitations: Type.Array(Invitation) },
  { title: 'InvitationList', additionalProperties: false },
);

export const InvitationCreate = Type.Object(
  { role: RoleName, email: Type.Optional(Type.Union([Email, Type.Null()])) },
  { title: 'InvitationCreate', additionalProperties: false },
);
export type InvitationCreate = Static<typeof InvitationCreate>;

/** `secret` is shown once; the link is the server's address, then /invite#secret. */
export const InvitationCreated = Type.Object(
  { ...invitation, secret: Type.String(), link: Type.String() },
  { title: 'InvitationCreated', additionalProperties: false },
);
export type InvitationCreated = Static<typeof InvitationCreated>;

export const InvitationSecret = Type.Object(
  { secret: Type.String({ maxLength: 200 }) },
  { title: 'InvitationSecret', additionalProperties: false },
);

/** The tenant and role of an invitation. */
export const InvitationPreview = Type.Object(
  {
    tenantTitle: Type.String(),
    role: RoleName,
    email: Type.Union([Type.String(), Type.Null()]),
    createdBy: Type.String(),
    expiresAt: Instant,
  },
  { title: 'InvitationPreview', additionalProperties: false },
);
export type InvitationPreview = Static<typeof InvitationPreview>;

/** Signed in: the secret alone. Otherwise with what the new account needs. */
export const InvitationAccept = Type.Object(
  {
    secret: Type.String({ maxLength: 200 }),
    account: Type.Optional(
      Type.Object({ email: Email, name: PersonName, password: NewPassword }, { additionalProperties: false }),
    ),
  },
  { title: 'InvitationAccept', additionalProperties: false },
);
export type InvitationAccept = Static<typeof InvitationAccept>;
