-- Times are Unix milliseconds. Every table of a tenant has a key that starts with the tenant.
-- `entry` is tenant << 40 | position: one b-tree keeps a tenant's log together and in order, and full text can use it as its row id.

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

CREATE TABLE logs (
  tenant INTEGER PRIMARY KEY,
  head INTEGER NOT NULL,     -- position of the newest entry
  first INTEGER NOT NULL,    -- oldest position still kept
  indexed INTEGER NOT NULL,  -- the search indexes know every entry up to here
  notifications INTEGER NOT NULL,
  bytes INTEGER NOT NULL
);

-- What routing decided, each distinct decision once.
CREATE TABLE routes (
  tenant INTEGER NOT NULL,
  id INTEGER NOT NULL,
  route TEXT NOT NULL,       -- JSON
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX routes_by_value ON routes (tenant, route);

CREATE TABLE notifications (
  entry INTEGER PRIMARY KEY,
  id BLOB NOT NULL,          -- UUIDv7, 16 bytes
  received_at INTEGER NOT NULL,
  title TEXT NOT NULL,
  message TEXT NOT NULL,
  level TEXT NOT NULL,
  rank INTEGER NOT NULL,
  ttl INTEGER NOT NULL,
  sent_level TEXT NOT NULL,
  sent_ttl INTEGER,
  expires_at INTEGER,
  ip TEXT,
  ip_key BLOB,               -- 16 bytes, v4 as ::ffff:a.b.c.d: comparable
  host TEXT,
  host_key TEXT,             -- lower case
  key TEXT,
  url TEXT,
  source_ip TEXT NOT NULL,
  source_ip_key BLOB NOT NULL,
  token_id TEXT NOT NULL,
  route INTEGER NOT NULL,
  muted INTEGER NOT NULL,
  throttled_on BLOB,
  throttle_count INTEGER NOT NULL
);

CREATE TABLE clears (
  entry INTEGER PRIMARY KEY,
  cleared INTEGER NOT NULL,  -- the notification's entry
  id BLOB NOT NULL,
  reason TEXT NOT NULL,
  by TEXT NOT NULL,
  at INTEGER NOT NULL,
  route INTEGER NOT NULL
);
CREATE INDEX clears_of ON clears (cleared);

-- What panels should be showing: taken out when cleared, and in the background once expired.
CREATE TABLE live (
  tenant INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  position INTEGER NOT NULL,
  expires_at INTEGER,
  key TEXT,
  route INTEGER NOT NULL,
  PRIMARY KEY (tenant, rank, position)
) WITHOUT ROWID;
CREATE INDEX live_keys ON live (tenant, key) WHERE key IS NOT NULL;

-- How many a throttle has counted on a notification.
CREATE TABLE throttle_counts (
  tenant INTEGER NOT NULL,
  id BLOB NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

-- How many of each level in each minute, and where in the log they stand: bounds for searches by time, and histograms.
CREATE TABLE minutes (
  tenant INTEGER NOT NULL,
  minute INTEGER NOT NULL,   -- received_at / 60000
  level TEXT NOT NULL,
  count INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (tenant, minute, level)
) WITHOUT ROWID;

CREATE TABLE idempotency (
  tenant INTEGER NOT NULL,
  key TEXT NOT NULL,
  hash TEXT NOT NULL,
  id BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, key)
) WITHOUT ROWID;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

CREATE TABLE receipts (
  tenant INTEGER NOT NULL,
  position INTEGER NOT NULL,
  panel_id TEXT NOT NULL,
  shown_at INTEGER,
  expired_at INTEGER,
  cleared_at INTEGER,
  PRIMARY KEY (tenant, position, panel_id)
) WITHOUT ROWID;

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

-- Search indexes -----------------------------------------------------------------------------------------------------
-- Filled off the commit path, in sorted batches, up to logs.indexed; what is newer is read from the log itself.

CREATE TABLE index_id (tenant INTEGER NOT NULL, id BLOB NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (tenant, id)) WITHOUT ROWID;

-- Which notifications have a value in a field: for each 32,768 positions a list or a bitmap of them (see `blocks.ts`). A frequent
-- value costs a bit a notification, and lists of millions are intersected in milliseconds.
CREATE TABLE postings (
  tenant INTEGER NOT NULL,
  field TEXT NOT NULL,       -- host, key, ip, source, level, token, route, state
  value NOT NULL,            -- text; bytes for addresses; a number for routes
  block INTEGER NOT NULL,    -- position / 32768
  positions BLOB NOT NULL,
  PRIMARY KEY (tenant, field, value, block)
) WITHOUT ROWID;

-- Where in the log each hour's notifications stand: few rows, so that bounds on time become bounds on positions at once.
CREATE TABLE index_hour (
  tenant INTEGER NOT NULL,
  hour INTEGER NOT NULL,     -- received_at / 3600000
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (tenant, hour)
) WITHOUT ROWID;

CREATE VIRTUAL TABLE index_text USING fts5 (
  title, message, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
);
-- The indexer merges segments a little with every slice (see indexer.ts). Automatic merges are off: commits would have to wait
-- for them. A level is written again for what was deleted in it only when that is half of it.
INSERT INTO index_text (index_text, rank) VALUES ('automerge', 0);
INSERT INTO index_text (index_text, rank) VALUES ('usermerge', 16);
INSERT INTO index_text (index_text, rank) VALUES ('crisismerge', 512);
INSERT INTO index_text (index_text, rank) VALUES ('deletemerge', 50);
