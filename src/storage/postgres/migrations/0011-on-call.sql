-- expands: older nodes may go on
-- Who takes care of alarms at which time.
CREATE TABLE on_call (
  tenant bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  spec text COLLATE "C" NOT NULL, -- JSON: time zone, people, rota or calendar
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  copy text COLLATE "C", -- JSON: the events of the calendar, as they were last read
  etag text COLLATE "C",
  read_at bigint, -- when the calendar was last read without error
  failing_since bigint,
  error text COLLATE "C",
  read_due_at bigint, -- null: there is no calendar
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, name)
);

CREATE INDEX on_call_due ON on_call (read_due_at) WHERE read_due_at IS NOT NULL;

ALTER TABLE on_call ENABLE ROW LEVEL SECURITY;
ALTER TABLE on_call FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON on_call USING (CASE WHEN (SELECT current_setting('belfry.tenant', true)) = 'all'
  THEN true ELSE tenant = (SELECT policy_tenant()) END);
