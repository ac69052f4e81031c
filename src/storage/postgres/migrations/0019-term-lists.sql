-- expands: older nodes may go on
-- For each term, and each tenant, a list of the rows that have it. A node asks for the lists of a query's terms, and combines them
-- itself; so no row is read that is not found, and a partition of which nothing is found costs a look at each list. Lists are made
-- in the background, for a few thousand rows at a time, and the lists of a full partition are merged into one for each term. They
-- take the place of the index of words, which is dropped once all lists are made: searches of older nodes find the same without it, but slowly.
ALTER TABLE partitions
  ADD COLUMN listed bigint,                         -- the terms of rows below this one are in lists; null: of none
  ADD COLUMN merged boolean NOT NULL DEFAULT false; -- all lists are in term_lists; else some are in block_lists

-- Blocks of the partition that begins at `part`: rows whose lists were made together, from `low` on and below `high`, and the earliest and latest
-- time of their notifications; null: there are none. In the first of a partition that was dropped: the last term whose lists are deleted.
CREATE TABLE term_blocks (part bigint, low bigint, high bigint NOT NULL, first_at bigint, last_at bigint,
  deleted_tenant bigint NOT NULL DEFAULT 0, deleted_term text COLLATE "C" NOT NULL DEFAULT '', PRIMARY KEY (part, low));

-- Each row below `settled` is stored, or never will be. So is each below `marked` once all transactions before `id` have ended: a writer has a
-- transaction id before it takes the number of a row. (`belfry migrate` has not, but no node runs meanwhile.) What a crash or a fail-over takes back,
-- it takes from here too.
CREATE TABLE list_mark (settled bigint NOT NULL, marked bigint NOT NULL, id xid8 NOT NULL);
-- Times of a partition were recorded only once all of its rows were settled.
INSERT INTO list_mark SELECT coalesce(max(high), 0), coalesce(max(high), 0), '0' FROM partitions WHERE first_at IS NOT NULL;

