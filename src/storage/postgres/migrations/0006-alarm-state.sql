-- Who takes care of an alarm, how far its escalation is, and which alarms are off the panels while another one stands. A cause and what it
-- suppresses have a key in common, as their routes say. Of a suppressed one, `shelved` has the JSON of at and by: since when, and a notification of its cause.
ALTER TABLE live
  ADD COLUMN owner text,        -- JSON: id and name
  ADD COLUMN follows text,      -- JSON: the keys by which it is suppressed while a cause stands
  ADD COLUMN suppressed text COLLATE "C", -- the one of these by which it is now; null: it is not
  ADD COLUMN escalation text,   -- JSON: rule and steps; null: it has none
  ADD COLUMN step bigint,       -- the index of the next one
  ADD COLUMN step_at bigint,    -- when that is due if the alarm is open then; null: there is none
  ADD COLUMN next_step_at bigint; -- the same while the alarm is open, else null

-- The keys by which live notifications suppress others. Those of notifications that are no longer live are removed from time to time.
CREATE TABLE alarm_causes (
  tenant bigint NOT NULL,
  key text COLLATE "C" NOT NULL,
  row bigint NOT NULL,      -- of the notification, in `log` …
  rank bigint NOT NULL,     -- … and in `live`
  position bigint NOT NULL,
  rule text NOT NULL,       -- what the key was made of
  revision bigint NOT NULL, -- of the rule set
  is_new boolean NOT NULL,  -- alarms that stood before have not been looked at
  PRIMARY KEY (tenant, key, row)
);

CREATE INDEX live_steps ON live (next_step_at) WHERE next_step_at IS NOT NULL;
CREATE INDEX alarm_causes_rows ON alarm_causes (tenant, row);
CREATE INDEX alarm_causes_new ON alarm_causes (tenant) WHERE is_new;
CREATE INDEX live_suppressed ON live (tenant, suppressed) WHERE suppressed IS NOT NULL;
CREATE INDEX live_follows ON live (tenant) WHERE follows IS NOT NULL AND suppressed IS NULL;

ALTER TABLE alarm_causes ENABLE ROW LEVEL SECURITY;
ALTER TABLE alarm_causes FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON alarm_causes USING (CASE WHEN (SELECT current_setting('belfry.tenant', true)) = 'all'
  THEN true ELSE tenant = (SELECT policy_tenant()) END);

-- Escalations were due times. What was due in the meantime was put off while somebody had acknowledged the alarm.
UPDATE live l SET
  escalation = jsonb_build_object('rule', d.data->'rule', 'steps', d.data->'steps')::text,
  step = (d.data->>'step')::bigint,
  step_at = CASE WHEN (d.data->>'step')::bigint < jsonb_array_length(d.data->'steps') THEN CASE WHEN d.data ? 'isHandled' THEN 0 ELSE d.due_at END END
FROM (SELECT tenant, subject, due_at, data::jsonb AS data FROM due_times WHERE kind = 'escalation') d
WHERE d.tenant = l.tenant
  AND CASE WHEN d.subject LIKE 'key %' THEN d.subject ELSE 'id ' || (d.data->>'id') END = coalesce('key ' || l.key, 'id ' || l.id);
UPDATE live l SET next_step_at = step_at WHERE step_at IS NOT NULL AND shelved IS NULL
  AND NOT EXISTS (SELECT 1 FROM acknowledgements a WHERE a.tenant = l.tenant AND a.row = l.row);
DELETE FROM due_times WHERE kind = 'escalation';

-- Functions: causes -----------------------------------------------------------------------------------------------------

-- A resolve is none.
CREATE FUNCTION is_alarm(key text, rank bigint) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT key IS NULL OR rank >= first_alarm_rank() $$;

