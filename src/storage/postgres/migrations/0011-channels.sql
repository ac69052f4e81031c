-- expands: older nodes may go on
-- Ways out of a tenant, and what is queued for them.

CREATE TABLE channels (
  tenant bigint NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  enabled bigint NOT NULL,               -- 0 or 1
  settings text COLLATE "C" NOT NULL,    -- JSON
  secrets text COLLATE "C" NOT NULL,     -- JSON: their names
  sealed text COLLATE "C",               -- the secrets, encrypted with the server's key
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  -- How its deliveries go: no change of configuration.
  failures bigint NOT NULL DEFAULT 0,
  failing_since bigint,
  retry_at bigint NOT NULL DEFAULT 0,
  last_delivered_at bigint,
  last_error text COLLATE "C",
  lease_holder text COLLATE "C",
  lease_until bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant, id),
  UNIQUE (tenant, name)
);

CREATE TABLE deliveries (
  tenant bigint NOT NULL,
  channel text COLLATE "C" NOT NULL,
  position bigint NOT NULL,              -- the notification's: deliveries of a channel are in this order
  notification text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,       -- pending, delivered or failed
  attempts bigint NOT NULL DEFAULT 0,
  queued_at bigint NOT NULL,
  finished_at bigint,
  answer text COLLATE "C",               -- what came of the last attempt
  PRIMARY KEY (tenant, channel, position)
);
CREATE INDEX deliveries_pending ON deliveries (tenant, channel, position) WHERE state = 'pending';
CREATE INDEX deliveries_notification ON deliveries (tenant, notification);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['channels', 'deliveries'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY of_tenant ON %I USING (CASE WHEN (SELECT current_setting(''belfry.tenant'', true)) = ''all''
      THEN true ELSE tenant = (SELECT policy_tenant()) END)', name);
  END LOOP;
END $$;
