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
