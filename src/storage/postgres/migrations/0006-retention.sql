-- expands: older nodes may go on
-- Whether some tenant keeps a row of a partition, or may still write one: one look into the index for each tenant.
CREATE FUNCTION is_kept(of_low bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  kept boolean;
BEGIN
  IF NOT EXISTS (SELECT 1 FROM partitions WHERE low = of_low AND high <= (SELECT last_value FROM log_row)) THEN
    RETURN true;
  END IF;
  EXECUTE format('SELECT EXISTS (SELECT 1 FROM logs k CROSS JOIN LATERAL (
    SELECT 1 FROM %I g WHERE g.tenant = k.tenant AND g.position >= k.first LIMIT 1) g)', 'log_' || of_low) INTO kept;
  RETURN kept;
END $$;

-- Drops a partition of which no tenant keeps a row; false when it is kept, or may still take rows. Nothing is written to the
-- log meanwhile: writers hold a lock on it from the start of their statement.
CREATE OR REPLACE FUNCTION drop_partition(of_low bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  parent text;
BEGIN
  SET LOCAL lock_timeout = '100ms';
  LOCK TABLE ONLY log IN ACCESS EXCLUSIVE MODE;
  IF is_kept(of_low) THEN
    RETURN false;
  END IF;
  FOREACH parent IN ARRAY ARRAY['log', 'log_state', 'receipts'] LOOP
    EXECUTE format('DROP TABLE %I', parent || '_' || of_low);
  END LOOP;
  DELETE FROM partitions WHERE low = of_low;
  RETURN true;
END $$;
