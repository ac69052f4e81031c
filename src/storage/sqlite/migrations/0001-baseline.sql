-- The schema of the first release: tables, then their indexes.
-- Times are Unix milliseconds. Every table of a tenant has a key that starts with the tenant.

-- Tables: the database, tenants and their configuration -----------------------------------------------------------------

CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO meta VALUES
  ('baseline', '1'),                     -- no database from before the first release has this row
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
  created_at INTEGER NOT NULL,
  rules_from INTEGER NOT NULL DEFAULT 0, -- rules can be read as they were at this revision, and at later ones
  -- active, suspended, deleting (its data is being removed) or deleted (nothing is left but this row, so that its number is not used again)
  state TEXT NOT NULL DEFAULT 'active'
);

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
  allow_in_url INTEGER NOT NULL DEFAULT 0, -- 1: the token may be the parameter `token` of a URL
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
  repeat_ms INTEGER,         -- panels repeat the sound until the notification is acknowledged
  PRIMARY KEY (tenant, name)
) WITHOUT ROWID;

-- Rules are kept by version, so that an old notification can be explained by the rules of its time. The oldest versions are deleted beyond
-- a size, so a revision may be stored in a route and no longer be known.
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
  client TEXT,               -- what the panel's newest screen said it is, as in panel/0.9.0
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

-- How a tenant reads payloads that no integration knows.
CREATE TABLE mappings (
  tenant INTEGER NOT NULL,
  name TEXT NOT NULL,
  spec TEXT NOT NULL, -- JSON
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  PRIMARY KEY (tenant, name)
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

-- What is to happen at a time: an expected notification that has not come, an escalation, a look at a panel.
CREATE TABLE due_times (
  tenant INTEGER NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  due_at INTEGER,            -- null: nothing is to happen until it is written anew
  version TEXT NOT NULL,     -- another one with each change
  data TEXT NOT NULL,        -- JSON
  PRIMARY KEY (tenant, kind, subject)
) WITHOUT ROWID;

-- Tables: channels, and what is queued for them -------------------------------------------------------------------------

CREATE TABLE channels (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  enabled INTEGER NOT NULL,  -- 0 or 1
  settings TEXT NOT NULL,    -- JSON
  secrets TEXT NOT NULL,     -- JSON: their names
  sealed TEXT,               -- the secrets, encrypted with the server's key
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- How its deliveries go: no change of configuration.
  failures INTEGER NOT NULL DEFAULT 0,
  failing_since INTEGER,
  retry_at INTEGER NOT NULL DEFAULT 0,
  last_delivered_at INTEGER,
  last_error TEXT,
  lease_holder TEXT,
  lease_until INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, name)
) WITHOUT ROWID;

CREATE TABLE deliveries (
  tenant INTEGER NOT NULL,
  channel TEXT NOT NULL,
  position INTEGER NOT NULL, -- the notification's: deliveries of a channel are in this order
  notification TEXT NOT NULL,
  state TEXT NOT NULL,       -- pending, delivered or failed
  attempts INTEGER NOT NULL DEFAULT 0,
  queued_at INTEGER NOT NULL,
  finished_at INTEGER,
  answer TEXT,               -- what came of the last attempt
  open_key TEXT,             -- of the newest delivery of an alert to a channel, until the alert's end: its key
  PRIMARY KEY (tenant, channel, position)
) WITHOUT ROWID;

-- Browsers and phones that get the notifications of a channel of the kind push.
CREATE TABLE push_devices (
  tenant INTEGER NOT NULL,
  channel TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,            -- empty: a link that no device has used yet
  sealed TEXT,                   -- the subscription, encrypted with the server's key; null: as above
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  link_expires_at INTEGER NOT NULL,
  added_at INTEGER,
  last_delivered_at INTEGER,
  last_notification TEXT,        -- what it got last: another attempt leaves it out
  last_error TEXT,               -- of the last attempt; null: it succeeded
  PRIMARY KEY (tenant, channel, id)
) WITHOUT ROWID;

-- Tables: the log -------------------------------------------------------------------------------------------------------

-- Its rows are in partitions: tables that storage/sqlite/log/partitions.ts creates and drops.

CREATE TABLE logs (
  tenant INTEGER PRIMARY KEY,
  head INTEGER NOT NULL,     -- position of the newest entry
  first INTEGER NOT NULL,    -- oldest position still kept
  first_row INTEGER NOT NULL, -- rows below this one are not kept
  notifications INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  head_row INTEGER NOT NULL DEFAULT 0 -- row of the newest entry; 0: there is none
);

CREATE TABLE partitions (
  id INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL,
  first_row INTEGER NOT NULL UNIQUE,
  last_row INTEGER,          -- null: it still takes rows
  indexed INTEGER NOT NULL,  -- the terms of every row up to here are indexed
  first_minute INTEGER,      -- the earliest and the latest in which a notification was received, of what is indexed
  last_minute INTEGER,
  sealed INTEGER NOT NULL,    -- 1: its index is merged into one piece
  -- The index on positions has only those that this number divides. From there on, each entry names the one before it.
  position_step INTEGER NOT NULL DEFAULT 1
);

