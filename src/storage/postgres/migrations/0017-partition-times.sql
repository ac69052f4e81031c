-- expands: older nodes may go on
-- Between which times the notifications of a full partition are; null: not known. A search by time leaves out the others.
ALTER TABLE partitions ADD COLUMN first_at bigint, ADD COLUMN last_at bigint;

-- The earliest time among the first `most` entries that are kept, read as in 0009-partition-lookups.sql.
CREATE FUNCTION earliest_kept(of_tenant bigint, most bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
  k logs;
  part_low bigint;
  found_at bigint;
  found_now bigint;
  missing bigint := most;
  earliest bigint;
BEGIN
  SELECT * INTO k FROM logs WHERE tenant = of_tenant;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  FOR part_low IN SELECT low FROM partitions WHERE high > k.first_row AND low <= (SELECT last_value FROM log_row) ORDER BY low LOOP
    EXECUTE format('SELECT min(at), count(*) FROM (
        SELECT at FROM %I WHERE tenant = $1 AND position >= $2 ORDER BY position LIMIT $3) kept', 'log_' || part_low)
      INTO found_at, found_now USING of_tenant, k.first, missing;
    earliest := least(earliest, found_at);
    missing := missing - found_now;
    EXIT WHEN missing <= 0;
  END LOOP;
  RETURN earliest;
END $$;
