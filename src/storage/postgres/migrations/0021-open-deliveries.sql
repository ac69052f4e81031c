-- expands: older nodes may go on
-- The end of an alert goes to the channels that had the alert.

-- Of the newest delivery of an alert to a channel, until the alert's end: its key.
ALTER TABLE deliveries ADD COLUMN open_key text COLLATE "C";
CREATE INDEX deliveries_open ON deliveries (tenant, open_key, channel) WHERE open_key IS NOT NULL;

-- Queues the end of an alert for the channels that had it, except those for which it is queued anyway; answers for how many. A
-- function, as its statements see what was committed while the caller waited for the tenant's counters. It locks channels first, as
-- who deletes one does.
CREATE FUNCTION queue_resolve(of_tenant bigint, of_key text, resolve text, at_position bigint, at bigint, except_channels text[])
RETURNS bigint LANGUAGE sql AS $$
  WITH had AS MATERIALIZED (
    SELECT c.id, c.enabled FROM channels c WHERE c.tenant = of_tenant
      AND c.id IN (SELECT channel FROM deliveries WHERE tenant = of_tenant AND open_key = of_key) FOR KEY SHARE
  ),
  closed AS (
    UPDATE deliveries d SET open_key = NULL FROM had WHERE d.tenant = of_tenant AND d.open_key = of_key AND d.channel = had.id
  ),
  queued AS (
    INSERT INTO deliveries (tenant, channel, position, notification, state, queued_at)
    SELECT of_tenant, id, at_position, resolve, 'pending', at FROM had WHERE enabled = 1 AND id <> ALL (except_channels) RETURNING 1
  )
  SELECT count(*) FROM queued
$$;
