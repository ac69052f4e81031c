-- How far the escalation of an alarm is.
ALTER TABLE live
  ADD COLUMN escalation text,      -- JSON: rule and steps; null: it has none
  ADD COLUMN step bigint,          -- the index of the next one
  ADD COLUMN step_at bigint,       -- when that is due if the alarm is open then; null: there is none
  ADD COLUMN next_step_at bigint;  -- the same while the alarm is open, else null

CREATE INDEX live_steps ON live (next_step_at) WHERE next_step_at IS NOT NULL;

-- They were due times. What was due in the meantime was put off while somebody had acknowledged the alarm.
UPDATE live l SET
  escalation = jsonb_build_object('rule', d.data->'rule', 'steps', d.data->'steps')::text,
  step = (d.data->>'step')::bigint,
  step_at = CASE WHEN (d.data->>'step')::bigint < jsonb_array_length(d.data->'steps') THEN CASE WHEN d.data ? 'isHandled' THEN 0 ELSE d.due_at END END
FROM (SELECT tenant, subject, due_at, data::jsonb AS data FROM due_times WHERE kind = 'escalation') d
WHERE d.tenant = l.tenant AND (d.subject = 'key ' || l.key OR d.subject LIKE 'id %' AND d.data->>'id' = l.id::text);
UPDATE live l SET next_step_at = step_at WHERE step_at IS NOT NULL AND shelved IS NULL
  AND NOT EXISTS (SELECT 1 FROM acknowledgements a WHERE a.tenant = l.tenant AND a.row = l.row);
DELETE FROM due_times WHERE kind = 'escalation';

-- Functions: appending to the log ---------------------------------------------------------------------------------------

-- `escalation`: what rules ask for; `step`: how many steps the draft takes into account; `replaces`: what a step replaces.
ALTER TYPE append_entry ADD ATTRIBUTE escalation text, ADD ATTRIBUTE step bigint, ADD ATTRIBUTE replaces uuid;
CREATE TYPE append_escalation AS (
  n bigint, is_changed boolean, changed_to uuid, escalation text, step bigint, step_at bigint, next_step_at bigint
);

-- The escalation in the live row of a new notification, or that its draft was not made for the alarm as it is.
CREATE FUNCTION escalation_of(j append_entry, has_origin boolean) RETURNS append_escalation LANGUAGE plpgsql STABLE AS $$
DECLARE
  last live;
  e append_escalation := ROW(j.n, false, NULL, NULL, NULL, NULL, NULL);
