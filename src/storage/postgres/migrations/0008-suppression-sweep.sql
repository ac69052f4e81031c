-- expands: older nodes may go on
-- Suppresses open alarms of a tenant whose cause stands, and brings back those whose cause has ended, at most `most` of them. An alarm that
-- somebody has acknowledged or shelved stays as it is. What was suppressed when it came goes to its channels when it is back.
CREATE OR REPLACE FUNCTION settle_suppressed(of_tenant bigint, now_at bigint, most bigint)
RETURNS TABLE (kind text, of_id uuid, at_position bigint, of_route jsonb, cause_key text, cause_id uuid) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  left_over bigint := most;
  looked_at bigint;
  changed bigint;
  until timestamptz;
  shown live;
  cause record;
  new_cause alarm_causes;
  entry log;
BEGIN
  PERFORM 1 FROM logs WHERE tenant = of_tenant FOR UPDATE;
  DELETE FROM alarm_causes c WHERE c.tenant = of_tenant AND NOT EXISTS (SELECT 1 FROM live l
    WHERE l.tenant = c.tenant AND l.rank = c.rank AND l.position = c.position AND (l.expires_at IS NULL OR l.expires_at > now_at));
  FOR shown IN
    -- Each key once: the planner would look for its causes again for each pair of alarms.
    WITH used AS MATERIALIZED (SELECT DISTINCT k.suppressed AS key FROM live k WHERE k.tenant = of_tenant AND k.suppressed IS NOT NULL),
    ended AS MATERIALIZED (SELECT u.key FROM used u WHERE NOT is_held(of_tenant, u.key, now_at, NULL))
    SELECT l.* FROM ended e JOIN live l ON l.tenant = of_tenant AND l.suppressed = e.key
    WHERE l.expires_at IS NULL OR l.expires_at > now_at ORDER BY l.row LIMIT most LOOP
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
  until := clock_timestamp() + interval '20 ms';
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
