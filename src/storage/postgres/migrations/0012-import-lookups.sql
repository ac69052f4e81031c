-- expands: older nodes may go on
-- As 0007-lookups.sql, where an import looks notifications up by their ids.
DO $$
DECLARE
  wanted text;
  definition text := pg_get_functiondef('import_entries'::regproc);
BEGIN
  FOREACH wanted IN ARRAY ARRAY['c.id', 'j.id', 'r.id'] LOOP
    IF strpos(definition, format('FROM log WHERE id = %s AND tenant', wanted)) = 0 THEN
      RAISE EXCEPTION 'import_entries does not look up %', wanted;
    END IF;
    definition := replace(definition, format('FROM log WHERE id = %s AND tenant', wanted),
      format('FROM (SELECT * FROM log WHERE id = %s OFFSET 0) g WHERE tenant', wanted));
  END LOOP;
  EXECUTE definition;
END $$;
