/** What the library calls its models and fields, and what our tables and columns are called. */
export const tableOf = {
  user: 'people',
  session: 'sessions',
  account: 'sign_in_methods',
  verification: 'verifications',
  twoFactor: 'two_factors',
  passkey: 'passkeys',
} as const;

const times = { createdAt: 'created_at', updatedAt: 'updated_at' } as const;

export const columnsOf = {
  user: { ...times, emailVerified: 'email_verified' },
  session: {
    token: 'token_hash',
    userId: 'person',
    createdAt: 'created_at',
    updatedAt: 'last_seen_at',
    expiresAt: 'expires_at',
    ipAddress: 'address',
    userAgent: 'user_agent',
  },
  account: {
    ...times,
    userId: 'person',
    providerId: 'provider',
    accountId: 'subject',
    password: 'password_hash',
  },
  verification: { ...times, expiresAt: 'expires_at' },
  twoFactor: {
    userId: 'person',
    backupCodes: 'backup_codes',
    failedVerificationCount: 'failures',
    lockedUntil: 'locked_until',
  },
  passkey: {
    userId: 'person',
    publicKey: 'public_key',
    credentialID: 'credential_id',
    deviceType: 'device_type',
    backedUp: 'backed_up',
    createdAt: 'created_at',
  },
} as const;
