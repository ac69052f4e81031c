-- Who has seen a notification. The log has an entry for it with the reason 'acknowledged' and the note as its message.
CREATE TABLE acknowledgements (
  tenant INTEGER NOT NULL,
  row INTEGER NOT NULL,      -- of the notification, in the log
  at INTEGER NOT NULL,
  by TEXT NOT NULL,
  note TEXT,
  PRIMARY KEY (tenant, row)
) WITHOUT ROWID;
