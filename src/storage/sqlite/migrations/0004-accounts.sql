-- How people sign in. These tables belong to no tenant: a person may be a member of several.

CREATE TABLE sessions (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE,  -- SHA-256, base64url: what is here opens nothing
  person TEXT NOT NULL,
  remembered INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  address TEXT,
  user_agent TEXT
) WITHOUT ROWID;
CREATE INDEX sessions_person ON sessions (person);
CREATE INDEX sessions_expires ON sessions (expires_at);

-- A password (provider "credential"), or an identity at a provider.
CREATE TABLE sign_in_methods (
  id TEXT PRIMARY KEY,
  person TEXT NOT NULL,
  provider TEXT NOT NULL,
  subject TEXT NOT NULL,            -- who the person is there; for a password the person's own id
  password_hash TEXT,               -- argon2id, PHC string
  scope TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (provider, subject)
) WITHOUT ROWID;
CREATE INDEX sign_in_methods_person ON sign_in_methods (person);

-- What waits for its second half: a second factor, a passkey's challenge, a provider's answer; and trusted devices.
CREATE TABLE verifications (
  id TEXT PRIMARY KEY,
  identifier TEXT NOT NULL,         -- SHA-256 of what the browser holds
  value TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX verifications_identifier ON verifications (identifier);
CREATE INDEX verifications_expires ON verifications (expires_at);

CREATE TABLE two_factors (
  id TEXT PRIMARY KEY,
  person TEXT NOT NULL UNIQUE,
  secret TEXT NOT NULL,             -- sealed with the server's key, as the next
  backup_codes TEXT NOT NULL,
  verified INTEGER NOT NULL DEFAULT 0,
  failures INTEGER NOT NULL DEFAULT 0,
  locked_until INTEGER
) WITHOUT ROWID;

CREATE TABLE passkeys (
  id TEXT PRIMARY KEY,
  person TEXT NOT NULL,
  name TEXT,
  credential_id TEXT NOT NULL UNIQUE,
  public_key TEXT NOT NULL,
  counter INTEGER NOT NULL,
  device_type TEXT NOT NULL,
  backed_up INTEGER NOT NULL,
  transports TEXT,
  aaguid TEXT,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX passkeys_person ON passkeys (person);
