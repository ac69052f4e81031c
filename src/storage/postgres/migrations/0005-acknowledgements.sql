-- expands: older nodes may go on
-- Who has seen a notification. The log has an entry for it with the reason 'acknowledged' and the note as its message; a node
-- older than this takes that entry for a clearing on the panels that are connected to it.
CREATE TABLE acknowledgements (
  tenant bigint NOT NULL,
  row bigint NOT NULL,           -- of the notification, in `log`
  at bigint NOT NULL,
  "by" text NOT NULL,
  note text,
  PRIMARY KEY (tenant, row)
);
ALTER TABLE acknowledgements ENABLE ROW LEVEL SECURITY;
ALTER TABLE acknowledgements FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON acknowledgements USING (CASE WHEN (SELECT current_setting('belfry.tenant', true)) = 'all'
  THEN true ELSE tenant = (SELECT policy_tenant()) END);

-- Acknowledges one notification. `kind` is acknowledged, already (then by whom, when and with which note) or not-found.
CREATE FUNCTION acknowledge_notification(of_tenant bigint, of_id uuid, new_by text, new_at bigint, new_note text)
RETURNS TABLE (kind text, at_position bigint, of_route jsonb, earlier_by text, earlier_at bigint, earlier_note text) LANGUAGE plpgsql AS $$
DECLARE
  wanted log;
  earlier acknowledgements;
  new_position bigint;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant FOR UPDATE;
  SELECT g.* INTO wanted FROM log g JOIN logs k ON k.tenant = g.tenant AND g.row >= k.first_row
    WHERE g.id = of_id AND g.tenant = of_tenant AND g.cleared IS NULL;
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

-- As before; `clears` holds acknowledgements too, with their note.
CREATE OR REPLACE FUNCTION import_entries(of_tenant bigint, notifications jsonb, clears jsonb, receipts_given jsonb) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
  CREATE TEMPORARY TABLE import_jobs ON COMMIT DROP AS SELECT * FROM jsonb_populate_recordset(NULL::append_job, notifications);
  CREATE TEMPORARY TABLE import_clears ON COMMIT DROP AS
    SELECT * FROM jsonb_to_recordset(clears) AS c(position bigint, id uuid, at bigint, route jsonb, "by" text, reason text, note text);
  CREATE TEMPORARY TABLE import_rows ON COMMIT DROP AS SELECT o.position, nextval('log_row') AS row FROM (
    SELECT n AS position FROM import_jobs UNION ALL SELECT position FROM import_clears ORDER BY 1
  ) o;
  ANALYZE import_jobs, import_clears, import_rows;

  INSERT INTO log (row, tenant, position, id, at, route, title, message, level, rank, ttl, sent_level, sent_ttl, expires_at,
    ip, host, key, url, source_ip, token_id, throttled_on, throttle_count, terms)
  SELECT r.row, of_tenant, j.n, j.id, j.at, j.route, j.title, j.message, j.level, j.rank, j.ttl, j.sent_level, j.sent_ttl,
    j.expires_at, j.ip, j.host, j.key, j.url, j.source_ip, j.token_id, j.throttled_on, j.throttle_count,
    array_to_tsvector(string_to_array(j.terms, ' '))
  FROM import_rows r JOIN import_jobs j ON j.n = r.position;
  INSERT INTO live (tenant, rank, position, row, id, expires_at, key, to_all, to_ids, to_tags)
  SELECT of_tenant, j.rank, j.n, r.row, j.id, j.expires_at, j.key, j.to_all, j.to_ids, j.to_tags
  FROM import_rows r JOIN import_jobs j ON j.n = r.position WHERE j.shown;

  -- What they clear, where that is kept. LATERAL with LIMIT: one look into the index for each, however long the log is.
  CREATE TEMPORARY TABLE import_cleared ON COMMIT DROP AS
    SELECT c.*, g.row AS cleared_row, g.rank, g.position AS cleared FROM import_clears c LEFT JOIN LATERAL (
      SELECT row, rank, position FROM log WHERE id = c.id AND tenant = of_tenant AND cleared IS NULL LIMIT 1) g ON true;
  INSERT INTO log (row, tenant, position, id, at, route, cleared, "by", reason, message)
  SELECT r.row, of_tenant, c.position, c.id, c.at, c.route, coalesce(c.cleared, 0), c.by, c.reason, c.note
  FROM import_rows r JOIN import_cleared c ON c.position = r.position;
  DELETE FROM live l USING import_cleared c WHERE l.tenant = of_tenant AND l.rank = c.rank AND l.position = c.cleared
    AND c.reason <> 'acknowledged';
  INSERT INTO log_state (row, tenant, cleared_at, cleared_by, cleared_reason)
  SELECT cleared_row, of_tenant, at, "by", reason FROM import_cleared WHERE cleared_row IS NOT NULL AND reason <> 'acknowledged'
  ON CONFLICT (row) DO UPDATE SET cleared_at = excluded.cleared_at, cleared_by = excluded.cleared_by,
    cleared_reason = excluded.cleared_reason;
  INSERT INTO acknowledgements (tenant, row, at, "by", note)
  SELECT of_tenant, cleared_row, at, "by", note FROM import_cleared WHERE cleared_row IS NOT NULL AND reason = 'acknowledged'
  ON CONFLICT DO NOTHING;
  INSERT INTO log_state (row, tenant, counted)
  SELECT g.row, of_tenant, j.count
  FROM (SELECT throttled_on AS id, count(*) AS count FROM import_jobs WHERE throttled_on IS NOT NULL GROUP BY 1) j
  CROSS JOIN LATERAL (SELECT row FROM log WHERE id = j.id AND tenant = of_tenant AND cleared IS NULL LIMIT 1) g
  ON CONFLICT (row) DO UPDATE SET counted = log_state.counted + excluded.counted;

  INSERT INTO minutes (tenant, minute, level, count)
  SELECT of_tenant, at / 60000, level, count(*) FROM import_jobs GROUP BY 2, 3
  ON CONFLICT (tenant, minute, level) DO UPDATE SET count = minutes.count + excluded.count;
  INSERT INTO log_revisions (tenant, revision, last_row)
  SELECT of_tenant, j.revision, max(r.row) FROM import_rows r JOIN import_jobs j ON j.n = r.position GROUP BY 2
  ON CONFLICT (tenant, revision) DO UPDATE SET last_row = excluded.last_row;
  UPDATE logs SET head = head + (SELECT count(*) FROM import_rows),
    notifications = notifications + (SELECT count(*) FROM import_jobs),
    bytes = bytes + (SELECT coalesce(sum(bytes), 0) FROM import_jobs) WHERE tenant = of_tenant;

  INSERT INTO receipts (row, tenant, panel_id, shown_at, expired_at, cleared_at)
  SELECT g.row, of_tenant, r."panelId", r."shownAt", r."expiredAt", r."clearedAt"
  FROM jsonb_to_recordset(receipts_given) AS r(id uuid, "panelId" text, "shownAt" bigint, "expiredAt" bigint, "clearedAt" bigint)
  CROSS JOIN LATERAL (SELECT row FROM log WHERE id = r.id AND tenant = of_tenant AND cleared IS NULL LIMIT 1) g;
  DROP TABLE import_jobs, import_clears, import_rows, import_cleared;
END $$;
