/** Who is signed in, and how one signs in. */
import { type Static, Type } from 'typebox';
import { component, Name, NamedRef, nullable } from '../schema.ts';
import { TenantName } from './tenant.ts';
import { roles } from './token.ts';

export const Email = Type.String({ minLength: 3, maxLength: 254, pattern: '^\\S+@\\S+$' });
/** At least ten characters; the server also refuses common passwords. */
export const NewPassword = Type.String({ minLength: 10, maxLength: 256 });
const Password = Type.String({ minLength: 1, maxLength: 256 });
const Code = Type.String({ minLength: 6, maxLength: 32 });

export const Person = component('Person', {
  id: Type.String(),
  email: Type.String(),
  name: Type.String(),
  twoFactor: Type.Boolean(),
});
export type Person = Static<typeof Person>;

export const Membership = component('Membership', {
  name: TenantName,
  title: Type.String(),
  timeZone: Type.String(),
  role: Type.Enum([...roles]),
  suspended: Type.Boolean({
    description: 'The operator of the server has suspended it: requests for it are a 403.',
  }),
});
export type Membership = Static<typeof Membership>;

/** What a page asks first. */
export const Session = component('Session', {
  person: nullable(Person, { description: 'null: nobody is signed in.' }),
  tenants: Type.Array(Membership, { description: 'Those the person belongs to, by title.' }),
  needsSetup: Type.Boolean({ description: 'There is no account yet: open the setup link.' }),
  providers: Type.Array(NamedRef, {
    description: 'Identity providers that one can sign in with.',
  }),
  version: Type.String(),
});
export type Session = Static<typeof Session>;

export const SignIn = component('SignIn', {
  email: Type.String({ maxLength: 254 }),
  password: Password,
  remember: Type.Optional(Type.Boolean()),
});
export type SignIn = Static<typeof SignIn>;

/** `twoFactor`: the password was right, and POST /api/session/two-factor must follow. */
export const SignedIn = component('SignedIn', { ok: Type.Literal(true), twoFactor: Type.Boolean() });
export type SignedIn = Static<typeof SignedIn>;

export const TwoFactorSignIn = component('TwoFactorSignIn', {
  code: Code,
  kind: Type.Enum(['totp', 'backup']),
  trustDevice: Type.Optional(Type.Boolean()),
});
export type TwoFactorSignIn = Static<typeof TwoFactorSignIn>;

/** Creates the owner's account; `secret` is the part of the setup link after #. */
export const Setup = component('Setup', {
  secret: Type.String({ maxLength: 200 }),
  email: Email,
  name: Name,
  password: NewPassword,
  tenantTitle: Name,
  timeZone: Type.Optional(Type.String({ maxLength: 64 })),
});
export type Setup = Static<typeof Setup>;

/** Options and answers of a passkey ceremony, as WebAuthn's JSON forms have them. */
export const PasskeyOptions = Type.Record(Type.String(), Type.Unknown(), { title: 'PasskeyOptions' });
export const PasskeyResponse = component('PasskeyResponse', {
  response: Type.Record(Type.String(), Type.Unknown()),
});