-- Whether a cause by this key, or one of its causes, is on the panels, from cause to cause, without passing by the alarm in `of_row`.
CREATE FUNCTION is_held(of_tenant bigint, of_key text, now_at bigint, of_row bigint) RETURNS boolean LANGUAGE sql STABLE AS $$
  WITH RECURSIVE up (key) AS (
    SELECT of_key COLLATE "C"
    UNION
    SELECT l.suppressed FROM up JOIN alarm_causes c ON c.tenant = of_tenant AND c.key = up.key
      JOIN live l ON l.tenant = c.tenant AND l.rank = c.rank AND l.position = c.position
    WHERE l.suppressed IS NOT NULL AND l.row IS DISTINCT FROM of_row AND (l.expires_at IS NULL OR l.expires_at > now_at)
  )
  SELECT EXISTS (SELECT 1 FROM up JOIN alarm_causes c ON c.tenant = of_tenant AND c.key = up.key
      JOIN live l ON l.tenant = c.tenant AND l.rank = c.rank AND l.position = c.position
    WHERE l.suppressed IS NULL AND l.row IS DISTINCT FROM of_row AND (l.expires_at IS NULL OR l.expires_at > now_at))
$$;

-- The cause by one of these keys for an alarm, other than itself (`of_row`).
CREATE FUNCTION find_cause(of_tenant bigint, keys text[], now_at bigint, of_row bigint) RETURNS TABLE (key text, id uuid) LANGUAGE sql STABLE AS $$
  SELECT k.key, x.id FROM unnest(keys) WITH ORDINALITY k (key, n)
  CROSS JOIN LATERAL (
    SELECT l.id FROM alarm_causes c JOIN live l ON l.tenant = c.tenant AND l.rank = c.rank AND l.position = c.position
    WHERE c.tenant = of_tenant AND c.key = k.key AND l.row IS DISTINCT FROM of_row AND (l.expires_at IS NULL OR l.expires_at > now_at)
    ORDER BY l.suppressed IS NOT NULL, l.row DESC LIMIT 1
  ) x
  WHERE is_held(of_tenant, k.key, now_at, of_row) ORDER BY k.n LIMIT 1
$$;

CREATE TYPE append_suppressed AS (n bigint, key text, id uuid);
ALTER TYPE append_ended ADD ATTRIBUTE owner text;
ALTER TYPE append_alarm ADD ATTRIBUTE owner text;
ALTER TYPE alarm_action ADD ATTRIBUTE owner text;

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
    -- While it was suppressed, none was due.
    e.next_step_at := CASE WHEN last.suppressed IS NULL THEN last.next_step_at ELSE last.step_at END;
  END IF;
  RETURN e;
END $$;