-- A tenant's first entry in a partition lists it there; nothing is written again until its first entry in a newer one.
CREATE TABLE partition_tenants (
  tenant INTEGER NOT NULL,
  partition INTEGER NOT NULL,
  first_position INTEGER NOT NULL,
  last_position INTEGER,     -- null in the tenant's newest partition: the head of its log
  last_row INTEGER,
  PRIMARY KEY (tenant, partition)
) WITHOUT ROWID;

-- Generations of partitions that are no longer, or not yet, in use: their tables are to be dropped.
CREATE TABLE retired_partitions (
  id INTEGER NOT NULL,
  generation INTEGER NOT NULL,
  first_row INTEGER NOT NULL,
  last_row INTEGER NOT NULL,
  whole INTEGER NOT NULL,    -- 1: the partition is gone; 0: another generation of it is in use
  PRIMARY KEY (id, generation)
);

-- Rows from this one on were received in this minute (Unix time / 60000), until the next row here; as far as it is indexed.
CREATE TABLE row_minutes (
  row INTEGER PRIMARY KEY,
  minute INTEGER NOT NULL
);

-- What routing decided, each distinct decision once; dropped with the last partition that used it.
CREATE TABLE routes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tenant INTEGER NOT NULL,
  route TEXT NOT NULL,       -- JSON
  partition INTEGER NOT NULL -- the newest whose rows refer to it
);

-- What panels should be showing: taken out when cleared, and in the background once expired. In the order of the log: notifications of
-- many tenants that are committed together change the pages at its end.
CREATE TABLE live (
  row INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  position INTEGER NOT NULL,
  expires_at INTEGER,
  key TEXT,
  route INTEGER NOT NULL
);

-- Who has seen a notification. The log has an entry for it with the reason 'acknowledged' and the note as its message.
CREATE TABLE acknowledgements (
  tenant INTEGER NOT NULL,
  row INTEGER NOT NULL,      -- of the notification, in the log
  at INTEGER NOT NULL,
  by TEXT NOT NULL,
  note TEXT,
  PRIMARY KEY (tenant, row)
) WITHOUT ROWID;

CREATE TABLE idempotency (
  tenant INTEGER NOT NULL,
  key TEXT NOT NULL,
  hash TEXT NOT NULL,
  id BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, key)
) WITHOUT ROWID;

-- Tables: people, and the tenants they belong to ------------------------------------------------------------------------

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

-- Tables: how people sign in --------------------------------------------------------------------------------------------

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
  user_agent TEXT,
  reauthenticated_at INTEGER       -- when the person last confirmed their identity in it, after the sign-in
) WITHOUT ROWID;

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

-- What waits for its second half: a second factor, a passkey's challenge, a provider's answer; and trusted devices.
CREATE TABLE verifications (
  id TEXT PRIMARY KEY,
  identifier TEXT NOT NULL,         -- SHA-256 of what the browser holds
  value TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;

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

-- Indexes ---------------------------------------------------------------------------------------------------------------

CREATE INDEX tenants_changed ON tenants (changed);
CREATE INDEX rules_in_force ON rules (tenant, ordinal) WHERE until IS NULL;
CREATE INDEX rules_ended ON rules (tenant, until) WHERE until IS NOT NULL;

-- The names of deleted levels and panels, by which history can still be searched.
CREATE INDEX audit_deletions ON audit (tenant, action, at, subject, detail)
  WHERE action IN ('level.delete', 'panel.delete');

CREATE INDEX due_times_due ON due_times (due_at) WHERE due_at IS NOT NULL;

CREATE INDEX deliveries_pending ON deliveries (tenant, channel, position) WHERE state = 'pending';
CREATE INDEX deliveries_notification ON deliveries (tenant, notification);
CREATE INDEX deliveries_open ON deliveries (tenant, open_key, channel) WHERE open_key IS NOT NULL;

CREATE INDEX partition_tenants_partition ON partition_tenants (partition);
CREATE UNIQUE INDEX routes_by_value ON routes (tenant, route);
CREATE INDEX live_keys ON live (tenant, key) WHERE key IS NOT NULL;
CREATE INDEX idempotency_expiry ON idempotency (expires_at);

CREATE INDEX members_of_person ON members (person);
CREATE INDEX invitations_expiry ON invitations (expires_at);

CREATE INDEX sessions_person ON sessions (person);
CREATE INDEX sessions_expires ON sessions (expires_at);

-- One way of each kind: an address that was given to somebody else at a provider does not open the account.
CREATE UNIQUE INDEX sign_in_methods_person ON sign_in_methods (person, provider);

CREATE INDEX verifications_identifier ON verifications (identifier);
CREATE INDEX verifications_expires ON verifications (expires_at);
CREATE INDEX passkeys_person ON passkeys (person);
