-- Ways out of a tenant, and what is queued for them.

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
  PRIMARY KEY (tenant, channel, position)
) WITHOUT ROWID;
CREATE INDEX deliveries_pending ON deliveries (tenant, channel, position) WHERE state = 'pending';
CREATE INDEX deliveries_notification ON deliveries (tenant, notification);
