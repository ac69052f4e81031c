import { type Static, Type } from 'typebox';
import { component, Instant, Name, NamedRef, nullable, patch, RateLimit } from '../schema.ts';
import { roles } from './token.ts';

const limit = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Literal('off'), Type.Null()]);

const settings = {
  title: Type.String({ minLength: 1, maxLength: 100 }),
  timeZone: Type.String({ minLength: 1, maxLength: 64, description: 'IANA name, as in Europe/Berlin.' }),
  rate: RateLimit,
  retentionDays: limit(Type.Integer({ minimum: 1, maximum: 36_500 })),
  retentionCount: limit(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
};

const TenantName = Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,62}$' });

const offOr = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) =>
  Type.Union([schema, Type.Literal('off')]);

const bounds = Type.Object(
  {
    rate: offOr(Type.Object({ perSecond: Type.Number(), burst: Type.Integer() })),
    retentionDays: offOr(Type.Integer()),
    retentionCount: offOr(Type.Integer()),
  },
  { description: 'The most that the settings may be, as the operator of the server set it.' },
);

export const Tenant = component('Tenant', { name: TenantName, ...settings, bounds, createdAt: Instant });
export type Tenant = Static<typeof Tenant>;

export const TenantCreate = component('TenantCreate', {
  name: TenantName,
  title: Name,
  timeZone: Type.Optional(settings.timeZone),
});

export const TenantPatch = patch('TenantPatch', settings);
export type TenantPatch = Static<typeof TenantPatch>;

/** Who is signed in, and how one signs in. */

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

/** A person's own account: password, second factor, passkeys, sessions. */

export const AccountPatch = component('AccountPatch', { name: Name });
export type AccountPatch = Static<typeof AccountPatch>;

/** Ends every other session of the person. */
export const PasswordChange = component('PasswordChange', {
  currentPassword: Password,
  newPassword: NewPassword,
});
export type PasswordChange = Static<typeof PasswordChange>;

export const PasswordProof = component('PasswordProof', { password: Password });

/** How a person can confirm their identity; `provider`: by signing in there again. */
export const ProofState = component('ProofState', {
  proven: Type.Boolean({
    description: 'The person signed in or confirmed their identity recently; no confirmation is needed.',
  }),
  password: Type.Boolean(),
  passkey: Type.Boolean(),
  provider: Type.Boolean(),
});
export type ProofState = Static<typeof ProofState>;

export const Proof = component(
  'Proof',
  {
    password: Type.Optional(Password),
    response: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'What navigator.credentials.get() gave for the options of POST /api/session/passkey/options.',
      }),
    ),
  },
  { minProperties: 1, maxProperties: 1 },
);

/** Shown once: the secret is in force only after it was proven by a code. */
export const TwoFactorBegun = component('TwoFactorBegun', {
  totpUri: Type.String(),
  backupCodes: Type.Array(Type.String()),
});
export type TwoFactorBegun = Static<typeof TwoFactorBegun>;

export const TwoFactorCode = component('TwoFactorCode', { code: Type.String({ pattern: '^[0-9]{6}$' }) });

export const BackupCodes = component('BackupCodes', { backupCodes: Type.Array(Type.String()) });

export const AccountSession = component('AccountSession', {
  id: Type.String(),
  current: Type.Boolean({ description: 'The one that asks.' }),
  createdAt: Instant,
  lastSeenAt: Instant,
  expiresAt: Instant,
  address: nullable(Type.String()),
  userAgent: nullable(Type.String()),
});
export type AccountSession = Static<typeof AccountSession>;

export const AccountSessionList = component('AccountSessionList', { sessions: Type.Array(AccountSession) });

export const Passkey = component('Passkey', { id: Type.String(), name: Type.String(), createdAt: Instant });
export type Passkey = Static<typeof Passkey>;

export const PasskeyList = component('PasskeyList', { passkeys: Type.Array(Passkey) });

export const PasskeyAdd = component('PasskeyAdd', {
  name: Name,
  response: Type.Record(Type.String(), Type.Unknown()),
});
