-- What an alarm remembers of the notifications before the one that is live. Rows from before this have nulls: no memory.
ALTER TABLE live ADD COLUMN since INTEGER;         -- when the first was received
ALTER TABLE live ADD COLUMN earlier INTEGER;       -- how many came before this one, also those that throttles counted
ALTER TABLE live ADD COLUMN highest_level TEXT;    -- null: no earlier one had a higher level
ALTER TABLE live ADD COLUMN highest_rank INTEGER;
ALTER TABLE live ADD COLUMN shelved TEXT;          -- JSON: at, by, note, until and rank; null: it is on its panels
ALTER TABLE live ADD COLUMN returns_at INTEGER;    -- when its shelf or its acknowledgement ends
ALTER TABLE acknowledgements ADD COLUMN until INTEGER;

-- Which entries of the log are about a notification: acknowledgements, shelvings and returns.
CREATE TABLE alarm_entries (
  tenant INTEGER NOT NULL,
  row INTEGER NOT NULL,      -- of the notification, in the log
  position INTEGER NOT NULL, -- of the entry
  PRIMARY KEY (tenant, row, position)
) WITHOUT ROWID;

CREATE INDEX live_returns ON live (returns_at) WHERE returns_at IS NOT NULL;
