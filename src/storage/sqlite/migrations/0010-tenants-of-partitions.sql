-- A tenant's first entry in a partition lists it there; nothing is written again until its first entry in a newer one.
CREATE TABLE tenants_of_partitions (
  tenant INTEGER NOT NULL,
  partition INTEGER NOT NULL,
  first_position INTEGER NOT NULL,
  last_position INTEGER,     -- null in the tenant's newest partition: the head of its log
  last_row INTEGER,
  PRIMARY KEY (tenant, partition)
) WITHOUT ROWID;
INSERT INTO tenants_of_partitions
  SELECT tenant, partition, first_position,
    iif(partition = newest, NULL, last_position), iif(partition = newest, NULL, last_row)
  FROM (SELECT *, max(partition) OVER (PARTITION BY tenant) AS newest FROM partition_tenants);
DROP TABLE partition_tenants;
ALTER TABLE tenants_of_partitions RENAME TO partition_tenants;
CREATE INDEX partition_tenants_partition ON partition_tenants (partition);
