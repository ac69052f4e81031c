-- Who takes care of alarms at which time.
CREATE TABLE on_call (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  spec TEXT NOT NULL, -- JSON: time zone, people, rota or calendar
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  copy TEXT, -- JSON: the events of the calendar, as they were last read
  etag TEXT,
  read_at INTEGER, -- when the calendar was last read without error
  failing_since INTEGER,
  error TEXT,
  read_due_at INTEGER, -- null: there is no calendar
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, name)
) WITHOUT ROWID;

CREATE INDEX on_call_due ON on_call (read_due_at) WHERE read_due_at IS NOT NULL;