-- The list of a term, in the partition that begins at `low`. It is made of one or more blocks: where the block begins in the partition (4
-- bytes); how many of its rows have the term (2), and where in the block each of these is (2 each). Of many rows there is a bit for each row of
-- the block, the lowest of a byte first; then the second number is negative, and says how many bytes these take.
CREATE TABLE term_lists (tenant bigint, low bigint, term text COLLATE "C", rows bytea NOT NULL, PRIMARY KEY (low, tenant, term));
-- The same of partitions that are not full, by block.
CREATE TABLE block_lists (tenant bigint, low bigint, term text COLLATE "C", block bigint, rows bytea NOT NULL, PRIMARY KEY (low, tenant, term, block));
ALTER TABLE term_lists ALTER COLUMN rows SET STORAGE EXTERNAL;
ALTER TABLE block_lists SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 50000);
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['term_lists', 'block_lists'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY of_tenant ON %I USING (CASE WHEN (SELECT current_setting(''belfry.tenant'', true)) = ''all''
      THEN true ELSE tenant = (SELECT policy_tenant()) END)', name);
  END LOOP;
END $$;

-- Places in a block (2 bytes each) as a bit for each.
CREATE FUNCTION bits_of(places bytea, bytes integer) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
  SELECT string_agg(set_byte('\x00', 0, coalesce(b.bits, 0)::integer), '' ORDER BY n) FROM generate_series(0, bytes - 1) n LEFT JOIN (
    SELECT place >> 3 AS byte, sum(1 << (place & 7)) AS bits FROM (
      SELECT (get_byte(places, 2 * i) << 8) + get_byte(places, 2 * i + 1) AS place FROM generate_series(0, length(places) / 2 - 1) i
    ) p GROUP BY 1
  ) b ON b.byte = n
$$;

-- Merges some lists of the newest partition above a row that is full and whose blocks are all listed; false: there is none. A search reads both
-- tables, so a term moves with all its lists, and terms move in their order: a step goes on after the last one, and passes no dead rows.
-- By ctid: for `(tenant, term) <= …`, PostgreSQL reads the index on to the end of the tenant.
CREATE FUNCTION merge_lists(most_lists bigint, above_row bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  full_low bigint := (SELECT p.low FROM partitions p WHERE NOT p.merged AND p.listed = p.high AND p.low > above_row ORDER BY p.low DESC LIMIT 1);
  last_tenant bigint;
  last_term text COLLATE "C";
BEGIN
  SELECT tenant, term INTO last_tenant, last_term FROM term_lists WHERE low = full_low ORDER BY tenant DESC, term DESC LIMIT 1;
  last_tenant := coalesce(last_tenant, 0);
  last_term := coalesce(last_term, '');
  WITH taken AS (
    DELETE FROM block_lists WHERE ctid = ANY (ARRAY(SELECT ctid FROM block_lists WHERE low = full_low AND (tenant, term) > (last_tenant, last_term)
      ORDER BY tenant, term FETCH FIRST (most_lists) ROWS WITH TIES)) RETURNING *
  ) INSERT INTO term_lists SELECT tenant, low, term, string_agg(rows, '') FROM taken GROUP BY tenant, low, term ORDER BY tenant, term;
  IF NOT FOUND THEN
    UPDATE partitions SET merged = true WHERE low = full_low;
  END IF;
  RETURN full_low IS NOT NULL;
END $$;

-- Deletes some lists of a partition that was dropped, in the order of their terms as above; false: there are none. Terms whose
-- lists were not merged come after the others.
CREATE FUNCTION drop_lists(most_lists bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  block term_blocks;
  name text;
  last_tenant bigint;
  last_term text COLLATE "C";
BEGIN
  SELECT b.* INTO block FROM term_blocks b WHERE NOT EXISTS (SELECT 1 FROM partitions p WHERE p.low = b.part) ORDER BY b.part, b.low LIMIT 1;
  FOREACH name IN ARRAY ARRAY['term_lists', 'block_lists'] LOOP
    EXECUTE format('WITH gone AS (
        DELETE FROM %1$I WHERE ctid = ANY (ARRAY(SELECT ctid FROM %1$I WHERE low = $1 AND (tenant, term) > ($2, $3)
          ORDER BY tenant, term FETCH FIRST ($4) ROWS WITH TIES)) RETURNING tenant, term
      ) SELECT tenant, term FROM gone ORDER BY tenant DESC, term DESC LIMIT 1', name)
      INTO last_tenant, last_term USING block.part, block.deleted_tenant, block.deleted_term, most_lists;
    IF last_tenant IS NOT NULL THEN
      UPDATE term_blocks SET deleted_tenant = last_tenant, deleted_term = last_term WHERE part = block.part AND low = block.low;
      RETURN true;
    END IF;
  END LOOP;
  DELETE FROM term_blocks WHERE part = block.part;
  RETURN block.part IS NOT NULL;
END $$;

-- The next block of each partition that is not listed to its end.
CREATE FUNCTION next_blocks(block_rows bigint) RETURNS TABLE (part bigint, from_row bigint, end_row bigint) LANGUAGE sql STABLE AS $$
  SELECT low, coalesce(listed, low), least(coalesce(listed, low) + block_rows, high) FROM partitions WHERE coalesce(listed, low) < high
$$;

-- Does the next step for searches: lists a block of `block_rows` rows of the newest partition that has one; before it lists older ones, it merges the lists
-- of newer partitions, and at last it deletes those of dropped ones. False: there is nothing to do now, or another node does it; null: it has set or
-- reached a mark, and may be called again. A mark that is waited for stays: transactions that overlap would hold up one that moves for ever.
CREATE FUNCTION list_terms(block_rows bigint) RETURNS boolean LANGUAGE plpgsql
SET work_mem = '64MB' SET enable_seqscan = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
  next_row bigint;
  block record;
  log_part text;
BEGIN
  IF NOT pg_try_advisory_xact_lock(1952805748) THEN
    RETURN false;
  END IF;
  -- Before this transaction has an id.
  next_row := coalesce(pg_sequence_last_value('log_row'), 0) + 1;
  -- What is done with the mark is all that this call does: a block that cannot be listed would take it back.
  UPDATE list_mark SET settled = marked WHERE settled < marked AND id < pg_snapshot_xmin(pg_current_snapshot());
  IF FOUND THEN
    RETURN NULL;
  END IF;
  SELECT b.* INTO block FROM next_blocks(block_rows) b WHERE b.end_row <= (SELECT settled FROM list_mark) ORDER BY b.part DESC LIMIT 1;
  -- Of another cluster, from which this one was restored, the transaction may lie ahead.
  UPDATE list_mark m SET marked = next_row, id = pg_current_xact_id()
    WHERE (m.settled = m.marked OR m.id >= pg_snapshot_xmax(pg_current_snapshot()))
      AND EXISTS (SELECT 1 FROM next_blocks(block_rows) b
        WHERE b.end_row > m.settled AND b.end_row <= next_row AND b.part > coalesce(block.part, 0));
  IF FOUND THEN
    RETURN NULL;
  ELSIF merge_lists(4 * block_rows, coalesce(block.part, 0)) THEN
    RETURN true;
  ELSIF block.part IS NULL THEN
    RETURN drop_lists(4 * block_rows);
  END IF;
  log_part := 'log_' || block.part;
  EXECUTE format('INSERT INTO block_lists SELECT tenant, $1, term, $2, int4send(($2 - $1)::integer)
      || CASE WHEN length(places) > $4 THEN int2send(-$4::smallint) || bits_of(places, $4) ELSE int2send((length(places) / 2)::smallint) || places END
    FROM (
      SELECT tenant, term, string_agg(int2send((row - $2)::smallint), '''') AS places
      FROM (SELECT tenant, row, unnest(tsvector_to_array(terms)) COLLATE "C" AS term FROM %I WHERE row >= $2 AND row < $3 OFFSET 0) t
      GROUP BY tenant, term OFFSET 0
    ) l ORDER BY tenant, term', log_part) USING block.part, block.from_row, block.end_row, ((block.end_row - block.from_row + 7) / 8)::integer;
  EXECUTE format('INSERT INTO term_blocks SELECT $1, $2, $3, min(at), max(at) FROM %I WHERE row >= $2 AND row < $3 AND cleared IS NULL', log_part)
    USING block.part, block.from_row, block.end_row;
  UPDATE partitions SET listed = block.end_row WHERE low = block.part;
  UPDATE partitions p SET (first_at, last_at) = (SELECT coalesce(min(b.first_at), 0), coalesce(max(b.last_at), 0) FROM term_blocks b WHERE b.part = p.low)
    WHERE p.low = block.part AND p.listed = p.high;
  RETURN true;
END $$;

-- Records between which times the notifications of a full partition are that has no lists yet, and whose rows are all settled.
CREATE FUNCTION record_times(part_low bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format('UPDATE partitions SET (first_at, last_at) = (SELECT coalesce(min(at), 0), coalesce(max(at), 0) FROM %I WHERE cleared IS NULL)
    WHERE low = $1', 'log_' || part_low) USING part_low;
END $$;

-- How many rows are in no list yet.
CREATE FUNCTION list_backlog() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(least(p.high, s.next_row) - coalesce(p.listed, p.low)), 0)::bigint
  FROM partitions p, (SELECT coalesce(pg_sequence_last_value('log_row'), 0) + 1 AS next_row) s WHERE coalesce(p.listed, p.low) < least(p.high, s.next_row)
$$;

-- What is known of the oldest transaction that `list_terms` may wait for; null: no other one has run for 20 s. A role without pg_read_all_stats does not
-- see when transactions of other roles began.
CREATE FUNCTION list_obstacle() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT concat_ws(', ', coalesce('process ' || l.pid, 'prepared: see pg_prepared_xacts'), 'application "' || a.application_name || '"',
    'database ' || a.datname, 'open for ' || extract(epoch FROM clock_timestamp() - a.xact_start)::bigint || ' s')
  FROM list_mark m CROSS JOIN pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
  WHERE l.locktype = 'transactionid' AND l.mode = 'ExclusiveLock' AND age(l.transactionid) >= age(m.id::xid)
    AND coalesce(a.xact_start < clock_timestamp() - interval '20 seconds', true)
  ORDER BY age(l.transactionid) DESC LIMIT 1
$$;

-- Drops the index of words that 0001-baseline.sql made, once all full partitions have lists: appends wait for it a tenth of a second at the most.
CREATE FUNCTION drop_word_index() RETURNS void LANGUAGE plpgsql SET lock_timeout = '100ms' AS $$
BEGIN
  IF to_regclass('log_terms') IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM partitions WHERE high <= (SELECT last_value FROM log_row) AND listed IS DISTINCT FROM high
  ) THEN
    LOCK TABLE ONLY log IN ACCESS EXCLUSIVE MODE;
    LOCK TABLE log IN ACCESS EXCLUSIVE MODE NOWAIT;
    DROP INDEX log_terms;
  END IF;
EXCEPTION WHEN lock_not_available OR deadlock_detected OR out_of_memory THEN
  NULL;
END $$;

-- The tenant's lists, in partitions that begin at `lows`, of the terms from `firsts` to `lasts`: for each pair one value with all its lists;
-- null if they are more than `most_lists` or `most_bytes`. A pair of which a partition has no list is left out.
CREATE FUNCTION read_lists(of_tenant bigint, lows bigint[], firsts text[], lasts text[], most_lists bigint, most_bytes bigint)
RETURNS TABLE (low bigint, nr bigint, rows bytea) LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT p.low, w.nr, CASE WHEN l.bytes <= most_bytes AND l.count <= most_lists THEN l.rows END
  FROM unnest(lows) p (low) CROSS JOIN unnest(firsts, lasts) WITH ORDINALITY w (first, last, nr) CROSS JOIN LATERAL (
    SELECT count(*) AS count, max(s.bytes) AS bytes, string_agg(CASE WHEN s.bytes <= most_bytes THEN s.rows END, '') AS rows
    FROM (
      SELECT u.rows, sum(octet_length(u.rows)) OVER (ROWS UNBOUNDED PRECEDING) AS bytes FROM (
        SELECT t.rows FROM term_lists t WHERE t.low = p.low AND t.tenant = of_tenant AND t.term COLLATE "C" BETWEEN w.first AND w.last
        UNION ALL
        SELECT b.rows FROM block_lists b WHERE b.low = p.low AND b.tenant = of_tenant AND b.term COLLATE "C" BETWEEN w.first AND w.last
        LIMIT most_lists + 1
      ) u
    ) s
  ) l WHERE l.count > 0;
END $$;

-- The tenant's terms in these partitions that are from one of `firsts` to one of `lasts`, `most` of each pair and partition at the most.
CREATE FUNCTION listed_terms(of_tenant bigint, lows bigint[], firsts text[], lasts text[], most bigint)
RETURNS SETOF text LANGUAGE plpgsql STABLE SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
  RETURN QUERY
  SELECT DISTINCT l.term FROM unnest(lows) p (low) CROSS JOIN unnest(firsts, lasts) w (first, last) CROSS JOIN LATERAL (
    (SELECT t.term FROM term_lists t WHERE t.low = p.low AND t.tenant = of_tenant AND t.term COLLATE "C" BETWEEN w.first AND w.last ORDER BY t.term LIMIT most)
    UNION ALL
    (SELECT DISTINCT b.term FROM block_lists b WHERE b.low = p.low AND b.tenant = of_tenant AND b.term COLLATE "C" BETWEEN w.first AND w.last ORDER BY b.term LIMIT most)
  ) l;
END $$;

-- The tenant's notifications among the newest `most` rows of these partitions that are in no list yet.
CREATE FUNCTION unlisted_of(of_tenant bigint, lows bigint[], most bigint) RETURNS SETOF log LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
  part partitions;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant;
  IF FOUND THEN
    FOR part IN SELECT * FROM partitions p WHERE p.low = ANY (lows) LOOP
      RETURN QUERY EXECUTE format('SELECT n.* FROM (SELECT * FROM %I WHERE row >= $1 ORDER BY row DESC LIMIT $2) n
        WHERE n.tenant = $3 AND n.cleared IS NULL AND n.row >= (SELECT first_row FROM logs WHERE tenant = $3)', 'log_' || part.low)
        USING coalesce(part.listed, part.low), most, of_tenant;
    END LOOP;
  END IF;
END $$;

-- How PostgreSQL tests a row, before a node does: `wanted`, which terms it has, where no list says so (else null); `in_text`, expressions
-- that all fit its title and message.
CREATE TYPE row_test AS (from_at bigint, to_at bigint, head bigint, wanted tsquery, in_text text[]);

-- The statement `text` about rows `of_rows` of a partition, in descending order: $1; of the tenant $2, with the test $3. Cheap tests stand first.
CREATE FUNCTION with_test(text text, of_rows bigint[], test row_test) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT format(text, CASE WHEN of_rows[1] - of_rows[cardinality(of_rows)] < cardinality(of_rows) THEN 'n.row BETWEEN ($1)[cardinality($1)] AND ($1)[1]'
      ELSE 'n.row = ANY ($1)' END || CASE WHEN test.wanted IS NOT NULL THEN ' AND n.terms @@ ($3).wanted' ELSE '' END
    || ' AND n.tenant = $2 AND n.cleared IS NULL AND n.position <= ($3).head AND n.at >= ($3).from_at AND n.at < ($3).to_at'
    || CASE WHEN cardinality(test.in_text) > 0 THEN ' AND concat(n.title, '' '', n.message) COLLATE "C" ~* ALL (($3).in_text)' ELSE '' END)
$$;

-- Some rows by the partition in which they are, the newest first.
CREATE FUNCTION by_partition(of_rows bigint[]) RETURNS TABLE (low bigint, part_rows bigint[]) LANGUAGE sql STABLE AS $$
  SELECT p.low, g.part_rows FROM partitions p CROSS JOIN LATERAL (
    SELECT array_agg(r) AS part_rows FROM unnest(of_rows) r WHERE r >= p.low AND r < p.high
  ) g WHERE p.low <= (SELECT max(r) FROM unnest(of_rows) r) AND p.high > (SELECT min(r) FROM unnest(of_rows) r) AND g.part_rows IS NOT NULL
  ORDER BY p.low DESC
$$;

-- Those of some rows, in descending order, that pass a test, `most` at the most. As in 0009-partition-lookups.sql, what reads partitions
-- of the log begins with the tenant's counters, on which a policy holds: none holds on a partition.
CREATE FUNCTION test_rows(of_tenant bigint, of_rows bigint[], test row_test, most bigint) RETURNS SETOF log LANGUAGE plpgsql STABLE
SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off AS $$
DECLARE
  part record;
  found_now bigint;
  missing bigint := most;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  FOR part IN SELECT * FROM by_partition(of_rows) LOOP
    RETURN QUERY EXECUTE with_test('SELECT * FROM log_' || part.low || ' n WHERE %s ORDER BY n.row DESC LIMIT $4', part.part_rows, test)
      USING part.part_rows, of_tenant, test, missing;
    GET DIAGNOSTICS found_now = ROW_COUNT;
    missing := missing - found_now;
    EXIT WHEN missing <= 0;
  END LOOP;
END $$;

-- How many of some rows, in descending order, pass a test, by time and level.
CREATE FUNCTION count_rows_of(of_tenant bigint, of_rows bigint[], test row_test, origin bigint, bucket_ms bigint)
RETURNS TABLE (bucket bigint, level text, count bigint) LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
  part record;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant;
  IF FOUND THEN
    FOR part IN SELECT * FROM by_partition(of_rows) LOOP
      RETURN QUERY EXECUTE with_test('SELECT (n.at - $4) / $5, n.level, count(*) FROM log_' || part.low || ' n WHERE %s GROUP BY 1, 2', part.part_rows, test)
        USING part.part_rows, of_tenant, test, origin, bucket_ms;
    END LOOP;
  END IF;
END $$;

-- The tenant's first entry from a row to another, in the first 16 partitions between them. Positions ascend with rows, and the tenant's are looked
-- up: others may have most of the rows.
CREATE FUNCTION entry_between(of_tenant bigint, first_row bigint, last_row bigint) RETURNS TABLE (at_position bigint, at bigint)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
DECLARE
  part_low bigint;
  low_position bigint;
  high_position bigint;
  middle bigint;
  entry log;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  FOR part_low IN SELECT low FROM partitions WHERE high > first_row AND low <= last_row ORDER BY low LIMIT 16 LOOP
    EXECUTE format('SELECT min(position), max(position) FROM %I WHERE tenant = $1', 'log_' || part_low) INTO low_position, high_position USING of_tenant;
    WHILE low_position <= high_position LOOP
      middle := (low_position + high_position) / 2;
      EXECUTE format('SELECT * FROM %I WHERE tenant = $1 AND position >= $2 ORDER BY position LIMIT 1', 'log_' || part_low) INTO entry USING of_tenant, middle;
      IF entry.row < first_row THEN
        low_position := entry.position + 1;
      ELSE
        high_position := middle - 1;
      END IF;
    END LOOP;
    EXECUTE format('SELECT * FROM %I WHERE tenant = $1 AND position >= $2 ORDER BY position LIMIT 1', 'log_' || part_low) INTO entry USING of_tenant, low_position;
    IF entry.row <= last_row THEN
      RETURN QUERY SELECT entry.position, entry.at;
    END IF;
    EXIT WHEN entry.row IS NOT NULL;
  END LOOP;
END $$;

-- As before, without a look for the partition of each row.
CREATE OR REPLACE FUNCTION states_of(of_tenant bigint, of_rows bigint[]) RETURNS SETOF log_state LANGUAGE plpgsql STABLE AS $$
DECLARE
  part record;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant;
  IF FOUND THEN
    FOR part IN SELECT * FROM by_partition(of_rows) LOOP
      RETURN QUERY EXECUTE format('SELECT * FROM %I WHERE row = ANY ($1) AND tenant = $2', 'log_state_' || part.low) USING part.part_rows, of_tenant;
    END LOOP;
  END IF;
END $$;

CREATE OR REPLACE FUNCTION receipts_of(of_tenant bigint, of_rows bigint[]) RETURNS SETOF receipts LANGUAGE plpgsql STABLE AS $$
DECLARE
  part record;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant;
  IF FOUND THEN
    FOR part IN SELECT * FROM by_partition(of_rows) LOOP
      RETURN QUERY EXECUTE format('SELECT * FROM %I WHERE row = ANY ($1) AND tenant = $2', 'receipts_' || part.low) USING part.part_rows, of_tenant;
    END LOOP;
  END IF;
END $$;
