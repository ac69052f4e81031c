-- Times are Unix milliseconds. Every table of a tenant has a key that starts with the tenant.

CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES
  ('epoch', lower(hex(randomblob(5)))),  -- names this history; a restore makes a new one
  ('changes', 0),                        -- grows with every change of configuration
  ('reopened', 0);                       -- how often a failed disk made the writer open the file again

CREATE TABLE tenants (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL,
  time_zone TEXT NOT NULL DEFAULT 'UTC',
  rate TEXT,                 -- JSON; null: the server's own
  retention_days TEXT,       -- JSON number or "off"
  retention_count TEXT,
  rules_revision INTEGER NOT NULL DEFAULT 0,
  changed INTEGER NOT NULL,  -- the value of meta.changes when its configuration last changed
  created_at INTEGER NOT NULL
);
CREATE INDEX tenants_changed ON tenants (changed);

CREATE TABLE credentials (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL UNIQUE,   -- found without knowing the tenant: that is how a request learns it
  kind TEXT NOT NULL CHECK (kind IN ('token', 'key')),
  name TEXT NOT NULL,
  hash TEXT NOT NULL,
  scopes TEXT NOT NULL,      -- JSON
  role TEXT,
  rate TEXT,
  panel_id TEXT,
  allow_from TEXT NOT NULL,  -- JSON
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,  -- a name, for people to read
  maker TEXT,                -- the person or key that made it, by id: a key ends with its maker's right
  last_used_at INTEGER,
  last_used_from TEXT,
  expires_at INTEGER,
  revoked_at INTEGER,
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

CREATE TABLE levels (
  tenant INTEGER NOT NULL,
  name TEXT NOT NULL,
  rank INTEGER NOT NULL,
  color TEXT NOT NULL,
  icon TEXT NOT NULL,
  sound TEXT NOT NULL,
  duration_ms INTEGER NOT NULL,
  PRIMARY KEY (tenant, name)
) WITHOUT ROWID;

-- Rules are kept by version, so that an old notification can be explained by the rules of its time.
CREATE TABLE rules (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  since INTEGER NOT NULL,    -- rules_revision that brought this version
  until INTEGER,             -- rules_revision that ended it; null: in force
  ordinal INTEGER NOT NULL,
  spec TEXT NOT NULL,        -- JSON
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id, since)
) WITHOUT ROWID;
CREATE INDEX rules_in_force ON rules (tenant, ordinal) WHERE until IS NULL;

CREATE TABLE rule_hits (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  hits INTEGER NOT NULL,
  last_hit_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

CREATE TABLE panels (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  tags TEXT NOT NULL,        -- JSON
  location TEXT,
  display TEXT NOT NULL,     -- JSON
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER,
  cursor INTEGER,
  client TEXT,               -- what the panel's newest screen said it is, as in panel/0.1.0
  address TEXT,              -- where it connected from
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, name)
) WITHOUT ROWID;

CREATE TABLE pairings (
  secret_hash TEXT PRIMARY KEY,
  code TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  tenant INTEGER,
  panel_id TEXT,
  approved_by TEXT,
  collected_at INTEGER
) WITHOUT ROWID;

CREATE TABLE saved_searches (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  q TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, name)
) WITHOUT ROWID;

