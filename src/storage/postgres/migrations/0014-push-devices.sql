-- expands: older nodes may go on
-- Browsers and phones that get the notifications of a channel of the kind push.

CREATE TABLE push_devices (
  tenant bigint NOT NULL,
  channel text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,  -- empty: a link that no device has used yet
  sealed text COLLATE "C",         -- the subscription, encrypted with the server's key; null: as above
  created_at bigint NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  link_expires_at bigint NOT NULL,
  added_at bigint,
  last_delivered_at bigint,
  last_notification text COLLATE "C", -- what it got last: another attempt leaves it out
  last_error text COLLATE "C",        -- of the last attempt; null: it succeeded
  PRIMARY KEY (tenant, channel, id)
);
ALTER TABLE push_devices ENABLE ROW LEVEL SECURITY;
ALTER TABLE push_devices FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON push_devices USING (CASE WHEN (SELECT current_setting('belfry.tenant', true)) = 'all'
  THEN true ELSE tenant = (SELECT policy_tenant()) END);
