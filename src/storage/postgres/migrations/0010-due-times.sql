-- expands: older nodes may go on
-- What is to happen at a time: an expected notification that has not come, an escalation, a look at a panel.
CREATE TABLE due_times (
  tenant bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  due_at bigint,             -- null: nothing is to happen until it is written anew
  version text NOT NULL,     -- another one with each change
  data text NOT NULL,        -- JSON
  PRIMARY KEY (tenant, kind, subject)
);
CREATE INDEX due_times_due ON due_times (due_at) WHERE due_at IS NOT NULL;
ALTER TABLE due_times ENABLE ROW LEVEL SECURITY;
ALTER TABLE due_times FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON due_times USING (CASE WHEN (SELECT current_setting('belfry.tenant', true)) = 'all'
  THEN true ELSE tenant = (SELECT policy_tenant()) END);
