/** A person's own account: password, second factor, passkeys, sessions. */
import { type Static, Type } from 'typebox';
import { NewPassword, PersonName } from './session.ts';

const Password = Type.String({ minLength: 1, maxLength: 256 });
const Instant = Type.String({ format: 'date-time' });

export const AccountPatch = Type.Object(
  { name: PersonName },
  { title: 'AccountPatch', additionalProperties: false },
);
export type AccountPatch = Static<typeof AccountPatch>;

/** Ends every other session of the person. */
export const PasswordChange = Type.Object(
  { currentPassword: Password, newPassword: NewPassword },
  { title: 'PasswordChange', additionalProperties: false },
);
export type PasswordChange = Static<typeof PasswordChange>;

export const PasswordProof = Type.Object(
  { password: Password },
  { title: 'PasswordProof', additionalProperties: false },
);

/** By what a person can prove that it is them; `provider`: by signing in again there. */
export const ProofState = Type.Object(
  {
    proven: Type.Boolean({ description: 'The sign-in or a proof was just now: nothing more is asked for.' }),
    password: Type.Boolean(),
    passkey: Type.Boolean(),
    provider: Type.Boolean(),
  },
  { title: 'ProofState', additionalProperties: false },
);
export type ProofState = Static<typeof ProofState>;

export const Proof = Type.Object(
  {
    password: Type.Optional(Password),
    response: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        description:
          'What navigator.credentials.get() gave for the options of POST /api/session/passkey/options.',
      }),
    ),
  },
  { title: 'Proof', additionalProperties: false, minProperties: 1, maxProperties: 1 },
);

/** Shown once: the secret is in force only after it was proven by a code. */
export const TwoFactorBegun = Type.Object(
  { totpUri: Type.String(), backupCodes: Type.Array(Type.String()) },
  { title: 'TwoFactorBegun', additionalProperties: false },
);
export type TwoFactorBegun = Static<typeof TwoFactorBegun>;

export const TwoFactorCode = Type.Object(
  { code: Type.String({ pattern: '^[0-9]{6}$' }) },
  { title: 'TwoFactorCode', additionalProperties: false },
);

export const BackupCodes = Type.Object(
  { backupCodes: Type.Array(Type.String()) },
  { title: 'BackupCodes', additionalProperties: false },
);

export const AccountSession = Type.Object(
  {
    id: Type.String(),
    current: Type.Boolean({ description: 'The one that asks.' }),
    createdAt: Instant,
    lastSeenAt: Instant,
    expiresAt: Instant,
    address: Type.Union([Type.String(), Type.Null()]),
    userAgent: Type.Union([Type.String(), Type.Null()]),
  },
  { title: 'AccountSession', additionalProperties: false },
);
export type AccountSession = Static<typeof AccountSession>;

export const AccountSessionList = Type.Object(
  { sessions: Type.Array(AccountSession) },
  { title: 'AccountSessionList', additionalProperties: false },
);

export const Passkey = Type.Object(
  { id: Type.String(), name: Type.String(), createdAt: Instant },
  { title: 'Passkey', additionalProperties: false },
);
export type Passkey = Static<typeof Passkey>;

export const PasskeyList = Type.Object(
  { passkeys: Type.Array(Passkey) },
  { title: 'PasskeyList', additionalProperties: false },
);

export const PasskeyAdd = Type.Object(
  { name: PersonName, response: Type.Record(Type.String(), Type.Unknown()) },
  { title: 'PasskeyAdd', additionalProperties: false },
);
