-- expands: older nodes may go on
-- A claim can take the place of notifications that a throttle has shown: one that was cleared, or is less serious.
DO $$
DECLARE
  change text[];
  definition text := pg_get_functiondef('append_notifications(json, json)'::regprocedure);
BEGIN
  FOREACH change SLICE 1 IN ARRAY ARRAY[
    ARRAY['AS (name text, per_ms bigint)) WITH ORDINALITY AS c(name, per_ms, ord)',
      'AS (name text, per_ms bigint, instead_of uuid[])) WITH ORDINALITY AS c(name, per_ms, instead_of, ord)'],
    ARRAY['AND t.name = c.name AND j.at < t.shown_at + c.per_ms',
      'AND t.name = c.name AND NOT t.id = ANY (coalesce(c.instead_of, ''{}'')) AND j.at < t.shown_at + c.per_ms']
  ] LOOP
    IF strpos(definition, change[1]) = 0 THEN
      RAISE EXCEPTION 'append_notifications does not have: %', change[1];
    END IF;
    definition := replace(definition, change[1], change[2]);
  END LOOP;
  EXECUTE definition;
END $$;
