-- expands: older nodes may go on
-- A repeat of what was acknowledged takes that over, unless it is of a higher level: with an entry of the log after the notification.
-- `clears` of the answer has it too, marked as acknowledged.
CREATE TYPE append_inherited AS (
  n bigint, tenant bigint, id uuid, since bigint, route jsonb, at bigint, "by" text, note text
);

DO $$
DECLARE
  change text[];
  definition text := pg_get_functiondef('append_notifications'::regproc);
BEGIN
  FOREACH change SLICE 1 IN ARRAY ARRAY[
    ARRAY[$old$  on_throttle append_counted[] := '{}';$old$, $new$  on_throttle append_counted[] := '{}';
  inherited append_inherited[] := '{}';$new$],
    ARRAY[$old$ = r.rank AND l.position = r.was;
  END IF;$old$, $new$ = r.rank AND l.position = r.was;
  END IF;
  IF cardinality(replaced) > 0 THEN
    inherited := array(SELECT ROW(f.n, f.tenant, f.id, f.at, f.route, a.at, a."by", a.note)::append_inherited
      FROM (SELECT DISTINCT ON (e.n) e.n, e.tenant, e.rank, e.was_row FROM unnest(replaced) e ORDER BY e.n, e.was DESC) r
      JOIN unnest(fresh) f ON f.n = r.n AND f.shown AND f.rank <= r.rank
      JOIN acknowledgements a ON a.tenant = r.tenant AND a.row = r.was_row);
  END IF;$new$],
    ARRAY['UNION ALL SELECT f.n, f.tenant, NULL, 1, f.bytes FROM unnest(fresh) f', $new$UNION ALL SELECT f.n, f.tenant, NULL, 1, f.bytes FROM unnest(fresh) f
        UNION ALL SELECT i.n, i.tenant, NULL, 2, 0 FROM unnest(inherited) i$new$],
    ARRAY['e.n, e.was NULLS LAST', 'e.n, e.is_stored, e.was'],
    ARRAY['sum(is_stored) AS stored', 'count(*) FILTER (WHERE is_stored = 1) AS stored'],
    ARRAY[$old$  shown AS (
    INSERT INTO live$old$, $new$  acknowledging AS (
    INSERT INTO log (row, tenant, position, id, at, route, cleared, "by", reason, message)
    SELECT p.row, p.tenant, p.position, i.id, i.since, i.route, w.position, i."by", 'acknowledged', i.note
    FROM unnest(inherited) i JOIN placed p ON p.n = i.n AND p.is_stored = 2 JOIN wanted w ON w.n = i.n
  ),
  acknowledged AS (
    INSERT INTO acknowledgements (tenant, row, at, "by", note)
    SELECT i.tenant, w.row, i.at, i."by", i.note FROM unnest(inherited) i JOIN wanted w ON w.n = i.n
  ),
  shown AS (
    INSERT INTO live$new$],
    ARRAY['w.position, c.entries, NULL', $new$w.position, c.entries || coalesce((
      SELECT jsonb_build_array(jsonb_build_object('position', p.position, 'id', i.id, 'at', i.since, 'by', i."by", 'note', i.note,
        'route', i.route, 'acknowledged', true))
      FROM unnest(inherited) i JOIN placed p ON p.n = i.n AND p.is_stored = 2 WHERE i.n = w.n), '[]'), NULL$new$]
  ] LOOP
    IF strpos(definition, change[1]) = 0 THEN
      RAISE EXCEPTION 'append_notifications does not have: %', change[1];
    END IF;
    definition := replace(definition, change[1], change[2]);
  END LOOP;
  EXECUTE definition;
END $$;