BEGIN
  IF j.replaces IS NOT NULL THEN
    SELECT l.* INTO last FROM find_entry(j.tenant, j.replaces) g JOIN live l ON l.tenant = g.tenant AND l.rank = g.rank AND l.position = g.position
      WHERE l.next_step_at IS NOT NULL AND l.step = j.step AND (l.expires_at IS NULL OR l.expires_at > j.at);
    e.is_changed := NOT FOUND;
    e.escalation := last.escalation;
    e.step := last.step + 1;
    e.step_at := j.at + (last.escalation::jsonb #>> ARRAY['steps', e.step::text, 'afterMs'])::bigint;
    e.next_step_at := e.step_at;
    RETURN e;
  END IF;
  SELECT l.* INTO last FROM live l WHERE l.tenant = j.tenant AND l.key = (j.fields).key AND (l.expires_at IS NULL OR l.expires_at > j.at)
    ORDER BY l.position DESC LIMIT 1;
  -- It was acknowledged or shelved, and is open again with this notification.
  IF last.escalation IS NULL OR (j.fields).rank > (last.shelved::jsonb->>'rank')::bigint OR last.shelved IS NULL AND (has_origin OR (j.fields).rank > last.rank)
    AND EXISTS (SELECT 1 FROM acknowledgements a WHERE a.tenant = last.tenant AND a.row = last.row) THEN
    last := NULL;
  END IF;
  e.is_changed := CASE WHEN j.throttled_on IS NULL THEN coalesce(last.step, 0) <> j.step ELSE coalesce(last.id <> j.throttled_on, false) END;
  e.changed_to := last.id;
  e.escalation := coalesce(last.escalation, j.escalation);
  e.step := coalesce(last.step, 0);
  IF last.id IS NULL THEN
    e.step_at := j.at + (j.escalation::jsonb #>> '{steps,0,afterMs}')::bigint;
    e.next_step_at := e.step_at;
  -- Unless a panel has shown it, and its next step is for one that no panel has shown.
  ELSIF last.escalation::jsonb #>> ARRAY['steps', last.step::text, 'unless'] IS DISTINCT FROM 'shown'
    OR NOT EXISTS (SELECT 1 FROM receipts_of(last.tenant, ARRAY[last.row]) r WHERE r.shown_at IS NOT NULL) THEN
    e.step_at := last.step_at;
    e.next_step_at := last.next_step_at;
  END IF;
  RETURN e;
END $$;

-- As before, with escalations; `kind` of the answer may also be changed: then the draft must be made for `found_id` and the step in `shown_at`.
CREATE OR REPLACE FUNCTION append_to_log(batch json, decided json)
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
  escalations append_escalation[] := '{}';
  placed append_placed[];
  clearing append_clearing[] := '{}';
  with_retry boolean;
  with_claim boolean;
  with_key boolean;
  with_throttle boolean;
  with_escalation boolean;
BEGIN
  SELECT array_agg(DISTINCT j.tenant), bool_or(j.idempotency_key IS NOT NULL), bool_or(j.claims IS NOT NULL), bool_or((j.fields).key IS NOT NULL),
    bool_or(j.throttled_on IS NOT NULL), bool_or(j.escalation IS NOT NULL OR j.replaces IS NOT NULL)
    INTO tenants, with_retry, with_claim, with_key, with_throttle, with_escalation FROM unnest(jobs) j;
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
  IF with_escalation THEN
    escalations := array(SELECT escalation_of(j, d.route ? 'origin') FROM unnest(jobs) j JOIN unnest(decisions) d ON d.nr = j.decision
      WHERE j.escalation IS NOT NULL OR j.replaces IS NOT NULL);
    refused := refused || array(SELECT ROW(e.n, 'changed', e.changed_to, NULL, CASE WHEN e.changed_to IS NULL THEN 0 ELSE e.step END)::append_refusal FROM unnest(escalations) e
      WHERE e.is_changed AND NOT EXISTS (SELECT 1 FROM unnest(refused) r WHERE r.n = e.n));
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
  IF with_key OR with_escalation THEN
    replaced := array(
      WITH shown AS MATERIALIZED (
        SELECT f.n, f.tenant, f.at, f.id AS by, l.rank, l.position, l.row, l.id, l.since, l.earlier, l.highest_level, l.highest_rank, l.shelved
        FROM unnest(fresh) f
        JOIN live l ON l.tenant = f.tenant AND l.key = (f.fields).key AND (l.expires_at IS NULL OR l.expires_at > f.at)
          AND l.id IS DISTINCT FROM f.throttled_on
        UNION ALL
        SELECT f.n, f.tenant, f.at, f.id, l.rank, l.position, l.row, l.id, l.since, l.earlier, l.highest_level, l.highest_rank, l.shelved
        FROM (SELECT * FROM unnest(fresh) w WHERE w.replaces IS NOT NULL AND (w.fields).key IS NULL) f
        CROSS JOIN LATERAL find_entry(f.tenant, f.replaces) g
        JOIN live l ON l.tenant = g.tenant AND l.rank = g.rank AND l.position = g.position
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
      d.revision, d.to_all, d.to_ids, d.to_tags, m.since, m.earlier, m.highest_level, m.highest_rank, m.shelved, m.returns_at,
      e.escalation AS escalates, e.step AS next_step, e.step_at, e.next_step_at
    FROM unnest(placed) p JOIN unnest(fresh) f ON f.n = p.n JOIN unnest(decisions) d ON d.nr = f.decision
    LEFT JOIN unnest(alarms) m ON m.n = f.n LEFT JOIN unnest(escalations) e ON e.n = f.n WHERE p.is_stored = 1
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
      since, earlier, highest_level, highest_rank, shelved, returns_at, escalation, step, step_at, next_step_at)
    SELECT f.tenant, (f.fields).rank, f.position, f.row, f.id, f.expires_at, (f.fields).key, f.to_all, f.to_ids, f.to_tags,
      coalesce(f.since, f.at), f.earlier, f.highest_level, f.highest_rank, f.shelved, f.returns_at,
      f.escalates, f.next_step, f.step_at, f.next_step_at FROM wanted f WHERE f.shown
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

-- Functions: what changes about a notification --------------------------------------------------------------------------

DROP FUNCTION acknowledge_notification(bigint, uuid, text, bigint, text, bigint);

-- As before. While an alarm is acknowledged or shelved, no step of its escalation is due.
CREATE OR REPLACE FUNCTION do_on_alarm(entry log, shown live, a alarm_action) RETURNS bigint LANGUAGE plpgsql AS $$
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
  UPDATE live l SET shelved = new_shelf, returns_at = a.until, next_step_at = CASE WHEN a.kind LIKE 'un%' THEN l.step_at END
    WHERE l.tenant = entry.tenant AND l.rank = entry.rank AND l.position = entry.position
    AND (l.shelved, l.returns_at, l.next_step_at) IS DISTINCT FROM (new_shelf, a.until, CASE WHEN a.kind LIKE 'un%' THEN l.step_at END);
  RETURN add_change(entry, a.at, a."by",
    CASE a.kind WHEN 'acknowledge' THEN 'acknowledged' WHEN 'unacknowledge' THEN 'unacknowledged' WHEN 'shelve' THEN 'shelved' ELSE 'unshelved' END,
    a.note, a.until);
END $$;
