/** Who is signed in, and how one signs in. */
import { type Static, Type } from 'typebox';
import { TenantName } from './tenant.ts';
import { roles } from './token.ts';

export const Email = Type.String({ minLength: 3, maxLength: 254, pattern: '^\\S+@\\S+$' });
export const PersonName = Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' });
/** At least ten characters; the server also refuses common passwords. */
export const NewPassword = Type.String({ minLength: 10, maxLength: 256 });
const Password = Type.String({ minLength: 1, maxLength: 256 });
const Code = Type.String({ minLength: 6, maxLength: 32 });

export const Person = Type.Object(
  { id: Type.String(), email: Type.String(), name: Type.String(), twoFactor: Type.Boolean() },
  { title: 'Person', additionalProperties: false },
);
export type Person = Static<typeof Person>;

export const Membership = Type.Object(
  {
    name: TenantName,
    title: Type.String(),
    timeZone: Type.String(),
    role: Type.Enum([...roles]),
  },
  { title: 'Membership', additionalProperties: false },
);
export type Membership = Static<typeof Membership>;

/** What a page asks first. */
export const Session = Type.Object(
  {
    person: Type.Union([Person, Type.Null()], { description: 'null: nobody is signed in.' }),
    tenants: Type.Array(Membership, { description: 'Those the person belongs to, by title.' }),
    needsSetup: Type.Boolean({ description: 'There is no account yet: open the set-up link.' }),
    providers: Type.Array(
      Type.Object({ id: Type.String(), name: Type.String() }, { additionalProperties: false }),
      { description: 'Identity providers that one can sign in with.' },
    ),
    version: Type.String(),
  },
  { title: 'Session', additionalProperties: false },
);
export type Session = Static<typeof Session>;

export const SignIn = Type.Object(
  { email: Type.String({ maxLength: 254 }), password: Password, remember: Type.Optional(Type.Boolean()) },
  { title: 'SignIn', additionalProperties: false },
);
export type SignIn = Static<typeof SignIn>;

/** `twoFactor`: the password was right, and POST /api/session/two-factor must follow. */
export const SignedIn = Type.Object(
  { ok: Type.Literal(true), twoFactor: Type.Boolean() },
  { title: 'SignedIn', additionalProperties: false },
);
export type SignedIn = Static<typeof SignedIn>;

export const TwoFactorSignIn = Type.Object(
  { code: Code, kind: Type.Enum(['totp', 'backup']), trustDevice: Type.Optional(Type.Boolean()) },
  { title: 'TwoFactorSignIn', additionalProperties: false },
);
export type TwoFactorSignIn = Static<typeof TwoFactorSignIn>;

/** Creates the owner's account; `secret` is the part of the set-up link after #. */
export const Setup = Type.Object(
  {
    secret: Type.String({ maxLength: 200 }),
    email: Email,
    name: PersonName,
    password: NewPassword,
    tenantTitle: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S' }),
    timeZone: Type.Optional(Type.String({ maxLength: 64 })),
  },
  { title: 'Setup', additionalProperties: false },
);
export type Setup = Static<typeof Setup>;

/** Options and answers of a passkey ceremony, as WebAuthn's JSON forms have them. */
export const PasskeyOptions = Type.Record(Type.String(), Type.Unknown(), { title: 'PasskeyOptions' });
export const PasskeyResponse = Type.Object(
  { response: Type.Record(Type.String(), Type.Unknown()) },
  { title: 'PasskeyResponse', additionalProperties: false },
);
