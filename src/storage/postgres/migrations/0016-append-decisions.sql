-- expands: older nodes may go on
-- Appends as append_notifications(json) does, which older nodes go on with, for less of the processor: what routing decided is
-- read once for all notifications that it decided the same for, and what only a replacement needs is written only by one.

-- What routing decided; notifications name it by `nr`.
CREATE TYPE append_decision AS (nr bigint, route jsonb, to_all boolean, to_ids text[], to_tags text[], revision bigint);
CREATE TYPE append_entry AS (
  n bigint, tenant bigint, decision bigint, id uuid, at bigint, shown boolean, title text, message text, level text, rank bigint,
  ttl bigint, sent_level text, sent_ttl bigint, expires_at bigint, ip text, host text, key text, url text, source_ip text,
  token_id text, throttled_on uuid, throttle_count bigint, terms text, bytes bigint, idempotency_key text, idempotency_hash text,
  idempotency_is_state boolean, idempotency_until bigint, claims jsonb
);
CREATE TYPE append_placed AS (n bigint, tenant bigint, was bigint, is_stored integer, row bigint, position bigint);
CREATE TYPE append_clearing AS (n bigint, entries jsonb);

CREATE FUNCTION append_notifications(batch json, decided json)
RETURNS TABLE (job_n bigint, kind text, found_id uuid, at_position bigint, clears jsonb, throttled_by text, shown_at bigint,
  counted bigint) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  jobs append_entry[] := array(SELECT j FROM json_populate_recordset(NULL::append_entry, batch) j);
  decisions append_decision[] := array(SELECT d FROM json_populate_recordset(NULL::append_decision, decided) d);
  tenants bigint[];
  fresh append_entry[] := jobs;
  refused append_refusal[] := '{}';
  replaced append_replaced[] := '{}';
  on_throttle append_counted[] := '{}';
  inherited append_inherited[] := '{}';
  placed append_placed[];
  clearing append_clearing[] := '{}';
  with_retry boolean;
  with_claim boolean;
  with_key boolean;
  with_throttle boolean;
