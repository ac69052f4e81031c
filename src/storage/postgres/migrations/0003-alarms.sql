-- What an alarm remembers of the notifications before the one that is live. Rows from before this have nulls: no memory.
ALTER TABLE live
  ADD COLUMN since bigint,                    -- when the first was received
  ADD COLUMN earlier bigint,                  -- how many came before this one, also those that throttles counted
  ADD COLUMN highest_level text COLLATE "C",  -- null: no earlier one had a higher level
  ADD COLUMN highest_rank bigint,
  ADD COLUMN shelved text,                    -- JSON: at, by, note, until and rank; null: it is on its panels
  ADD COLUMN returns_at bigint;               -- when its shelf or its acknowledgement ends
ALTER TABLE acknowledgements ADD COLUMN until bigint;

-- Which entries of the log are about a notification: acknowledgements, shelvings and returns.
CREATE TABLE alarm_entries (
  tenant bigint NOT NULL,
  row bigint NOT NULL,       -- of the notification, in `log`
  position bigint NOT NULL,  -- of the entry
  PRIMARY KEY (tenant, row, position)
);

CREATE INDEX live_returns ON live (returns_at) WHERE returns_at IS NOT NULL;

ALTER TABLE alarm_entries ENABLE ROW LEVEL SECURITY;
ALTER TABLE alarm_entries FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON alarm_entries USING (CASE WHEN (SELECT current_setting('belfry.tenant', true)) = 'all'
  THEN true ELSE tenant = (SELECT policy_tenant()) END);

-- A notification with a key and a lower rank ends an alarm, and is none itself.
CREATE FUNCTION first_alarm_rank() RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT 20::bigint $$;

-- Functions: appending to the log ---------------------------------------------------------------------------------------

-- They take the place of `append_replaced` and `append_inherited`, which calls that are under way still use.
CREATE TYPE append_ended AS (
  n bigint, tenant bigint, at bigint, "by" uuid, rank bigint, was bigint, was_row bigint, id uuid, route jsonb, level text,
  since bigint, earlier bigint, highest_level text, highest_rank bigint, shelved text
);
CREATE TYPE append_taken_over AS (
  n bigint, tenant bigint, id uuid, at bigint, route jsonb, "by" text, note text, until bigint
);
-- What a notification remembers of those that it replaces.
CREATE TYPE append_alarm AS (
  n bigint, since bigint, earlier bigint, highest_level text, highest_rank bigint, shelved text, returns_at bigint
);

-- As `append_notifications` was. A notification that replaces others remembers their alarm, unless one of them is a resolve; `shelved` of the
-- answer: its alarm is shelved, so it is on no panel, and its route says so.
CREATE FUNCTION append_to_log(batch json, decided json)
RETURNS TABLE (job_n bigint, kind text, found_id uuid, at_position bigint, clears jsonb, throttled_by text, shown_at bigint,
  counted bigint, shelved boolean) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
#variable_conflict use_column
DECLARE
  jobs append_entry[] := array(SELECT j FROM json_populate_recordset(NULL::append_entry, batch) j);
  decisions append_decision[] := array(SELECT d FROM json_populate_recordset(NULL::append_decision, decided) d);
  tenants bigint[];
  fresh append_entry[] := jobs;
  refused append_refusal[] := '{}';
  replaced append_ended[] := '{}';
  on_throttle append_counted[] := '{}';
  inherited append_taken_over[] := '{}';
  changed append_counted[] := '{}';
  alarms append_alarm[] := '{}';
  placed append_placed[];
  clearing append_clearing[] := '{}';
  with_retry boolean;
  with_claim boolean;
  with_key boolean;
  with_throttle boolean;
