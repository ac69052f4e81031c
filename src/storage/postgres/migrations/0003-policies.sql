-- The second wall between tenants --------------------------------------------------------------------------------------
-- Each connection says in `belfry.tenant` whose rows it works on: a tenant's number, or `all` for what spans tenants (an
-- append of several tenants, sweeps, finding whose a credential is). Without it, it sees nothing. The owner is held to it, too.

CREATE FUNCTION policy_tenant() RETURNS bigint LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT nullif(nullif(current_setting('belfry.tenant', true), 'all'), '')::bigint
$$;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['credentials', 'levels', 'rules', 'rule_hits', 'panels', 'saved_searches', 'audit', 'logs', 'log', 'log_state',
    'receipts', 'live', 'idempotency', 'minutes', 'log_revisions', 'members', 'invitations', 'throttles', 'node_panels', 'panel_commands'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    -- The planner takes a CASE for true of every second row, and plans as without it; of an OR it would expect nearly nothing.
    EXECUTE format('CREATE POLICY of_tenant ON %I USING (CASE WHEN (SELECT current_setting(''belfry.tenant'', true)) = ''all''
      THEN true ELSE tenant = (SELECT policy_tenant()) END)', name);
  END LOOP;
END $$;
