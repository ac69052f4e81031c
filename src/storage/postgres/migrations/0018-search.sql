-- expands: older nodes may go on
-- A search asks several partitions in one statement, the newest first, so that what is rare costs one answer and not one for each
-- of them. They are few, as a statement holds the locks of all tables that it reads. As in 0009-partition-lookups.sql, what reads
-- partitions begins with the tenant's counters, on which a policy holds.

-- Of a full partition: the earliest time of a notification in each 32nd of its rows and all later ones; null: not known.
ALTER TABLE partitions ADD COLUMN earliest_from bigint[];

-- From where to where a tenant has something in a partition that is earlier than `to_at`: all above `highest` is not. `is_most`: the
-- tenant has at least half of the partition.
CREATE FUNCTION positions_before(of_tenant bigint, part partitions, to_at bigint, OUT lowest bigint, OUT highest bigint, OUT is_most boolean)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
  log_part text := 'log_' || part.low;
  end_row bigint := part.high;
  is_early boolean := true;
BEGIN
  EXECUTE format('SELECT min(position), max(position) FROM %I WHERE tenant = $1', log_part) INTO lowest, highest USING of_tenant;
  is_most := 2 * (highest - lowest + 1) >= least(part.high, (SELECT last_value + 1 FROM log_row)) - part.low;
  IF is_most IS NOT TRUE OR to_at = 9007199254740991 THEN
    RETURN;
  END IF;
  IF part.first_at IS NULL OR part.earliest_from IS NULL THEN
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE at < $1)', log_part) INTO is_early USING to_at;
  ELSE
    SELECT part.low + max(m.nr) * ((part.high - part.low + 31) / 32) INTO end_row
      FROM unnest(part.earliest_from) WITH ORDINALITY m (at, nr) WHERE m.at < to_at;
    is_early := end_row IS NOT NULL;
  END IF;
  IF is_early THEN
    EXECUTE format('SELECT position FROM (SELECT position, at, cleared FROM %I WHERE tenant = $1 AND row < $2 ORDER BY row DESC OFFSET 0) n
      WHERE at < $3 AND cleared IS NULL LIMIT 1', log_part) INTO highest USING of_tenant, end_row, to_at;
  END IF;
  IF NOT is_early OR highest IS NULL THEN
    highest := lowest - 1;
  END IF;
END $$;

-- The partitions with rows below `below_row` that may have something of these times, the newest first, `most` at the most.
CREATE FUNCTION next_partitions(of_tenant bigint, from_at bigint, to_at bigint, below_row bigint, most integer) RETURNS SETOF partitions LANGUAGE sql STABLE AS $$
  SELECT p.* FROM logs k JOIN partitions p ON p.high > k.first_row WHERE k.tenant = of_tenant AND coalesce(p.low < below_row, true)
    AND p.low <= (SELECT last_value FROM log_row) AND coalesce(p.last_at >= from_at, true) AND coalesce(p.first_at < to_at, true)
  ORDER BY p.low DESC LIMIT most
$$;

-- Whether so few rows have these terms that they may be tested one by one.
CREATE FUNCTION are_few(log_part text, wanted tsquery) RETURNS boolean LANGUAGE plpgsql STABLE STRICT
SET enable_seqscan = off SET enable_indexscan = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
  is_few boolean;
BEGIN
  EXECUTE format('SELECT NOT EXISTS (SELECT 1 FROM %I WHERE terms @@ $1 OFFSET 300)', log_part) INTO is_few USING wanted;
  RETURN is_few;
END $$;

-- The newest rows, `most` at the most, that the terms and times of a query lead to: by the index, or by a look at each of the next
-- `walked` entries of a partition. Where a tenant has most of a partition, `wanted_alone` finds the same as `wanted`, without the
-- long list of all that the tenant has; null: all of it. `wanted_quick` finds more, without what the index finds slowly (all terms
-- that begin so); null: nothing is slow. `in_title` and `in_text`: expressions that all fit the title, or the title and the
-- message. The last row says from where to where all was looked at, and below which row the next call goes on.
CREATE FUNCTION search_rows(of_tenant bigint, wanted tsquery, wanted_alone tsquery, wanted_quick tsquery, from_at bigint, to_at bigint,
  from_position bigint, to_position bigint, below_row bigint, walked bigint, most bigint, in_title text[], in_text text[])
RETURNS TABLE (of_row bigint, at_position bigint, looked_from bigint, next_row bigint)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
  part partitions;
  here record;
  quick tsquery := wanted_quick;
  asked tsquery;
  found_now bigint;
  missing bigint := most;
  parts integer := 0;
  looked_to bigint := to_position + 1;
  started timestamptz := clock_timestamp();
BEGIN
  next_row := below_row;
  FOR part IN SELECT * FROM next_partitions(of_tenant, from_at, to_at, below_row, 8) LOOP
    parts := parts + 1;
    next_row := part.low;
    SELECT * INTO here FROM positions_before(of_tenant, part, to_at);
    CONTINUE WHEN here.lowest IS NULL OR here.lowest > to_position;
    here.highest := least(here.highest, to_position);
    looked_to := greatest(here.lowest, from_position);
    IF here.lowest <= from_position AND here.highest < from_position THEN
      -- What it has is below this statement's positions, and for the next one.
      next_row := part.low + 1;
      EXIT;
    END IF;
    CONTINUE WHEN here.highest < here.lowest;
    looked_from := coalesce(looked_from, here.highest);
    IF walked > 0 THEN
      looked_to := greatest(looked_to, here.highest - walked + 1);
    ELSE
      IF NOT are_few('log_' || part.low, quick) THEN
        quick := NULL;
        started := clock_timestamp();
      END IF;
      asked := coalesce(quick, CASE WHEN here.is_most THEN wanted_alone ELSE wanted END);
    END IF;
    -- OFFSET 0: the planner shall go by position, and not by the index of terms; or by `asked`, and not by `wanted`. MATERIALIZED: it
    -- shall not walk all of the partition in the order of positions until enough of them match.
    RETURN QUERY EXECUTE format(CASE WHEN walked > 0 THEN
        'SELECT n.row, n.position, NULL::bigint, NULL::bigint FROM (
           SELECT * FROM %I WHERE tenant = $1 AND position BETWEEN $5 AND $6 ORDER BY position DESC OFFSET 0
         ) n WHERE n.cleared IS NULL AND n.at >= $3 AND n.at < $4 AND n.terms @@ $8
           AND n.title COLLATE "C" ~* ALL ($9) AND concat(n.title, '' '', n.message) COLLATE "C" ~* ALL ($10) LIMIT $7'
      ELSE
        'WITH found AS MATERIALIZED (
           SELECT n.row, n.position FROM (
             SELECT row, position, terms, title, message FROM %I WHERE tenant = $1 AND cleared IS NULL AND ($2 IS NULL OR terms @@ $2)
               AND at >= $3 AND at < $4 AND position BETWEEN $5 AND $6 OFFSET 0
           ) n WHERE n.terms @@ $8 AND n.title COLLATE "C" ~* ALL ($9) AND concat(n.title, '' '', n.message) COLLATE "C" ~* ALL ($10)
         ) SELECT f.row, f.position, NULL::bigint, NULL::bigint FROM found f ORDER BY f.position DESC LIMIT $7'
      END, 'log_' || part.low)
      USING of_tenant, asked, from_at, to_at, looked_to, here.highest, missing, wanted, in_title, in_text;
    GET DIAGNOSTICS found_now = ROW_COUNT;
    missing := missing - found_now;
    IF missing <= 0 OR looked_to > here.lowest THEN
      next_row := part.low + 1;
      parts := 8;
    ELSIF walked > 0 OR clock_timestamp() > started + interval '40 ms' THEN
      parts := 8;
    END IF;
    EXIT WHEN parts = 8;
  END LOOP;
  RETURN QUERY SELECT NULL::bigint, CASE WHEN parts < 8 THEN from_position ELSE looked_to END, looked_from, next_row;