BEGIN
  SELECT array_agg(DISTINCT j.tenant), bool_or(j.idempotency_key IS NOT NULL), bool_or(j.claims IS NOT NULL), bool_or((j.fields).key IS NOT NULL),
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
        ROWS FROM (jsonb_to_recordset(j.claims) AS (name text, per_ms bigint, instead_of uuid[])) WITH ORDINALITY AS c(name, per_ms, instead_of, ord),
        throttles t
      WHERE j.claims IS NOT NULL AND t.tenant = j.tenant AND t.name = c.name AND NOT t.id = ANY (coalesce(c.instead_of, '{}')) AND j.at < t.shown_at + c.per_ms AND j.at > t.shown_at - 10000
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
        SELECT f.n, f.tenant, f.at, f.id AS by, l.rank, l.position, l.row, l.id, l.since, l.earlier, l.highest_level, l.highest_rank, l.shelved
        FROM unnest(fresh) f
        JOIN live l ON l.tenant = f.tenant AND l.key = (f.fields).key AND (l.expires_at IS NULL OR l.expires_at > f.at)
          AND l.id IS DISTINCT FROM f.throttled_on
      )
      SELECT ROW(s.n, s.tenant, s.at, s.by, s.rank, s.position, s.row, s.id, g.route, g.level,
        coalesce(s.since, g.at), coalesce(s.earlier, 0), s.highest_level, s.highest_rank, s.shelved)::append_ended
      FROM (SELECT tenant, array_agg(row) AS rows FROM shown GROUP BY 1) t CROSS JOIN LATERAL entries_of(t.tenant, t.rows) g
      JOIN shown s ON s.row = g.row);
    DELETE FROM live l USING unnest(replaced) r WHERE l.tenant = r.tenant AND l.rank = r.rank AND l.position = r.was;
  END IF;
  IF cardinality(replaced) > 0 THEN
    inherited := array(SELECT ROW(f.n, f.tenant, f.id, f.at, d.route, a."by", a.note, a.until)::append_taken_over
      FROM (SELECT DISTINCT ON (e.n) e.n, e.tenant, e.rank, e.was_row FROM unnest(replaced) e ORDER BY e.n, e.was DESC) r
      JOIN unnest(fresh) f ON f.n = r.n AND f.shown AND (f.fields).rank <= r.rank
      JOIN unnest(decisions) d ON d.nr = f.decision AND NOT d.route ? 'origin'
      JOIN acknowledgements a ON a.tenant = r.tenant AND a.row = r.was_row);
  END IF;
  IF cardinality(replaced) > 0 OR cardinality(on_throttle) > 0 THEN
    WITH states AS (
      INSERT INTO log_state (row, tenant, cleared_at, cleared_by, cleared_reason, counted)
      SELECT row, max(tenant), max(cleared_at), max(cleared_by), max(reason), sum(counted) FROM (
        SELECT was_row AS row, tenant, at AS cleared_at, "by"::text AS cleared_by, 'replaced' AS reason, 0 AS counted FROM unnest(replaced)
        UNION ALL
        SELECT row, tenant, NULL, NULL, NULL, 1 FROM unnest(on_throttle)
      ) change GROUP BY row
      ON CONFLICT (row) DO UPDATE SET counted = log_state.counted + excluded.counted,
        cleared_at = coalesce(excluded.cleared_at, log_state.cleared_at),
        cleared_by = coalesce(excluded.cleared_by, log_state.cleared_by),
        cleared_reason = coalesce(excluded.cleared_reason, log_state.cleared_reason)
      RETURNING row, tenant, counted
    ) SELECT array_agg(ROW(NULL, s.tenant, s.row, s.counted)::append_counted) INTO changed FROM states s;
  END IF;
  IF cardinality(replaced) > 0 THEN
    alarms := array(
      SELECT ROW(f.n, l.since, l.earlier, CASE WHEN l.top > (f.fields).rank THEN l.level END, CASE WHEN l.top > (f.fields).rank THEN l.top END,
        CASE WHEN l.shelf_rank >= (f.fields).rank THEN l.shelved END,
        CASE WHEN l.shelf_rank >= (f.fields).rank THEN (l.shelved::jsonb->>'until')::bigint ELSE i.until END)::append_alarm
      FROM unnest(fresh) f
      LEFT JOIN (
        SELECT DISTINCT ON (e.n) e.n, e.since, e.earlier + 1 + c.count AS earlier, e.rank, e.shelved, (e.shelved::jsonb->>'rank')::bigint AS shelf_rank,
          CASE WHEN e.highest_rank > e.rank THEN e.highest_level ELSE e.level END AS level, greatest(e.highest_rank, e.rank) AS top
        FROM unnest(replaced) e JOIN unnest(changed) c ON c.row = e.was_row ORDER BY e.n, e.was DESC
      ) l ON l.n = f.n AND l.rank >= first_alarm_rank() AND (f.fields).rank >= first_alarm_rank()
      LEFT JOIN unnest(inherited) i ON i.n = f.n
      WHERE f.shown AND (l.n IS NOT NULL OR i.n IS NOT NULL));
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
        'route', i.route, 'acknowledged', true) || CASE WHEN i.until IS NULL THEN '{}' ELSE jsonb_build_object('until', i.until) END
      FROM unnest(inherited) i JOIN unnest(placed) p ON p.n = i.n AND p.is_stored = 2
    ) c GROUP BY c.n);
  END IF;
  IF cardinality(inherited) > 0 THEN
    WITH acknowledged AS (
      INSERT INTO acknowledgements (tenant, row, at, "by", note, until)
      SELECT i.tenant, w.row, i.at, i."by", i.note, i.until FROM unnest(inherited) i JOIN unnest(placed) w ON w.n = i.n AND w.is_stored = 1
    ),
    listed AS (
      INSERT INTO alarm_entries (tenant, row, position)
      SELECT i.tenant, w.row, p.position FROM unnest(inherited) i JOIN unnest(placed) p ON p.n = i.n AND p.is_stored = 2
      JOIN unnest(placed) w ON w.n = i.n AND w.is_stored = 1
    )
    INSERT INTO log (row, tenant, position, id, at, route, cleared, "by", reason, message, expires_at)
    SELECT p.row, p.tenant, p.position, i.id, i.at, i.route, w.position, i."by", 'acknowledged', i.note, i.until
    FROM unnest(inherited) i JOIN unnest(placed) p ON p.n = i.n AND p.is_stored = 2
    JOIN unnest(placed) w ON w.n = i.n AND w.is_stored = 1;
  END IF;

  RETURN QUERY
  WITH wanted AS MATERIALIZED (
    SELECT p.row, p.position, f.*, CASE WHEN m.shelved IS NULL THEN d.route ELSE d.route || '{"shelved": true}' END AS route,
      d.revision, d.to_all, d.to_ids, d.to_tags, m.since, m.earlier, m.highest_level, m.highest_rank, m.shelved, m.returns_at
    FROM unnest(placed) p JOIN unnest(fresh) f ON f.n = p.n JOIN unnest(decisions) d ON d.nr = f.decision
    LEFT JOIN unnest(alarms) m ON m.n = f.n WHERE p.is_stored = 1
  ),
  counters AS (
    UPDATE logs SET head = head + c.entries, notifications = notifications + c.stored, bytes = logs.bytes + c.bytes
    FROM (
      SELECT p.tenant, count(*) AS entries, count(f.n) AS stored, coalesce(sum(f.bytes), 0) AS bytes FROM unnest(placed) p
      LEFT JOIN unnest(fresh) f ON f.n = p.n AND p.is_stored = 1 GROUP BY p.tenant
    ) c WHERE logs.tenant = c.tenant
  ),
  stored AS (
    -- All columns of `log`: those of a clearing are null.
    INSERT INTO log
    SELECT f.row, f.tenant, f.position, f.id, f.at, f.route, NULL, NULL, NULL, f.ttl, f.expires_at, f.throttled_on,
      coalesce(o.count, f.throttle_count), array_to_tsvector(string_to_array(f.terms, ' ')), (f.fields).*
    FROM wanted f LEFT JOIN unnest(on_throttle) o ON o.n = f.n
  ),
  shown AS (
    INSERT INTO live (tenant, rank, position, row, id, expires_at, key, to_all, to_ids, to_tags,
      since, earlier, highest_level, highest_rank, shelved, returns_at)
    SELECT f.tenant, (f.fields).rank, f.position, f.row, f.id, f.expires_at, (f.fields).key, f.to_all, f.to_ids, f.to_tags,
      coalesce(f.since, f.at), f.earlier, f.highest_level, f.highest_rank, f.shelved, f.returns_at FROM wanted f WHERE f.shown
  ),
  counted_minutes AS (
    INSERT INTO minutes (tenant, minute, level, count)
    SELECT f.tenant, f.at / 60000, (f.fields).level, count(*) FROM wanted f GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
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
  SELECT w.n, 'stored', w.id, w.position, c.entries, NULL, NULL, o.count, w.shelved IS NOT NULL
  FROM wanted w LEFT JOIN unnest(clearing) c ON c.n = w.n LEFT JOIN unnest(on_throttle) o ON o.n = w.n
  UNION ALL
  SELECT r.n, r.kind, r.id, NULL, NULL, r.name, r.shown_at, NULL, false FROM unnest(refused) r
  ORDER BY 1;
END $$;

-- For older nodes: what they have prepared must answer with the same columns.
CREATE OR REPLACE FUNCTION append_notifications(batch json, decided json)
RETURNS TABLE (job_n bigint, kind text, found_id uuid, at_position bigint, clears jsonb, throttled_by text, shown_at bigint,
  counted bigint) LANGUAGE sql AS $$
  SELECT job_n, kind, found_id, at_position, clears, throttled_by, shown_at, counted FROM append_to_log(batch, decided) ORDER BY job_n
$$;

-- Functions: what changes about a notification --------------------------------------------------------------------------

-- Takes a live notification off its panels by an entry of its own; the caller holds the lock on the tenant's counters.
DROP FUNCTION take_off(live, bigint, text, text);
CREATE FUNCTION take_off(l live, new_at bigint, new_by text, new_reason text DEFAULT 'cleared', new_note text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  new_position bigint;
BEGIN
  DELETE FROM live WHERE tenant = l.tenant AND rank = l.rank AND position = l.position;
  UPDATE logs SET head = head + 1 WHERE tenant = l.tenant RETURNING head INTO new_position;
  INSERT INTO log (row, tenant, position, id, at, route, cleared, "by", reason, message)
    SELECT nextval('log_row'), l.tenant, new_position, l.id, new_at, g.route, l.position, new_by, new_reason, new_note
    FROM entries_of(l.tenant, ARRAY[l.row]) g;
  INSERT INTO log_state (row, tenant, cleared_at, cleared_by, cleared_reason) VALUES (l.row, l.tenant, new_at, new_by, new_reason)
    ON CONFLICT (row) DO UPDATE SET cleared_at = excluded.cleared_at, cleared_by = excluded.cleared_by, cleared_reason = excluded.cleared_reason;
  RETURN new_position;
END $$;

-- The memory of an alarm passes to a notification that is live already, if there is one of this id.
CREATE FUNCTION hand_over(last live, to_id uuid) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  heir live;
  stored log;
  was_counted bigint;
  top bigint := greatest(last.highest_rank, last.rank);
BEGIN
  SELECT l.* INTO heir FROM find_entry(last.tenant, to_id) g JOIN live l ON l.tenant = g.tenant AND l.rank = g.rank AND l.position = g.position;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT g.* INTO stored FROM entries_of(last.tenant, ARRAY[last.row]) g;
  SELECT s.counted INTO was_counted FROM states_of(last.tenant, ARRAY[last.row]) s;
  UPDATE live SET since = least(since, coalesce(last.since, stored.at)),
    earlier = coalesce(earlier, 0) + coalesce(last.earlier, 0) + 1 + coalesce(was_counted, 0),
    highest_level = coalesce(highest_level,
      CASE WHEN top > heir.rank THEN CASE WHEN last.highest_rank > last.rank THEN last.highest_level ELSE stored.level END END),
    highest_rank = coalesce(highest_rank, CASE WHEN top > heir.rank THEN top END)
    WHERE tenant = heir.tenant AND rank = heir.rank AND position = heir.position;
END $$;

-- Clears one notification. `kind` is cleared, not-live or not-found. A notification that replaces it remembers its alarm.
CREATE OR REPLACE FUNCTION clear_notification(of_tenant bigint, of_id uuid, new_by text, new_at bigint, new_reason text DEFAULT 'cleared')
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
  IF new_reason = 'replaced' THEN
    PERFORM hand_over(shown, new_by::uuid);
  END IF;
  RETURN QUERY SELECT 'cleared', take_off(shown, new_at, new_by, new_reason), wanted.route;
END $$;

-- Adds an entry about a notification, and lists it with the notification; the caller holds the lock on the tenant's counters.
CREATE FUNCTION add_change(of_entry log, new_at bigint, new_by text, new_reason text, new_note text, new_until bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  new_position bigint;
BEGIN
  UPDATE logs SET head = head + 1 WHERE tenant = of_entry.tenant RETURNING head INTO new_position;
  INSERT INTO log (row, tenant, position, id, at, route, cleared, "by", reason, message, expires_at)
    VALUES (nextval('log_row'), of_entry.tenant, new_position, of_entry.id, new_at, of_entry.route, of_entry.position, new_by, new_reason, new_note, new_until);
  INSERT INTO alarm_entries VALUES (of_entry.tenant, of_entry.row, new_position);
  RETURN new_position;
END $$;

-- Acknowledges one notification. `kind` is acknowledged, already (then by whom, when, with which note and until when) or not-found.
DROP FUNCTION acknowledge_notification(bigint, uuid, text, bigint, text);
CREATE FUNCTION acknowledge_notification(of_tenant bigint, of_id uuid, new_by text, new_at bigint, new_note text, new_until bigint DEFAULT NULL)
RETURNS TABLE (kind text, at_position bigint, of_route jsonb, earlier_by text, earlier_at bigint, earlier_note text, earlier_until bigint)
LANGUAGE plpgsql AS $$
DECLARE
  wanted log;
  earlier acknowledgements;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant FOR UPDATE;
  SELECT g.* INTO wanted FROM find_entry(of_tenant, of_id) g;
  IF NOT FOUND THEN
    RETURN QUERY SELECT 'not-found', NULL::bigint, NULL::jsonb, NULL::text, NULL::bigint, NULL::text, NULL::bigint;
    RETURN;
  END IF;
  SELECT * INTO earlier FROM acknowledgements a WHERE a.tenant = of_tenant AND a.row = wanted.row;
  IF FOUND THEN
    RETURN QUERY SELECT 'already', NULL::bigint, NULL::jsonb, earlier."by", earlier.at, earlier.note, earlier.until;
    RETURN;
  END IF;
  INSERT INTO acknowledgements VALUES (of_tenant, wanted.row, new_at, new_by, new_note, new_until);
  UPDATE live l SET returns_at = new_until WHERE l.tenant = of_tenant AND l.rank = wanted.rank AND l.position = wanted.position
    AND l.returns_at IS DISTINCT FROM new_until;
  RETURN QUERY SELECT 'acknowledged', add_change(wanted, new_at, new_by, 'acknowledged', new_note, new_until), wanted.route,
    NULL::text, NULL::bigint, NULL::text, NULL::bigint;
END $$;

-- Functions: alarms -----------------------------------------------------------------------------------------------------

-- The notification that stands in the place of this one: itself, or what replaced it. If the alarm has ended, itself. Of a notification without
-- a key as many replacements are followed as it may have escalations.
CREATE FUNCTION standing_of(given log, now_at bigint) RETURNS log LANGUAGE plpgsql STABLE AS $$
DECLARE
  entry log := given;
  shown live;
  successor text;
BEGIN
  FOR i IN 0..100 LOOP
    PERFORM 1 FROM live l WHERE l.tenant = entry.tenant AND l.rank = entry.rank AND l.position = entry.position
      AND (l.expires_at IS NULL OR l.expires_at > now_at);
    IF FOUND THEN
      RETURN entry;
    END IF;
    SELECT s.cleared_by INTO successor FROM states_of(entry.tenant, ARRAY[entry.row]) s WHERE s.cleared_reason = 'replaced';
    EXIT WHEN NOT FOUND;
    IF given.key IS NOT NULL THEN
      -- What is live of the key, if its alarm began before this notification was received.
      SELECT * INTO shown FROM live l WHERE l.tenant = given.tenant AND l.key = given.key AND (l.expires_at IS NULL OR l.expires_at > now_at)
        ORDER BY l.position DESC LIMIT 1;
      EXIT WHEN NOT FOUND OR shown.since > given.at;
      SELECT g.* INTO entry FROM entries_of(given.tenant, ARRAY[shown.row]) g;
      RETURN entry;
    END IF;
    SELECT g.* INTO entry FROM find_entry(given.tenant, successor::uuid) g;
    EXIT WHEN NOT FOUND;
  END LOOP;
  RETURN given;
END $$;

CREATE TYPE alarm_action AS (kind text, at bigint, "by" text, note text, until bigint, over text, is_due boolean);

-- Applies an action to the alarms of these notifications, and answers for each id. `kind` is done, already (then by whom and when it was
-- acknowledged), nothing (the alarm has ended, or there is nothing to take back) or not-found. With `panel`, what does not reach it is not found.
CREATE FUNCTION act_on_alarms(of_tenant bigint, ids uuid[], action jsonb, panel text, panel_tags text[])
RETURNS TABLE (kind text, of_id uuid, at_position bigint, of_route jsonb, earlier_by text, earlier_at bigint, earlier_note text, earlier_until bigint)
LANGUAGE plpgsql AS $$
DECLARE
  a alarm_action := jsonb_populate_record(NULL::alarm_action, action);
  given record;
  entry log;
  shown live;
  earlier acknowledgements;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant FOR UPDATE;
  FOR given IN SELECT w.id, g AS entry FROM unnest(ids) WITH ORDINALITY w (id, n)
    LEFT JOIN find_entries(of_tenant, array(SELECT DISTINCT i FROM unnest(ids) i)) g ON g.id = w.id ORDER BY w.n LOOP
    kind := 'not-found';
    of_id := given.id;
    at_position := NULL;
    earlier := NULL;
    entry := given.entry;
    IF entry.row IS NOT NULL THEN
      entry := standing_of(entry, a.at);
    END IF;
    of_route := entry.route;
    IF entry.row IS NULL OR panel IS NOT NULL AND NOT ((of_route->'target'->>'all')::boolean OR of_route->'target'->'ids' ? panel
      OR of_route->'target'->'tags' ?| panel_tags) THEN
      RETURN NEXT;
      CONTINUE;
    END IF;
    of_id := entry.id;
    SELECT * INTO shown FROM live l WHERE l.tenant = of_tenant AND l.rank = entry.rank AND l.position = entry.position
      AND (l.expires_at IS NULL OR l.expires_at > a.at);
    SELECT * INTO earlier FROM acknowledgements k WHERE k.tenant = of_tenant AND k.row = entry.row;
    kind := CASE a.kind
      WHEN 'acknowledge' THEN CASE WHEN shown.shelved IS NOT NULL THEN 'nothing'
        WHEN earlier.row IS NULL OR a.over = 'any' OR a.over = 'own' AND earlier."by" = a."by" THEN 'done' ELSE 'already' END
      WHEN 'unacknowledge' THEN CASE WHEN shown.shelved IS NOT NULL OR earlier.row IS NULL
        OR a.is_due AND coalesce(earlier.until > a.at, true) THEN 'nothing' ELSE 'done' END
      WHEN 'unshelve' THEN CASE WHEN shown.shelved IS NULL OR a.is_due AND (shown.shelved::jsonb->>'until')::bigint > a.at THEN 'nothing' ELSE 'done' END
      ELSE CASE WHEN shown.row IS NULL THEN 'nothing' ELSE 'done' END END;
    IF kind = 'done' THEN
      at_position := do_on_alarm(entry, shown, a);
    END IF;
    earlier_by := earlier."by";
    earlier_at := earlier.at;
    earlier_note := earlier.note;
    earlier_until := earlier.until;
    RETURN NEXT;
  END LOOP;
END $$;

-- Does it to the notification that stands; returns the position of the entry. Who acknowledged an alarm before it was shelved is not remembered: it
-- comes back open.
CREATE FUNCTION do_on_alarm(entry log, shown live, a alarm_action) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  new_position bigint;
  new_shelf text := CASE WHEN a.kind = 'shelve' THEN jsonb_build_object('at', a.at, 'by', a."by", 'note', a.note, 'until', a.until, 'rank', entry.rank) END;
BEGIN
  IF a.kind = 'clear' THEN
    new_position := take_off(shown, a.at, a."by", 'cleared', a.note);
    INSERT INTO alarm_entries VALUES (entry.tenant, entry.row, new_position);
    RETURN new_position;
  ELSIF a.kind = 'acknowledge' THEN
    INSERT INTO acknowledgements VALUES (entry.tenant, entry.row, a.at, a."by", a.note, a.until)
      ON CONFLICT (tenant, row) DO UPDATE SET at = excluded.at, "by" = excluded."by", note = excluded.note, until = excluded.until;
  ELSIF a.kind IN ('unacknowledge', 'shelve') THEN
    DELETE FROM acknowledgements k WHERE k.tenant = entry.tenant AND k.row = entry.row;
  END IF;
  UPDATE live l SET shelved = new_shelf, returns_at = a.until WHERE l.tenant = entry.tenant AND l.rank = entry.rank AND l.position = entry.position
    AND (l.shelved, l.returns_at) IS DISTINCT FROM (new_shelf, a.until);
  RETURN add_change(entry, a.at, a."by",
    CASE a.kind WHEN 'acknowledge' THEN 'acknowledged' WHEN 'unacknowledge' THEN 'unacknowledged' WHEN 'shelve' THEN 'shelved' ELSE 'unshelved' END,
    a.note, a.until);
END $$;
