-- expands: older nodes may go on
-- A notification is looked for in the partitions that may have its id by the time in it, and in those whose times are not known
-- yet. An id is made when its notification is received; a minute is more than a small step of the clock may put between them.

-- The time in an id, Unix milliseconds.
CREATE FUNCTION time_of_id(id uuid) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
  SELECT ('x' || translate(left(id::text, 13), '-', ''))::bit(48)::bigint
$$;

CREATE OR REPLACE FUNCTION find_entry(of_tenant bigint, of_id uuid) RETURNS SETOF log LANGUAGE sql STABLE AS $$
  SELECT * FROM find_entries(of_tenant, ARRAY[of_id])
$$;

CREATE OR REPLACE FUNCTION find_entries(of_tenant bigint, ids uuid[]) RETURNS SETOF log LANGUAGE plpgsql STABLE AS $$
DECLARE
  k logs;
  slack constant bigint := 60000;
  times bigint[] := array(SELECT time_of_id(id) FROM unnest(ids) WITH ORDINALITY AS w (id, nth) ORDER BY nth);
  earliest bigint := (SELECT min(t) - slack FROM unnest(times) t);
  latest bigint := (SELECT max(t) + slack FROM unnest(times) t);
  part partitions;
  wanted uuid[];
  found_now bigint;
  missing bigint := cardinality(ids);
BEGIN
  SELECT * INTO k FROM logs WHERE tenant = of_tenant;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  FOR part IN SELECT * FROM partitions WHERE high > k.first_row AND low <= (SELECT last_value FROM log_row)
    AND coalesce(first_at <= latest AND last_at >= earliest, true) ORDER BY low DESC LOOP
    wanted := array(SELECT id FROM unnest(ids, times) AS w (id, at)
      WHERE coalesce(at BETWEEN part.first_at - slack AND part.last_at + slack, true));
    CONTINUE WHEN cardinality(wanted) = 0;
    RETURN QUERY EXECUTE format('SELECT g.* FROM unnest($1) w(id) CROSS JOIN LATERAL (SELECT * FROM %I WHERE id = w.id OFFSET 0) g
      WHERE tenant = $2 AND cleared IS NULL AND row >= $3', 'log_' || part.low)
      USING wanted, of_tenant, k.first_row;
    GET DIAGNOSTICS found_now = ROW_COUNT;
    missing := missing - found_now;
    EXIT WHEN missing <= 0;
  END LOOP;
END $$;