END $$;

-- The same among what is on panels at `now_at`, without the partitions that have nothing of it. `asked` finds more than `wanted`, and
-- is what the index is asked; null: it is not. A row costs so much that the planner reads only those that are in both lists.
CREATE FUNCTION search_live(of_tenant bigint, wanted tsquery, asked tsquery, from_at bigint, to_at bigint, from_position bigint,
  to_position bigint, now_at bigint, most bigint, in_title text[], in_text text[])
RETURNS TABLE (of_row bigint, at_position bigint, looked_from bigint, next_row bigint)
LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_indexscan = off SET cpu_tuple_cost = 100 SET max_parallel_workers_per_gather = 0 SET jit = off AS $$
DECLARE
  most_live CONSTANT integer := 10000;
  live_rows bigint[];
  live_positions bigint[];
  part partitions;
  first integer := 1;
  next integer := 1;
  parts integer := 0;
  found_now bigint;
  missing bigint := most;
BEGIN
  SELECT coalesce(array_agg(l.row), '{}'), coalesce(array_agg(l.position), '{}') INTO live_rows, live_positions FROM (
    SELECT v.row, v.position FROM live v WHERE v.tenant = of_tenant AND (v.expires_at IS NULL OR v.expires_at > now_at)
      AND v.position BETWEEN from_position AND to_position ORDER BY v.position DESC LIMIT most_live
  ) l;
  FOR part IN SELECT p.* FROM partitions p WHERE p.low <= live_rows[1] ORDER BY p.low DESC LOOP
    WHILE live_rows[next] >= part.low LOOP
      next := next + 1;
    END LOOP;
    IF part.last_at < from_at OR part.first_at >= to_at THEN
      first := next;
    END IF;
    CONTINUE WHEN next = first;
    RETURN QUERY EXECUTE format('SELECT n.row, n.position, NULL::bigint, NULL::bigint FROM (
        SELECT row, position, at, terms, title, message FROM %I WHERE row = ANY ($1) AND tenant = $2 %s ORDER BY row DESC OFFSET 0
      ) n WHERE n.terms @@ $3 AND n.at >= $4 AND n.at < $5
        AND n.title COLLATE "C" ~* ALL ($8) AND concat(n.title, '' '', n.message) COLLATE "C" ~* ALL ($9) LIMIT $6',
        'log_' || part.low, CASE WHEN asked IS NOT NULL THEN 'AND terms @@ $7' END)
      USING live_rows[first:next - 1], of_tenant, wanted, from_at, to_at, missing, asked, in_title, in_text;
    GET DIAGNOSTICS found_now = ROW_COUNT;
    missing := missing - found_now;
    first := next;
    parts := parts + 1;
    EXIT WHEN missing <= 0 OR parts = 8 OR live_rows[next] IS NULL;
  END LOOP;
  RETURN QUERY SELECT NULL::bigint, CASE WHEN live_rows[next] IS NOT NULL THEN live_positions[next] + 1
    WHEN next <= most_live THEN from_position ELSE live_positions[next - 1] END, to_position, 9007199254740991;