-- Appends notifications. One that replaces others remembers their alarm, unless one of them is a resolve. `off` of the answer: why it is on no
-- panel, as its route then says: its alarm is shelved, or a cause stands that suppresses it. `kind` may be changed: then the draft must be
-- made anew, for `found_id` and the step in `shown_at`.
DROP FUNCTION append_to_log(json, json);
CREATE FUNCTION append_to_log(batch json, decided json)
RETURNS TABLE (job_n bigint, kind text, found_id uuid, at_position bigint, clears jsonb, throttled_by text, shown_at bigint,
  counted bigint, off jsonb) LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
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
  suppressed append_suppressed[] := '{}';
  escalations append_escalation[] := '{}';
  placed append_placed[];
  clearing append_clearing[] := '{}';
  with_retry boolean;
  with_claim boolean;
  with_key boolean;
  with_throttle boolean;
  with_escalation boolean;
  with_suppress constant boolean := EXISTS (SELECT 1 FROM unnest(decisions) d WHERE d.route ? 'suppress');
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
        SELECT f.n, f.tenant, f.at, f.id AS by, l.rank, l.position, l.row, l.id, l.since, l.earlier, l.highest_level, l.highest_rank, l.shelved, l.owner
        FROM unnest(fresh) f
        JOIN live l ON l.tenant = f.tenant AND l.key = (f.fields).key AND (l.expires_at IS NULL OR l.expires_at > f.at)
          AND l.id IS DISTINCT FROM f.throttled_on
        UNION ALL
        SELECT f.n, f.tenant, f.at, f.id, l.rank, l.position, l.row, l.id, l.since, l.earlier, l.highest_level, l.highest_rank, l.shelved, l.owner
        FROM (SELECT * FROM unnest(fresh) w WHERE w.replaces IS NOT NULL AND (w.fields).key IS NULL) f
        CROSS JOIN LATERAL find_entry(f.tenant, f.replaces) g
        JOIN live l ON l.tenant = g.tenant AND l.rank = g.rank AND l.position = g.position
      )
      SELECT ROW(s.n, s.tenant, s.at, s.by, s.rank, s.position, s.row, s.id, g.route, g.level,
        coalesce(s.since, g.at), coalesce(s.earlier, 0), s.highest_level, s.highest_rank, s.shelved, s.owner)::append_ended
      FROM (SELECT tenant, array_agg(row) AS rows FROM shown GROUP BY 1) t CROSS JOIN LATERAL entries_of(t.tenant, t.rows) g
      JOIN shown s ON s.row = g.row);
    DELETE FROM live l USING unnest(replaced) r WHERE l.tenant = r.tenant AND l.rank = r.rank AND l.position = r.was;
    DELETE FROM alarm_causes c USING unnest(replaced) r WHERE c.tenant = r.tenant AND c.row = r.was_row;
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
        CASE WHEN l.shelf_rank >= (f.fields).rank THEN (l.shelved::jsonb->>'until')::bigint ELSE i.until END, l.owner)::append_alarm
      FROM unnest(fresh) f
      LEFT JOIN (
        SELECT DISTINCT ON (e.n) e.n, e.since, e.earlier + 1 + c.count AS earlier, e.rank, e.owner, e.shelved, (e.shelved::jsonb->>'rank')::bigint AS shelf_rank,
          CASE WHEN e.highest_rank > e.rank THEN e.highest_level ELSE e.level END AS level, greatest(e.highest_rank, e.rank) AS top
        FROM unnest(replaced) e JOIN unnest(changed) c ON c.row = e.was_row ORDER BY e.n, e.was DESC
      ) l ON l.n = f.n AND l.rank >= first_alarm_rank() AND (f.fields).rank >= first_alarm_rank()
      LEFT JOIN unnest(inherited) i ON i.n = f.n
      WHERE f.shown AND (l.n IS NOT NULL OR i.n IS NOT NULL));
  END IF;
  IF with_suppress THEN
    -- Causes may stand already, or come in the same batch. Whether one of the batch is suppressed itself is settled later.
    suppressed := array(
      SELECT DISTINCT ON (f.n) ROW(f.n, c.key, c.id)::append_suppressed
      FROM unnest(fresh) f JOIN unnest(decisions) d ON d.nr = f.decision
      CROSS JOIN LATERAL (
        SELECT s.key, s.id FROM find_cause(f.tenant, array(SELECT jsonb_array_elements_text(d.route->'suppress'->'follows')), f.at, NULL) s
        UNION ALL
        SELECT k->>'key', b.id FROM unnest(fresh) b JOIN unnest(decisions) e ON e.nr = b.decision
          CROSS JOIN LATERAL jsonb_array_elements(e.route->'suppress'->'causes') k
        WHERE b.tenant = f.tenant AND b.n <> f.n AND b.shown AND is_alarm((b.fields).key, (b.fields).rank)
          AND d.route->'suppress'->'follows' ? (k->>'key') AND e.route->'suppress'->'follows' = '[]'
      ) c
      WHERE f.shown AND d.route ? 'suppress' AND is_alarm((f.fields).key, (f.fields).rank)
        AND NOT EXISTS (SELECT 1 FROM unnest(inherited) i WHERE i.n = f.n) AND NOT EXISTS (SELECT 1 FROM unnest(alarms) m WHERE m.n = f.n AND m.shelved IS NOT NULL)
      ORDER BY f.n);
  END IF;
  -- The end of a suppressed alarm is on no panel, and does not stand.
  suppressed := suppressed || array(SELECT DISTINCT ON (f.n) ROW(f.n, '', (r.shelved::jsonb->>'by')::uuid)::append_suppressed
    FROM unnest(fresh) f JOIN unnest(replaced) r ON r.n = f.n
    WHERE f.shown AND NOT is_alarm((f.fields).key, (f.fields).rank) AND r.shelved IS NOT NULL AND NOT r.shelved::jsonb ? 'until' ORDER BY f.n);
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
    SELECT p.row, p.position, f.*, d.route || coalesce(o.off, '{}') AS route, o.off,
      d.revision, d.to_all, d.to_ids, d.to_tags, m.since, m.earlier, m.highest_level, m.highest_rank, m.owner, m.returns_at,
      CASE WHEN s.n IS NULL THEN m.shelved ELSE jsonb_build_object('at', f.at, 'by', s.id)::text END AS shelved, s.key AS suppressed,
      CASE WHEN f.shown AND is_alarm((f.fields).key, (f.fields).rank) THEN d.route->'suppress' END AS suppress,
      e.escalation AS escalates, e.step AS next_step, e.step_at, CASE WHEN o.off IS NULL THEN e.next_step_at END AS next_step_at
    FROM unnest(placed) p JOIN unnest(fresh) f ON f.n = p.n JOIN unnest(decisions) d ON d.nr = f.decision
    LEFT JOIN unnest(alarms) m ON m.n = f.n LEFT JOIN unnest(suppressed) s ON s.n = f.n LEFT JOIN unnest(escalations) e ON e.n = f.n
    CROSS JOIN LATERAL (SELECT CASE WHEN m.shelved IS NOT NULL THEN '{"shelved": true}'::jsonb
      WHEN s.n IS NOT NULL THEN jsonb_build_object('suppressed', jsonb_build_object('by', s.id, 'key', s.key)) END AS off) o
    WHERE p.is_stored = 1
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
      since, earlier, highest_level, highest_rank, owner, shelved, returns_at, suppressed, follows, escalation, step, step_at, next_step_at)
    SELECT f.tenant, (f.fields).rank, f.position, f.row, f.id, f.expires_at, (f.fields).key, f.to_all, f.to_ids, f.to_tags,
      coalesce(f.since, f.at), f.earlier, f.highest_level, f.highest_rank, f.owner, f.shelved, f.returns_at, f.suppressed,
      nullif(f.suppress->'follows', '[]')::text, f.escalates, f.next_step, f.step_at, f.next_step_at
    FROM wanted f WHERE f.shown AND f.suppressed IS DISTINCT FROM ''
  ),
  causes AS (
    INSERT INTO alarm_causes (tenant, key, row, rank, position, rule, revision, is_new)
    SELECT DISTINCT f.tenant, c.key, f.row, (f.fields).rank, f.position, c.rule, f.revision, true FROM wanted f, jsonb_to_recordset(f.suppress->'causes') c (key text, rule text)
    WHERE f.suppress IS NOT NULL AND (SELECT count(*) FROM alarm_causes k WHERE k.tenant = f.tenant) < 2000 ON CONFLICT DO NOTHING
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
  SELECT w.n, 'stored', w.id, w.position, c.entries, NULL, NULL, o.count, w.off
  FROM wanted w LEFT JOIN unnest(clearing) c ON c.n = w.n LEFT JOIN unnest(on_throttle) o ON o.n = w.n
  UNION ALL
  SELECT r.n, r.kind, r.id, NULL, NULL, r.name, r.shown_at, NULL, NULL::jsonb FROM unnest(refused) r
  ORDER BY 1;
END $$;

-- Functions: alarms -----------------------------------------------------------------------------------------------------

-- Takes a live notification off its panels by an entry of its own; the caller holds the lock on the tenant's counters.
CREATE OR REPLACE FUNCTION take_off(l live, new_at bigint, new_by text, new_reason text DEFAULT 'cleared', new_note text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  new_position bigint;
BEGIN
  DELETE FROM live WHERE tenant = l.tenant AND rank = l.rank AND position = l.position;
  DELETE FROM alarm_causes c WHERE c.tenant = l.tenant AND c.row = l.row;
  UPDATE logs SET head = head + 1 WHERE tenant = l.tenant RETURNING head INTO new_position;
  INSERT INTO log (row, tenant, position, id, at, route, cleared, "by", reason, message)
    SELECT nextval('log_row'), l.tenant, new_position, l.id, new_at, g.route, l.position, new_by, new_reason, new_note
    FROM entries_of(l.tenant, ARRAY[l.row]) g;
  INSERT INTO log_state (row, tenant, cleared_at, cleared_by, cleared_reason) VALUES (l.row, l.tenant, new_at, new_by, new_reason)
    ON CONFLICT (row) DO UPDATE SET cleared_at = excluded.cleared_at, cleared_by = excluded.cleared_by, cleared_reason = excluded.cleared_reason;
  RETURN new_position;
END $$;

-- The memory of an alarm passes to a notification that is live already, if there is one of this id.
CREATE OR REPLACE FUNCTION hand_over(last live, to_id uuid) RETURNS void LANGUAGE plpgsql AS $$
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
    highest_rank = coalesce(highest_rank, CASE WHEN top > heir.rank THEN top END), owner = coalesce(owner, last.owner)
    WHERE tenant = heir.tenant AND rank = heir.rank AND position = heir.position;
END $$;

-- As before; a suppressed alarm is on no shelf.
CREATE OR REPLACE FUNCTION act_on_alarms(of_tenant bigint, ids uuid[], action jsonb, panel text, panel_tags text[])
RETURNS TABLE (kind text, of_id uuid, at_position bigint, of_route jsonb, earlier_by text, earlier_at bigint, earlier_note text, earlier_until bigint)
LANGUAGE plpgsql AS $$
DECLARE
  a alarm_action := jsonb_populate_record(NULL::alarm_action, action);
  usual_end constant boolean := a.kind = 'acknowledge' AND NOT action ? 'until';
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
      WHEN 'unshelve' THEN CASE WHEN shown.shelved IS NULL OR shown.suppressed IS NOT NULL OR a.is_due AND (shown.shelved::jsonb->>'until')::bigint > a.at THEN 'nothing' ELSE 'done' END
      ELSE CASE WHEN shown.row IS NULL THEN 'nothing' ELSE 'done' END END;
    IF kind = 'done' THEN
      IF usual_end THEN
        a.until := CASE WHEN shown.row IS NOT NULL THEN a.at + nullif(coalesce((of_route->>'acknowledgeForMs')::bigint,
          (SELECT k.acknowledge_for_ms FROM levels k WHERE k.tenant = of_tenant AND k.name = entry.level)), 0) END;
      END IF;
      at_position := do_on_alarm(entry, shown, a);
    END IF;
    earlier_by := earlier."by";
    earlier_at := earlier.at;
    earlier_note := earlier.note;
    earlier_until := CASE WHEN kind = 'done' AND a.kind = 'acknowledge' THEN a.until ELSE earlier.until END;
    RETURN NEXT;
  END LOOP;
END $$;

-- Does it to the notification that stands; returns the position of the entry. Who acknowledged an alarm before it was shelved is not remembered: it
-- comes back open. While it is acknowledged or off the panels, no step of its escalation is due.
CREATE OR REPLACE FUNCTION do_on_alarm(entry log, shown live, a alarm_action) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  new_position bigint;
  new_shelf text := CASE WHEN a.kind = 'shelve' THEN jsonb_build_object('at', a.at, 'by', a."by", 'note', a.note, 'until', a.until, 'rank', entry.rank) END;
BEGIN
  IF a.kind = 'clear' THEN
    new_position := take_off(shown, a.at, a."by", 'cleared', a.note);
    INSERT INTO alarm_entries VALUES (entry.tenant, entry.row, new_position);
    RETURN new_position;
  ELSIF a.kind = 'assign' THEN
    UPDATE live l SET owner = a.owner WHERE l.tenant = entry.tenant AND l.rank = entry.rank AND l.position = entry.position;
    RETURN add_change(entry, a.at, a."by", 'assigned', a.owner, NULL);
  ELSIF a.kind = 'acknowledge' THEN
    INSERT INTO acknowledgements VALUES (entry.tenant, entry.row, a.at, a."by", a.note, a.until)
      ON CONFLICT (tenant, row) DO UPDATE SET at = excluded.at, "by" = excluded."by", note = excluded.note, until = excluded.until;
  ELSIF a.kind IN ('unacknowledge', 'shelve') THEN
    DELETE FROM acknowledgements k WHERE k.tenant = entry.tenant AND k.row = entry.row;
  END IF;
  UPDATE live l SET shelved = new_shelf, returns_at = a.until, suppressed = NULL, next_step_at = CASE WHEN a.kind LIKE 'un%' THEN l.step_at END
    WHERE l.tenant = entry.tenant AND l.rank = entry.rank AND l.position = entry.position
    AND (l.shelved, l.returns_at, l.next_step_at) IS DISTINCT FROM (new_shelf, a.until, CASE WHEN a.kind LIKE 'un%' THEN l.step_at END);
  -- An alarm that is open again may have a cause: those that it follows count as new.
  IF a.kind LIKE 'un%' AND shown.follows IS NOT NULL THEN
    UPDATE alarm_causes c SET is_new = true WHERE c.tenant = entry.tenant
      AND c.key = ANY (array(SELECT jsonb_array_elements_text(shown.follows::jsonb)));
  END IF;
  IF a.kind = 'unshelve' THEN
    PERFORM queue_returned(entry, a.at);
  END IF;
  RETURN add_change(entry, a.at, a."by",
    CASE a.kind WHEN 'acknowledge' THEN 'acknowledged' WHEN 'unacknowledge' THEN 'unacknowledged' WHEN 'shelve' THEN 'shelved' ELSE 'unshelved' END,
    a.note, a.until);
END $$;

-- Suppresses open alarms of a tenant whose cause stands, and brings back those whose cause has ended, at most `most` of them. An alarm that
-- somebody has acknowledged or shelved stays as it is. What was suppressed when it came goes to its channels when it is back.
CREATE FUNCTION settle_suppressed(of_tenant bigint, now_at bigint, most bigint)
RETURNS TABLE (kind text, of_id uuid, at_position bigint, of_route jsonb, cause_key text, cause_id uuid) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  left_over bigint := most;
  looked_at bigint;
  changed bigint;
  until constant timestamptz := clock_timestamp() + interval '20 ms';
  shown live;
  cause record;
  new_cause alarm_causes;
  entry log;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant FOR UPDATE;
  DELETE FROM alarm_causes c WHERE c.tenant = of_tenant AND NOT EXISTS (SELECT 1 FROM live l
    WHERE l.tenant = c.tenant AND l.rank = c.rank AND l.position = c.position AND (l.expires_at IS NULL OR l.expires_at > now_at));
  FOR shown IN SELECT l.* FROM live l WHERE l.tenant = of_tenant AND l.suppressed IS NOT NULL AND (l.expires_at IS NULL OR l.expires_at > now_at)
    AND l.suppressed IN (
      SELECT u.key FROM (SELECT DISTINCT k.suppressed AS key FROM live k WHERE k.tenant = of_tenant AND k.suppressed IS NOT NULL) u
      WHERE NOT is_held(of_tenant, u.key, now_at, NULL)) ORDER BY l.row LIMIT most LOOP
    SELECT s.* INTO cause FROM find_cause(of_tenant, array(SELECT jsonb_array_elements_text(shown.follows::jsonb)), now_at, shown.row) s;
    IF FOUND THEN
      UPDATE live l SET suppressed = cause.key, shelved = jsonb_build_object('at', now_at, 'by', cause.id)::text
        WHERE l.tenant = of_tenant AND l.rank = shown.rank AND l.position = shown.position;
      CONTINUE;
    END IF;
    UPDATE live l SET suppressed = NULL, shelved = NULL, returns_at = NULL, next_step_at = step_at
      WHERE l.tenant = of_tenant AND l.rank = shown.rank AND l.position = shown.position;
    SELECT g.* INTO entry FROM entries_of(of_tenant, ARRAY[shown.row]) g;
    PERFORM queue_returned(entry, now_at);
    left_over := left_over - 1;
    RETURN QUERY SELECT 'return', entry.id, add_change(entry, now_at, 'belfry', 'unsuppressed', NULL, NULL), entry.route, NULL::text, NULL::uuid;
  END LOOP;
  FOR new_cause IN SELECT c.* FROM alarm_causes c WHERE c.tenant = of_tenant AND c.is_new ORDER BY c.row LOOP
    -- Writes of this tenant wait for it.
    EXIT WHEN left_over <= 0 OR clock_timestamp() > until;
    looked_at := 0;
    changed := 0;
    FOR shown IN SELECT l.* FROM live l WHERE l.tenant = of_tenant AND l.follows IS NOT NULL AND l.suppressed IS NULL AND l.shelved IS NULL
      AND l.row <> new_cause.row AND (l.expires_at IS NULL OR l.expires_at > now_at) AND l.follows::jsonb ? new_cause.key
      AND NOT EXISTS (SELECT 1 FROM acknowledgements a WHERE a.tenant = l.tenant AND a.row = l.row) ORDER BY l.row LIMIT most LOOP
      looked_at := looked_at + 1;
      SELECT s.* INTO cause FROM find_cause(of_tenant, ARRAY[new_cause.key], now_at, shown.row) s;
      CONTINUE WHEN NOT FOUND;
      changed := changed + 1;
      UPDATE live l SET suppressed = new_cause.key, shelved = jsonb_build_object('at', now_at, 'by', cause.id)::text, returns_at = NULL,
        next_step_at = NULL WHERE l.tenant = of_tenant AND l.rank = shown.rank AND l.position = shown.position;
      SELECT g.* INTO entry FROM entries_of(of_tenant, ARRAY[shown.row]) g;
      RETURN QUERY SELECT 'suppression', entry.id, add_change(entry, now_at, cause.id::text, 'suppressed', new_cause.key, NULL), entry.route,
        new_cause.key, cause.id;
    END LOOP;
    -- What is left could only be suppressed by itself.
    IF looked_at < most OR changed = 0 THEN
      UPDATE alarm_causes c SET is_new = false WHERE c.tenant = of_tenant AND c.key = new_cause.key AND c.row = new_cause.row;
    END IF;
    left_over := left_over - changed;
  END LOOP;
END $$;

-- What was suppressed when it came goes to its channels when it is on the panels for the first time.
CREATE FUNCTION queue_returned(entry log, now_at bigint) RETURNS void LANGUAGE sql AS $$
  WITH wanted AS MATERIALIZED (
    SELECT c.id FROM channels c WHERE c.tenant = entry.tenant AND c.enabled = 1 AND entry.route ? 'suppressed' AND entry.route->'channels' ? c.id
      AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.tenant = c.tenant AND d.channel = c.id AND d.notification = entry.id::text) FOR KEY SHARE OF c
  ),
  closed AS (
    UPDATE deliveries d SET open_key = NULL FROM wanted w WHERE d.tenant = entry.tenant AND d.open_key = entry.key AND d.channel = w.id
  )
  INSERT INTO deliveries (tenant, channel, position, notification, state, queued_at, open_key)
  SELECT entry.tenant, w.id, entry.position, entry.id::text, 'pending', now_at, entry.key FROM wanted w
$$;

DROP FUNCTION acknowledge_notification(bigint, uuid, text, bigint, text, bigint);
