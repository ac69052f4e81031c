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
  created_by TEXT NOT NULL,
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

-- Search indexes -----------------------------------------------------------------------------------------------------
-- Filled off the commit path, in sorted batches, up to logs.indexed; what is newer is read from the log itself.

CREATE TABLE index_id (tenant INTEGER NOT NULL, id BLOB NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (tenant, id)) WITHOUT ROWID;
CREATE TABLE index_host (tenant INTEGER NOT NULL, host TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (tenant, host, position)) WITHOUT ROWID;
CREATE TABLE index_ip (tenant INTEGER NOT NULL, ip BLOB NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (tenant, ip, position)) WITHOUT ROWID;
CREATE TABLE index_source (tenant INTEGER NOT NULL, ip BLOB NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (tenant, ip, position)) WITHOUT ROWID;
CREATE TABLE index_level (tenant INTEGER NOT NULL, level TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (tenant, level, position)) WITHOUT ROWID;
CREATE TABLE index_token (tenant INTEGER NOT NULL, token_id TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (tenant, token_id, position)) WITHOUT ROWID;
CREATE TABLE index_key (tenant INTEGER NOT NULL, key TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (tenant, key, position)) WITHOUT ROWID;
CREATE TABLE index_route (tenant INTEGER NOT NULL, route INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (tenant, route, position)) WITHOUT ROWID;
CREATE VIRTUAL TABLE index_text USING fts5 (
  title, message, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'
);