END $$;

-- How many of what search_rows finds by the index there are, by time and level; the last row is as there.
CREATE FUNCTION count_rows(of_tenant bigint, wanted tsquery, wanted_alone tsquery, from_at bigint, to_at bigint, from_position bigint,
  to_position bigint, below_row bigint, origin bigint, bucket_ms bigint)
RETURNS TABLE (bucket bigint, level text, count bigint, looked_to bigint, next_row bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
  part partitions;
  here record;
  parts integer := 0;
  started timestamptz := clock_timestamp();
BEGIN
  looked_to := to_position + 1;
  next_row := below_row;
  FOR part IN SELECT * FROM next_partitions(of_tenant, from_at, to_at, below_row, 8) LOOP
    parts := parts + 1;
    next_row := part.low;
    SELECT * INTO here FROM positions_before(of_tenant, part, to_at);
    CONTINUE WHEN here.lowest IS NULL OR here.lowest > to_position;
    looked_to := greatest(here.lowest, from_position);
    RETURN QUERY EXECUTE format('SELECT (n.at - $7) / $8, n.level, count(*), NULL::bigint, NULL::bigint FROM %I n WHERE n.tenant = $1
        AND n.cleared IS NULL AND ($2 IS NULL OR n.terms @@ $2) AND n.at >= $3 AND n.at < $4 AND n.position BETWEEN $5 AND $6 GROUP BY 1, 2', 'log_' || part.low)
      USING of_tenant, CASE WHEN here.is_most THEN wanted_alone ELSE wanted END, from_at, to_at, looked_to, least(here.highest, to_position),
        origin, bucket_ms;
    IF looked_to > here.lowest THEN
      next_row := part.low + 1;
      parts := 8;
    ELSIF clock_timestamp() > started + interval '40 ms' THEN
      parts := 8;
    END IF;
    EXIT WHEN parts = 8;
  END LOOP;
  RETURN QUERY SELECT NULL::bigint, NULL, NULL::bigint, CASE WHEN parts < 8 THEN from_position ELSE looked_to END, next_row;
END $$;

-- The newest notifications, `most` at the most, without partitions in which all are earlier than `from_at`.
CREATE FUNCTION newest_of(of_tenant bigint, from_at bigint, most bigint)
RETURNS TABLE (host text, level text, rank bigint, at_position bigint, at bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
  part_low bigint;
  found_now bigint;
  missing bigint := most;
BEGIN
  FOR part_low IN SELECT low FROM next_partitions(of_tenant, from_at, NULL, NULL, NULL) LOOP
    RETURN QUERY EXECUTE format('SELECT host, level, rank, position, at FROM %I WHERE tenant = $1 AND cleared IS NULL
        AND row >= (SELECT first_row FROM logs WHERE tenant = $1) ORDER BY position DESC LIMIT $2', 'log_' || part_low)
      USING of_tenant, missing;
    GET DIAGNOSTICS found_now = ROW_COUNT;
    missing := missing - found_now;
    EXIT WHEN missing <= 0;
  END LOOP;
END $$;

-- What panels reported of these rows.
CREATE FUNCTION receipts_of(of_tenant bigint, of_rows bigint[]) RETURNS SETOF receipts LANGUAGE plpgsql STABLE AS $$
DECLARE
  part_low bigint;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant;
  IF FOUND THEN
    FOR part_low IN SELECT DISTINCT partition_of(r) FROM unnest(of_rows) r LOOP
      RETURN QUERY EXECUTE format('SELECT * FROM %I WHERE row = ANY ($1) AND tenant = $2', 'receipts_' || part_low) USING of_rows, of_tenant;
    END LOOP;
  END IF;
END $$;
