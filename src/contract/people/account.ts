/** A person's own account: password, second factor, passkeys, sessions. */
import { type Static, Type } from 'typebox';
import { component, Instant, Name, nullable } from '../schema.ts';
import { NewPassword } from './session.ts';

const Password = Type.String({ minLength: 1, maxLength: 256 });

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