BEGIN
  SELECT array_agg(DISTINCT j.tenant), bool_or(j.idempotency_key IS NOT NULL), bool_or(j.claims IS NOT NULL), bool_or(j.key IS NOT NULL),
    bool_or(j.throttled_on IS NOT NULL) INTO tenants, with_retry, with_claim, with_key, with_throttle FROM unnest(jobs) j;
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
    inherited := array(SELECT ROW(f.n, f.tenant, f.id, f.at, d.route, a."by", a.note)::append_inherited
      FROM (SELECT DISTINCT ON (e.n) e.n, e.tenant, e.rank, e.was_row FROM unnest(replaced) e ORDER BY e.n, e.was DESC) r
      JOIN unnest(fresh) f ON f.n = r.n AND f.shown AND f.rank <= r.rank
      JOIN unnest(decisions) d ON d.nr = f.decision AND NOT d.route ? 'origin'
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

  placed := array(
    SELECT ROW(o.n, o.tenant, o.was, o.is_stored, nextval('log_row'), o.position)::append_placed FROM (
      SELECT e.*, l.head + row_number() OVER (PARTITION BY e.tenant ORDER BY e.n, e.is_stored, e.was) AS position
      FROM (
        SELECT r.n, r.tenant, r.was, 0 AS is_stored FROM unnest(replaced) r
        UNION ALL SELECT f.n, f.tenant, NULL, 1 FROM unnest(fresh) f
        UNION ALL SELECT i.n, i.tenant, NULL, 2 FROM unnest(inherited) i
      ) e JOIN logs l ON l.tenant = e.tenant ORDER BY e.tenant, e.n, e.is_stored, e.was
    ) o);
  IF cardinality(replaced) > 0 THEN
    INSERT INTO log (row, tenant, position, id, at, route, cleared, "by", reason)
    SELECT p.row, p.tenant, p.position, r.id, r.at, r.route, r.was, r.by::text, 'replaced'
    FROM unnest(replaced) r JOIN unnest(placed) p ON p.n = r.n AND p.was = r.was;
    clearing := array(SELECT ROW(c.n, jsonb_agg(c.entry ORDER BY c.position))::append_clearing FROM (
      SELECT r.n, p.position, jsonb_build_object('position', p.position, 'id', r.id, 'at', r.at, 'by', r.by, 'route', r.route) AS entry
      FROM unnest(replaced) r JOIN unnest(placed) p ON p.n = r.n AND p.was = r.was
      UNION ALL
      SELECT i.n, p.position, jsonb_build_object('position', p.position, 'id', i.id, 'at', i.at, 'by', i."by", 'note', i.note,
        'route', i.route, 'acknowledged', true)
      FROM unnest(inherited) i JOIN unnest(placed) p ON p.n = i.n AND p.is_stored = 2
    ) c GROUP BY c.n);
  END IF;
  IF cardinality(inherited) > 0 THEN
    WITH acknowledged AS (
      INSERT INTO acknowledgements (tenant, row, at, "by", note)
      SELECT i.tenant, w.row, i.at, i."by", i.note FROM unnest(inherited) i JOIN unnest(placed) w ON w.n = i.n AND w.is_stored = 1
    )
    INSERT INTO log (row, tenant, position, id, at, route, cleared, "by", reason, message)
    SELECT p.row, p.tenant, p.position, i.id, i.at, i.route, w.position, i."by", 'acknowledged', i.note
    FROM unnest(inherited) i JOIN unnest(placed) p ON p.n = i.n AND p.is_stored = 2
    JOIN unnest(placed) w ON w.n = i.n AND w.is_stored = 1;
  END IF;

  RETURN QUERY
  WITH wanted AS MATERIALIZED (
    SELECT p.row, p.position, f.*, d.route, d.revision, d.to_all, d.to_ids, d.to_tags FROM unnest(placed) p
    JOIN unnest(fresh) f ON f.n = p.n JOIN unnest(decisions) d ON d.nr = f.decision WHERE p.is_stored = 1
  ),
  counters AS (
    UPDATE logs SET head = head + c.entries, notifications = notifications + c.stored, bytes = logs.bytes + c.bytes
    FROM (
      SELECT p.tenant, count(*) AS entries, count(f.n) AS stored, coalesce(sum(f.bytes), 0) AS bytes FROM unnest(placed) p
      LEFT JOIN unnest(fresh) f ON f.n = p.n AND p.is_stored = 1 GROUP BY p.tenant
    ) c WHERE logs.tenant = c.tenant
  ),
  stored AS (
    INSERT INTO log (row, tenant, position, id, at, route, title, message, level, rank, ttl, sent_level, sent_ttl, expires_at,
      ip, host, key, url, source_ip, token_id, throttled_on, throttle_count, terms)
    SELECT f.row, f.tenant, f.position, f.id, f.at, f.route, f.title, f.message, f.level, f.rank, f.ttl, f.sent_level, f.sent_ttl,
      f.expires_at, f.ip, f.host, f.key, f.url, f.source_ip, f.token_id, f.throttled_on,
      coalesce(o.count, f.throttle_count), array_to_tsvector(string_to_array(f.terms, ' '))
    FROM wanted f LEFT JOIN unnest(on_throttle) o ON o.n = f.n
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
    WHERE k.last_row IS NULL OR (SELECT max(low) FROM partitions WHERE low <= u.row) > k.last_row
    ON CONFLICT (tenant, revision) DO UPDATE SET last_row = excluded.last_row
  )
  SELECT w.n, 'stored', w.id, w.position, c.entries, NULL, NULL, o.count
  FROM wanted w LEFT JOIN unnest(clearing) c ON c.n = w.n LEFT JOIN unnest(on_throttle) o ON o.n = w.n
  UNION ALL
  SELECT r.n, r.kind, r.id, NULL, NULL, r.name, r.shown_at, NULL FROM unnest(refused) r
  ORDER BY 1;
END $$;