CREATE TABLE audit (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,          -- UUIDv7: in order of time
  at INTEGER NOT NULL,
  by TEXT NOT NULL,
  action TEXT NOT NULL,      -- "token.create", "rule.update" …
  subject TEXT NOT NULL,
  detail TEXT NOT NULL,      -- JSON, never a secret
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
-- The names of deleted levels and panels, by which history can still be searched.
CREATE INDEX audit_deletions ON audit (tenant, action, at, subject, detail)
  WHERE action IN ('level.delete', 'panel.delete');

-- The log ------------------------------------------------------------------------------------------------------------
-- Its rows lie in partitions: tables made and dropped by storage/sqlite/partitions.ts.

CREATE TABLE logs (
  tenant INTEGER PRIMARY KEY,
  head INTEGER NOT NULL,     -- position of the newest entry
  first INTEGER NOT NULL,    -- oldest position still kept
  first_row INTEGER NOT NULL, -- rows below this one are not kept
  notifications INTEGER NOT NULL,
  bytes INTEGER NOT NULL
);

CREATE TABLE partitions (
  id INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL,
  first_row INTEGER NOT NULL UNIQUE,
  last_row INTEGER,          -- null: it still takes rows
  indexed INTEGER NOT NULL,  -- the terms of every row up to here are indexed
  first_minute INTEGER,      -- the earliest and the latest in which a notification was received, of what is indexed
  last_minute INTEGER,
  sealed INTEGER NOT NULL    -- 1: its index is merged into one piece
);

-- What of each tenant a partition holds, as far as it is indexed.
CREATE TABLE partition_tenants (
  tenant INTEGER NOT NULL,
  partition INTEGER NOT NULL,
  entries INTEGER NOT NULL,
  first_position INTEGER NOT NULL,
  last_position INTEGER NOT NULL,
  PRIMARY KEY (tenant, partition)
) WITHOUT ROWID;
CREATE INDEX partition_tenants_partition ON partition_tenants (partition);

-- Rows from this one on were received in this minute (Unix time / 60000), until the next row here; as far as it is indexed.
CREATE TABLE row_minutes (
  row INTEGER PRIMARY KEY,
  minute INTEGER NOT NULL
);

-- The levels of rows from this one on, a byte each: a number in `names`. As far as it is indexed.
CREATE TABLE row_levels (
  row INTEGER PRIMARY KEY,
  names TEXT NOT NULL,       -- JSON
  levels BLOB NOT NULL
);

-- How many of each level in each minute, as far as it is indexed.
CREATE TABLE minutes (
  partition INTEGER NOT NULL,
  tenant INTEGER NOT NULL,
  minute INTEGER NOT NULL,
  level TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (partition, tenant, minute, level)
) WITHOUT ROWID;

-- What routing decided, each distinct decision once; dropped with the last partition that used it.
CREATE TABLE routes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  route TEXT NOT NULL,       -- JSON
  partition INTEGER NOT NULL -- the newest whose rows refer to it
);
CREATE UNIQUE INDEX routes_by_value ON routes (tenant, route);

-- What panels should be showing: taken out when cleared, and in the background once expired.
CREATE TABLE live (
  tenant INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  position INTEGER NOT NULL,
  row INTEGER NOT NULL,
  expires_at INTEGER,
  key TEXT,
  route INTEGER NOT NULL,
  PRIMARY KEY (tenant, rank, position)
) WITHOUT ROWID;
CREATE INDEX live_keys ON live (tenant, key) WHERE key IS NOT NULL;

CREATE TABLE idempotency (
  tenant INTEGER NOT NULL,
  key TEXT NOT NULL,
  hash TEXT NOT NULL,
  id BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

-- Generations of partitions that are no longer, or not yet, in use: their tables are to be dropped.
CREATE TABLE retired_partitions (
  id INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  first_row INTEGER NOT NULL,
  last_row INTEGER NOT NULL,
  whole INTEGER NOT NULL,    -- 1: the partition is gone; 0: another generation of it is in use
  PRIMARY KEY (id, generation)
);

-- People, the tenants they belong to, and invitations ---------------------------------------------------------------------

-- A person is of no tenant: `members` says of which. How one signs in stands in tables of its own.
CREATE TABLE people (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  name TEXT NOT NULL,
  email_verified INTEGER NOT NULL DEFAULT 0,
  image TEXT,
  two_factor_enabled INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE members (
  tenant INTEGER NOT NULL,
  person TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  joined_at INTEGER NOT NULL,
  last_seen_at INTEGER,
  PRIMARY KEY (tenant, person)
) WITHOUT ROWID;
CREATE INDEX members_of_person ON members (person);

-- One waits until it is accepted, withdrawn or expired; what no longer waits is swept.
CREATE TABLE invitations (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE,  -- found without knowing the tenant, as credentials are
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  email TEXT COLLATE NOCASE, -- only this address may accept; null: whoever has the link
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  accepted_at INTEGER,
  withdrawn_at INTEGER,
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX invitations_expiry ON invitations (expires_at);

-- How people sign in ------------------------------------------------------------------------------------------------------
-- These tables belong to no tenant: a person may be a member of several.

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
-- One way of each kind: an address that was given to somebody else at a provider does not open the account.
CREATE UNIQUE INDEX sign_in_methods_person ON sign_in_methods (person, provider);

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
