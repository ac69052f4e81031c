-- expands: older nodes may go on
-- A statement on `log` locks the table and the indexes of every partition. These read the partitions that can hold the answer,
-- the newest first, as most of what is asked for is new. No policy holds on a partition, so they begin with the tenant's
-- counters, on which one does: who may not see those gets nothing.

-- The notification with an id; none when it is not kept.
CREATE FUNCTION find_entry(of_tenant bigint, of_id uuid) RETURNS SETOF log LANGUAGE plpgsql STABLE AS $$
DECLARE
  k logs;
  part_low bigint;
BEGIN
  SELECT * INTO k FROM logs WHERE tenant = of_tenant;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  FOR part_low IN SELECT low FROM partitions WHERE high > k.first_row AND low <= (SELECT last_value FROM log_row) ORDER BY low DESC LOOP
    RETURN QUERY EXECUTE format('SELECT * FROM (SELECT * FROM %I WHERE id = $1 OFFSET 0) g
      WHERE tenant = $2 AND cleared IS NULL AND row >= $3', 'log_' || part_low)
      USING of_id, of_tenant, k.first_row;
    IF FOUND THEN
      RETURN;
    END IF;
  END LOOP;
END $$;

-- The entries after a position in their order, `most` at the most.
CREATE FUNCTION read_after(of_tenant bigint, after bigint, most bigint) RETURNS SETOF log LANGUAGE plpgsql STABLE AS $$
DECLARE
  k logs;
  part_low bigint;
  lowest bigint;
  from_position bigint;
  parts bigint[] := '{}';
  found_now bigint;
  missing bigint := most;
BEGIN
  SELECT * INTO k FROM logs WHERE tenant = of_tenant;
  IF NOT FOUND OR after >= k.head THEN
    RETURN;
  END IF;
  from_position := greatest(after + 1, k.first);
  FOR part_low IN SELECT low FROM partitions WHERE high > k.first_row AND low <= (SELECT last_value FROM log_row) ORDER BY low DESC LOOP
    EXECUTE format('SELECT position FROM %I WHERE tenant = $1 ORDER BY position LIMIT 1', 'log_' || part_low) INTO lowest USING of_tenant;
    CONTINUE WHEN lowest IS NULL;
    parts := part_low || parts;
    EXIT WHEN lowest <= from_position;
  END LOOP;
  FOREACH part_low IN ARRAY parts LOOP
    RETURN QUERY EXECUTE format('SELECT * FROM %I WHERE tenant = $1 AND position >= $2 ORDER BY position LIMIT $3', 'log_' || part_low)
      USING of_tenant, from_position, missing;
    GET DIAGNOSTICS found_now = ROW_COUNT;
    missing := missing - found_now;
    EXIT WHEN missing <= 0;
  END LOOP;
END $$;
