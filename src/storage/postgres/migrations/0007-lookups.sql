-- expands: older nodes may go on
-- Looks notifications up by their id alone, in a query of their own (OFFSET 0). A new partition has no statistics yet, so for
-- the planner every index is as good as the one on the id, and it may read all of the tenant's rows for each id.
DO $$
DECLARE
  change text[];
  definition text;
BEGIN
  FOREACH change SLICE 1 IN ARRAY ARRAY[
    ARRAY['append_batch', E'FROM fresh f\n    JOIN log g ON g.id = f.throttled_on AND g.tenant',
      E'FROM (SELECT * FROM fresh WHERE throttled_on IS NOT NULL) f\n    JOIN LATERAL (SELECT * FROM log WHERE id = f.throttled_on OFFSET 0) g ON g.tenant'],
    ARRAY['clear_notification', 'FROM log g JOIN logs k', 'FROM (SELECT * FROM log WHERE id = of_id OFFSET 0) g JOIN logs k'],
    ARRAY['clear_notification', 'WHERE g.id = of_id AND g.tenant', 'WHERE g.tenant'],
    ARRAY['acknowledge_notification', 'FROM log g JOIN logs k', 'FROM (SELECT * FROM log WHERE id = of_id OFFSET 0) g JOIN logs k'],
    ARRAY['acknowledge_notification', 'WHERE g.id = of_id AND g.tenant', 'WHERE g.tenant']
  ] LOOP
    definition := pg_get_functiondef(change[1]::regproc);
    IF strpos(definition, change[2]) = 0 THEN
      RAISE EXCEPTION '% does not have: %', change[1], change[2];
    END IF;
    EXECUTE replace(definition, change[2], change[3]);
  END LOOP;
END $$;
