-- expands: older nodes may go on
-- What writes to the log, as 0009-partition-lookups.sql reads it: no statement takes the locks of all partitions. An older node
-- goes on with append_batch, which is as it was.

-- The partition of a row.
CREATE FUNCTION partition_of(of_row bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT low FROM partitions WHERE low <= of_row ORDER BY low DESC LIMIT 1
$$;

-- The notifications with these ids that are kept, the newest partitions first.
CREATE FUNCTION find_entries(of_tenant bigint, ids uuid[]) RETURNS SETOF log LANGUAGE plpgsql STABLE AS $$
DECLARE
  k logs;
  part_low bigint;
  found_now bigint;
  missing bigint := cardinality(ids);
BEGIN
  SELECT * INTO k FROM logs WHERE tenant = of_tenant;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  FOR part_low IN SELECT low FROM partitions WHERE high > k.first_row AND low <= (SELECT last_value FROM log_row) ORDER BY low DESC LOOP
    RETURN QUERY EXECUTE format('SELECT g.* FROM unnest($1) w(id) CROSS JOIN LATERAL (SELECT * FROM %I WHERE id = w.id OFFSET 0) g
      WHERE tenant = $2 AND cleared IS NULL AND row >= $3', 'log_' || part_low)
      USING ids, of_tenant, k.first_row;
    GET DIAGNOSTICS found_now = ROW_COUNT;
    missing := missing - found_now;
    EXIT WHEN missing <= 0;
  END LOOP;
END $$;

-- The entries of these rows.
CREATE FUNCTION entries_of(of_tenant bigint, of_rows bigint[]) RETURNS SETOF log LANGUAGE plpgsql STABLE AS $$
DECLARE
  part_low bigint;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant;
  IF FOUND THEN
    FOR part_low IN SELECT DISTINCT partition_of(r) FROM unnest(of_rows) r LOOP
      RETURN QUERY EXECUTE format('SELECT * FROM %I WHERE row = ANY ($1) AND tenant = $2', 'log_' || part_low) USING of_rows, of_tenant;
    END LOOP;
  END IF;
END $$;

-- The states of these rows: of those that have one.
CREATE FUNCTION states_of(of_tenant bigint, of_rows bigint[]) RETURNS SETOF log_state LANGUAGE plpgsql STABLE AS $$
DECLARE
  part_low bigint;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant;
  IF FOUND THEN
    FOR part_low IN SELECT DISTINCT partition_of(r) FROM unnest(of_rows) r LOOP
      RETURN QUERY EXECUTE format('SELECT * FROM %I WHERE row = ANY ($1) AND tenant = $2', 'log_state_' || part_low) USING of_rows, of_tenant;
    END LOOP;
  END IF;
END $$;

-- The entries at these positions, the newest partitions first.
CREATE FUNCTION entries_at(of_tenant bigint, positions bigint[]) RETURNS SETOF log LANGUAGE plpgsql STABLE AS $$
DECLARE
  k logs;
  part_low bigint;
  found_now bigint;
  missing bigint := cardinality(positions);
BEGIN
  SELECT * INTO k FROM logs WHERE tenant = of_tenant;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  FOR part_low IN SELECT low FROM partitions WHERE high > k.first_row AND low <= (SELECT last_value FROM log_row) ORDER BY low DESC LOOP
    RETURN QUERY EXECUTE format('SELECT * FROM %I WHERE tenant = $1 AND position = ANY ($2)', 'log_' || part_low) USING of_tenant, positions;
    GET DIAGNOSTICS found_now = ROW_COUNT;
    missing := missing - found_now;
    EXIT WHEN missing <= 0;
  END LOOP;
END $$;

CREATE TYPE append_refusal AS (n bigint, kind text, id uuid, name text, shown_at bigint);
CREATE TYPE append_replaced AS (
  n bigint, tenant bigint, at bigint, "by" uuid, rank bigint, was bigint, was_row bigint, id uuid, route jsonb
);
CREATE TYPE append_counted AS (n bigint, tenant bigint, row bigint, count bigint);
CREATE TYPE append_inherited AS (
  n bigint, tenant bigint, id uuid, at bigint, route jsonb, "by" text, note text
);

-- Appends notifications as append_batch does; what no notification of a batch needs is not looked at. A new partition has no
-- statistics, so plans are made once, and without reading whole tables.
-- A repeat of what was acknowledged takes that over, unless it is of a higher level: from its own time, with an entry of the log
-- after the notification. What Belfry sends because a sender is silent is no repeat. `clears` of the answer has it too, marked
-- as acknowledged.
CREATE FUNCTION append_notifications(batch json)
RETURNS TABLE (job_n bigint, kind text, found_id uuid, at_position bigint, clears jsonb, throttled_by text, shown_at bigint,
  counted bigint) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  jobs append_job[] := array(SELECT j FROM json_populate_recordset(NULL::append_job, batch) j);
  tenants bigint[] := array(SELECT DISTINCT j.tenant FROM unnest(jobs) j);
  fresh append_job[] := jobs;
  refused append_refusal[] := '{}';
  replaced append_replaced[] := '{}';
  on_throttle append_counted[] := '{}';
  inherited append_inherited[] := '{}';
  with_retry boolean;
  with_claim boolean;
  with_key boolean;
  with_throttle boolean;
BEGIN
  SELECT bool_or(j.idempotency_key IS NOT NULL), bool_or(j.claims IS NOT NULL), bool_or(j.key IS NOT NULL),
    bool_or(j.throttled_on IS NOT NULL) INTO with_retry, with_claim, with_key, with_throttle FROM unnest(jobs) j;
  -- The statements below begin after this lock is held, so they see what was committed before.
  IF (SELECT count(*) < cardinality(tenants) FROM (SELECT 1 FROM logs WHERE tenant = ANY (tenants) ORDER BY tenant FOR UPDATE) k) THEN
    INSERT INTO logs SELECT t, 0, 1, 0, 0, 0 FROM unnest(tenants) t ORDER BY t ON CONFLICT DO NOTHING;
    PERFORM 1 FROM logs WHERE tenant = ANY (tenants) ORDER BY tenant FOR UPDATE;
  END IF;

  IF with_retry THEN
    refused := array(SELECT ROW(j.n, CASE WHEN i.hash = j.idempotency_hash THEN 'repeated' ELSE 'conflict' END, i.id, NULL, NULL)::append_refusal
      FROM unnest(jobs) j JOIN idempotency i ON i.tenant = j.tenant AND i.key = j.idempotency_key AND i.expires_at > j.at
        AND (i.hash = j.idempotency_hash OR NOT j.idempotency_is_state));
  END IF;
  IF with_claim THEN
    refused := refused || array(SELECT DISTINCT ON (j.n) ROW(j.n, 'throttled', t.id, t.name, t.shown_at)::append_refusal
      FROM unnest(jobs) j,
        ROWS FROM (jsonb_to_recordset(j.claims) AS (name text, per_ms bigint)) WITH ORDINALITY AS c(name, per_ms, ord),
        throttles t
      WHERE j.claims IS NOT NULL AND t.tenant = j.tenant AND t.name = c.name AND j.at < t.shown_at + c.per_ms AND j.at > t.shown_at - 10000
        AND NOT EXISTS (SELECT 1 FROM unnest(refused) r WHERE r.n = j.n)
      ORDER BY j.n, c.ord);
  END IF;
  IF cardinality(refused) > 0 THEN
    fresh := array(SELECT j FROM unnest(jobs) j WHERE NOT EXISTS (SELECT 1 FROM unnest(refused) r WHERE r.n = j.n));
  END IF;
  IF with_throttle THEN
    on_throttle := array(
      WITH shown AS MATERIALIZED (
        SELECT g.tenant, g.id, g.row FROM (
          SELECT f.tenant, array_agg(DISTINCT f.throttled_on) AS ids FROM unnest(fresh) f WHERE f.throttled_on IS NOT NULL GROUP BY 1
        ) t CROSS JOIN LATERAL find_entries(t.tenant, t.ids) g
      ),
      state AS MATERIALIZED (
        SELECT s.row, s.counted FROM (SELECT tenant, array_agg(row) AS rows FROM shown GROUP BY 1) t CROSS JOIN LATERAL states_of(t.tenant, t.rows) s
      )
      SELECT ROW(f.n, f.tenant, g.row, coalesce(s.counted, 0) + row_number() OVER (PARTITION BY g.row ORDER BY f.n))::append_counted
      FROM unnest(fresh) f JOIN shown g ON g.tenant = f.tenant AND g.id = f.throttled_on LEFT JOIN state s ON s.row = g.row);
  END IF;
  IF with_key THEN
    replaced := array(
      WITH shown AS MATERIALIZED (
        SELECT f.n, f.tenant, f.at, f.id AS by, l.rank, l.position, l.row, l.id FROM unnest(fresh) f
        JOIN live l ON l.tenant = f.tenant AND l.key = f.key AND (l.expires_at IS NULL OR l.expires_at > f.at)
          AND l.id IS DISTINCT FROM f.throttled_on
      )
      SELECT ROW(s.n, s.tenant, s.at, s.by, s.rank, s.position, s.row, s.id, g.route)::append_replaced
      FROM (SELECT tenant, array_agg(row) AS rows FROM shown GROUP BY 1) t CROSS JOIN LATERAL entries_of(t.tenant, t.rows) g
      JOIN shown s ON s.row = g.row);
    DELETE FROM live l USING unnest(replaced) r WHERE l.tenant = r.tenant AND l.rank = r.rank AND l.position = r.was;
  END IF;
  IF cardinality(replaced) > 0 THEN
    inherited := array(SELECT ROW(f.n, f.tenant, f.id, f.at, f.route, a."by", a.note)::append_inherited
      FROM (SELECT DISTINCT ON (e.n) e.n, e.tenant, e.rank, e.was_row FROM unnest(replaced) e ORDER BY e.n, e.was DESC) r
      JOIN unnest(fresh) f ON f.n = r.n AND f.shown AND f.rank <= r.rank AND NOT f.route ? 'origin'
      JOIN acknowledgements a ON a.tenant = r.tenant AND a.row = r.was_row);
  END IF;
  IF cardinality(replaced) > 0 OR cardinality(on_throttle) > 0 THEN
    INSERT INTO log_state (row, tenant, cleared_at, cleared_by, cleared_reason, counted)
    SELECT row, max(tenant), max(cleared_at), max(cleared_by), max(reason), sum(counted) FROM (
      SELECT was_row AS row, tenant, at AS cleared_at, "by"::text AS cleared_by, 'replaced' AS reason, 0 AS counted FROM unnest(replaced)
      UNION ALL
      SELECT row, tenant, NULL, NULL, NULL, 1 FROM unnest(on_throttle)
    ) change GROUP BY row
    ON CONFLICT (row) DO UPDATE SET counted = log_state.counted + excluded.counted,
      cleared_at = coalesce(excluded.cleared_at, log_state.cleared_at),
      cleared_by = coalesce(excluded.cleared_by, log_state.cleared_by),
      cleared_reason = coalesce(excluded.cleared_reason, log_state.cleared_reason);
  END IF;
  IF with_retry THEN
    INSERT INTO idempotency (tenant, key, hash, id, expires_at)
    SELECT f.tenant, f.idempotency_key, f.idempotency_hash, f.id, f.idempotency_until FROM unnest(fresh) f WHERE f.idempotency_key IS NOT NULL
    ON CONFLICT (tenant, key) DO UPDATE SET hash = excluded.hash, id = excluded.id, expires_at = excluded.expires_at;
  END IF;
  IF with_claim THEN
    INSERT INTO throttles (tenant, name, id, shown_at, until)
    SELECT f.tenant, c.name, f.id, f.at, f.at + c.per_ms FROM unnest(fresh) f, jsonb_to_recordset(f.claims) AS c(name text, per_ms bigint)
    WHERE f.claims IS NOT NULL
    ON CONFLICT (tenant, name) DO UPDATE SET id = excluded.id, shown_at = excluded.shown_at, until = excluded.until;
  END IF;

  RETURN QUERY
  WITH placed AS MATERIALIZED (
    SELECT o.*, nextval('log_row') AS row FROM (
      SELECT e.*, l.head + row_number() OVER (PARTITION BY e.tenant ORDER BY e.n, e.is_stored, e.was) AS position
      FROM (
        SELECT r.n, r.tenant, r.was, 0 AS is_stored, 0 AS bytes FROM unnest(replaced) r
        UNION ALL SELECT f.n, f.tenant, NULL, 1, f.bytes FROM unnest(fresh) f
        UNION ALL SELECT i.n, i.tenant, NULL, 2, 0 FROM unnest(inherited) i
      ) e JOIN logs l ON l.tenant = e.tenant ORDER BY e.tenant, e.n, e.is_stored, e.was
    ) o
  ),
  wanted AS MATERIALIZED (
    SELECT p.row, p.position, f.* FROM placed p JOIN unnest(fresh) f ON f.n = p.n WHERE p.is_stored = 1
  ),
  counters AS (
    UPDATE logs SET head = head + c.entries, notifications = notifications + c.stored, bytes = logs.bytes + c.bytes
    FROM (SELECT tenant, count(*) AS entries, count(*) FILTER (WHERE is_stored = 1) AS stored, sum(bytes) AS bytes FROM placed GROUP BY tenant) c
    WHERE logs.tenant = c.tenant
  ),
  stored AS (
    INSERT INTO log (row, tenant, position, id, at, route, title, message, level, rank, ttl, sent_level, sent_ttl, expires_at,
      ip, host, key, url, source_ip, token_id, throttled_on, throttle_count, terms)
    SELECT f.row, f.tenant, f.position, f.id, f.at, f.route, f.title, f.message, f.level, f.rank, f.ttl, f.sent_level, f.sent_ttl,
      f.expires_at, f.ip, f.host, f.key, f.url, f.source_ip, f.token_id, f.throttled_on,
      coalesce(o.count, f.throttle_count), array_to_tsvector(string_to_array(f.terms, ' '))
    FROM wanted f LEFT JOIN unnest(on_throttle) o ON o.n = f.n
  ),
  cleared AS (
    INSERT INTO log (row, tenant, position, id, at, route, cleared, "by", reason)
    SELECT p.row, p.tenant, p.position, r.id, r.at, r.route, r.was, r.by::text, 'replaced'
    FROM unnest(replaced) r JOIN placed p ON p.n = r.n AND p.was = r.was
  ),
  acknowledging AS (
    INSERT INTO log (row, tenant, position, id, at, route, cleared, "by", reason, message)
    SELECT p.row, p.tenant, p.position, i.id, i.at, i.route, w.position, i."by", 'acknowledged', i.note
    FROM unnest(inherited) i JOIN placed p ON p.n = i.n AND p.is_stored = 2 JOIN wanted w ON w.n = i.n
  ),
  acknowledged AS (
    INSERT INTO acknowledgements (tenant, row, at, "by", note)
    SELECT i.tenant, w.row, i.at, i."by", i.note FROM unnest(inherited) i JOIN wanted w ON w.n = i.n
  ),
  shown AS (
    INSERT INTO live (tenant, rank, position, row, id, expires_at, key, to_all, to_ids, to_tags)
    SELECT f.tenant, f.rank, f.position, f.row, f.id, f.expires_at, f.key, f.to_all, f.to_ids, f.to_tags FROM wanted f WHERE f.shown
  ),
  counted_minutes AS (
    INSERT INTO minutes (tenant, minute, level, count)
    SELECT f.tenant, f.at / 60000, f.level, count(*) FROM wanted f GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (tenant, minute, level) DO UPDATE SET count = minutes.count + excluded.count
  ),
  revisions AS (
    INSERT INTO log_revisions (tenant, revision, last_row)
    SELECT u.tenant, u.revision, u.row FROM (
      SELECT f.tenant, f.revision, max(f.row) AS row FROM wanted f GROUP BY 1, 2
    ) u
    LEFT JOIN log_revisions k ON k.tenant = u.tenant AND k.revision = u.revision
    WHERE k.last_row IS NULL OR partition_of(u.row) > k.last_row
    ON CONFLICT (tenant, revision) DO UPDATE SET last_row = excluded.last_row
  ),
  clearing AS (
    SELECT r.n, jsonb_agg(jsonb_build_object('position', p.position, 'id', r.id, 'at', r.at, 'by', r.by, 'route', r.route)
      ORDER BY p.position) AS entries FROM unnest(replaced) r JOIN placed p ON p.n = r.n AND p.was = r.was GROUP BY r.n
  )
  SELECT w.n, 'stored', w.id, w.position, c.entries || coalesce((
      SELECT jsonb_build_array(jsonb_build_object('position', p.position, 'id', i.id, 'at', i.at, 'by', i."by", 'note', i.note,
        'route', i.route, 'acknowledged', true))
      FROM unnest(inherited) i JOIN placed p ON p.n = i.n AND p.is_stored = 2 WHERE i.n = w.n), '[]'), NULL, NULL, o.count
  FROM wanted w LEFT JOIN clearing c ON c.n = w.n LEFT JOIN unnest(on_throttle) o ON o.n = w.n
  UNION ALL
  SELECT r.n, r.kind, r.id, NULL, NULL, r.name, r.shown_at, NULL FROM unnest(refused) r
  ORDER BY 1;
END $$;

-- As before; they look up what they need in one partition, and take a reason.
DROP FUNCTION take_off(live, bigint, text);
CREATE FUNCTION take_off(l live, new_at bigint, new_by text, new_reason text DEFAULT 'cleared') RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  new_position bigint;
BEGIN
  DELETE FROM live WHERE tenant = l.tenant AND rank = l.rank AND position = l.position;
  UPDATE logs SET head = head + 1 WHERE tenant = l.tenant RETURNING head INTO new_position;
  INSERT INTO log (row, tenant, position, id, at, route, cleared, "by", reason)
    SELECT nextval('log_row'), l.tenant, new_position, l.id, new_at, g.route, l.position, new_by, new_reason FROM entries_of(l.tenant, ARRAY[l.row]) g;
  INSERT INTO log_state (row, tenant, cleared_at, cleared_by, cleared_reason) VALUES (l.row, l.tenant, new_at, new_by, new_reason)
    ON CONFLICT (row) DO UPDATE SET cleared_at = excluded.cleared_at, cleared_by = excluded.cleared_by, cleared_reason = excluded.cleared_reason;
  RETURN new_position;
END $$;

-- Clears one notification; older nodes give no reason. `kind` is cleared, not-live or not-found.
DROP FUNCTION clear_notification(bigint, uuid, text, bigint);
CREATE FUNCTION clear_notification(of_tenant bigint, of_id uuid, new_by text, new_at bigint, new_reason text DEFAULT 'cleared')
RETURNS TABLE (kind text, at_position bigint, of_route jsonb) LANGUAGE plpgsql AS $$
DECLARE
  wanted log;
  shown live;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant FOR UPDATE;
  SELECT g.* INTO wanted FROM find_entry(of_tenant, of_id) g;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'not-found', NULL::bigint, NULL::jsonb;
    RETURN;
  END IF;
  SELECT * INTO shown FROM live l WHERE l.tenant = of_tenant AND l.rank = wanted.rank AND l.position = wanted.position
    AND (l.expires_at IS NULL OR l.expires_at > new_at);
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'not-live', NULL::bigint, NULL::jsonb;
    RETURN;
  END IF;
  RETURN QUERY SELECT 'cleared', take_off(shown, new_at, new_by, new_reason), wanted.route;
END $$;

-- As before; they look up what they need in single partitions.
CREATE OR REPLACE FUNCTION acknowledge_notification(of_tenant bigint, of_id uuid, new_by text, new_at bigint, new_note text)
RETURNS TABLE (kind text, at_position bigint, of_route jsonb, earlier_by text, earlier_at bigint, earlier_note text) LANGUAGE plpgsql AS $$
DECLARE
  wanted log;
  earlier acknowledgements;
  new_position bigint;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant FOR UPDATE;
  SELECT g.* INTO wanted FROM find_entry(of_tenant, of_id) g;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'not-found', NULL::bigint, NULL::jsonb, NULL::text, NULL::bigint, NULL::text;
    RETURN;
  END IF;
  SELECT * INTO earlier FROM acknowledgements a WHERE a.tenant = of_tenant AND a.row = wanted.row;
  IF FOUND THEN
    RETURN QUERY SELECT 'already', NULL::bigint, NULL::jsonb, earlier."by", earlier.at, earlier.note;
    RETURN;
  END IF;
  UPDATE logs SET head = head + 1 WHERE tenant = of_tenant RETURNING head INTO new_position;
  INSERT INTO log (row, tenant, position, id, at, route, cleared, "by", reason, message)
    VALUES (nextval('log_row'), of_tenant, new_position, wanted.id, new_at, wanted.route, wanted.position, new_by, 'acknowledged', new_note);
  INSERT INTO acknowledgements VALUES (of_tenant, wanted.row, new_at, new_by, new_note);
  RETURN QUERY SELECT 'acknowledged', new_position, wanted.route, NULL::text, NULL::bigint, NULL::text;
END $$;

CREATE OR REPLACE FUNCTION move_first(of_tenant bigint, old_first bigint, new_first bigint, dropped bigint,
  dropped_bytes bigint, dropped_up_to bigint, now_at bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  shown live;
  new_first_row bigint;
  looked_at integer := 0;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant AND first = old_first FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  FOR shown IN SELECT * FROM live WHERE tenant = of_tenant AND position < new_first ORDER BY position LIMIT 500 LOOP
    looked_at := looked_at + 1;
    IF shown.expires_at <= now_at THEN
      DELETE FROM live WHERE tenant = shown.tenant AND rank = shown.rank AND position = shown.position;
    ELSE
      PERFORM take_off(shown, now_at, 'retention');
    END IF;
  END LOOP;
  IF looked_at = 500 THEN
    RETURN true;
  END IF;
  -- While the counters are locked, no entry of this tenant is on its way.
  SELECT row INTO new_first_row FROM read_after(of_tenant, new_first - 1, 1);
  IF NOT FOUND THEN
    SELECT last_value + 1 INTO new_first_row FROM log_row;
  END IF;
  UPDATE logs SET first = new_first, first_row = new_first_row, notifications = greatest(0, notifications - dropped),
    bytes = greatest(0, bytes - dropped_bytes), dropped_minute = greatest(dropped_minute, dropped_up_to / 60000) WHERE tenant = of_tenant;
  RETURN false;
END $$;
