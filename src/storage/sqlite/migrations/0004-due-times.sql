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
CREATE INDEX due_times_due ON due_times (due_at) WHERE due_at IS NOT NULL;
