-- The end of an alert goes to the channels that had the alert.
-- Of the newest delivery of an alert to a channel, until the alert's end: its key.
ALTER TABLE deliveries ADD COLUMN open_key TEXT;
CREATE INDEX deliveries_open ON deliveries (tenant, open_key, channel) WHERE open_key IS NOT NULL;
