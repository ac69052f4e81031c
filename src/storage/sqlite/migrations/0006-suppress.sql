-- Who takes care of an alarm, and which alarms are off the panels while another one stands. A cause and what it suppresses have a key in
-- common, as their routes say. Of a suppressed one, `shelved` has the JSON of at and by: since when, and a notification of its cause.
ALTER TABLE live ADD COLUMN owner TEXT;        -- JSON: id and name
ALTER TABLE live ADD COLUMN follows TEXT;      -- JSON: the keys by which it is suppressed while a cause stands
ALTER TABLE live ADD COLUMN suppressed TEXT;   -- the one of these by which it is now; null: it is not

-- The keys by which live notifications suppress others. Those of notifications that are no longer live are removed from time to time.
CREATE TABLE alarm_causes (
  tenant INTEGER NOT NULL,
  key TEXT NOT NULL,
  row INTEGER NOT NULL,     -- of the notification, in the log
  rule TEXT NOT NULL,       -- what the key was made of
  is_new INTEGER NOT NULL,  -- 1: alarms that stood before have not been looked at
  PRIMARY KEY (tenant, key, row)
) WITHOUT ROWID;

CREATE INDEX alarm_causes_new ON alarm_causes (tenant) WHERE is_new = 1;
CREATE INDEX live_suppressed ON live (tenant, suppressed) WHERE suppressed IS NOT NULL;
CREATE INDEX live_follows ON live (tenant) WHERE follows IS NOT NULL AND suppressed IS NULL;
