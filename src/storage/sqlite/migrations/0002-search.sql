-- More for searches, filled like the other indexes and up to the same mark.

-- Where in the log each hour's notifications stand: few rows, so that bounds on time become bounds on positions at once.
CREATE TABLE index_hour (
  tenant INTEGER NOT NULL,
  hour INTEGER NOT NULL,     -- received_at / 3600000
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (tenant, hour)
) WITHOUT ROWID;

-- States that nothing else leads to: "throttled"; "expires" for what goes to panels and does not stay; "unseen" for what goes to
-- panels and was not shown when it was indexed.
CREATE TABLE index_state (tenant INTEGER NOT NULL, state TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (tenant, state, position)) WITHOUT ROWID;
