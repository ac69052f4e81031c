-- expands: older nodes may go on
ALTER TABLE levels ADD COLUMN acknowledge_for_ms bigint;  -- how long an acknowledgement lasts; null: it does not end by itself

-- As before, and an acknowledgement without an end has that of the route, else of the level, of the alarm that stands; with `"until": null` it
-- has none. `earlier_until` of a new acknowledgement: when it ends.
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
      WHEN 'unshelve' THEN CASE WHEN shown.shelved IS NULL OR a.is_due AND (shown.shelved::jsonb->>'until')::bigint > a.at THEN 'nothing' ELSE 'done' END
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
