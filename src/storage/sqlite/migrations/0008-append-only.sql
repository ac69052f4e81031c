-- Notifications of many tenants that were committed together each changed a page of their own in two tables, because these were
-- ordered by tenant. Now both grow at their ends.

-- The live set is in the order of the log.
CREATE TABLE live_by_row (
  row INTEGER PRIMARY KEY,
  tenant INTEGER NOT NULL,
  rank INTEGER NOT NULL,
  position INTEGER NOT NULL,
  expires_at INTEGER,
  key TEXT,
  route INTEGER NOT NULL
);
INSERT INTO live_by_row (row, tenant, rank, position, expires_at, key, route)
  SELECT row, tenant, rank, position, expires_at, key, route FROM live ORDER BY row;
DROP TABLE live;
ALTER TABLE live_by_row RENAME TO live;
CREATE INDEX live_keys ON live (tenant, key) WHERE key IS NOT NULL;

-- A partition's index on positions has only those that this number divides. From there on, each entry names the one before it.
ALTER TABLE partitions ADD COLUMN position_step INTEGER NOT NULL DEFAULT 1;
-- The rows of the newest entry, of all and of a partition as far as it is indexed; 0: older than this schema.
ALTER TABLE logs ADD COLUMN head_row INTEGER NOT NULL DEFAULT 0;
ALTER TABLE partition_tenants ADD COLUMN last_row INTEGER NOT NULL DEFAULT 0;
