-- How a tenant reads payloads that no integration knows.

CREATE TABLE mappings (
  tenant bigint NOT NULL,
  name text COLLATE "C" NOT NULL,
  spec text COLLATE "C" NOT NULL, -- JSON
  updated_at bigint NOT NULL,
  updated_by text COLLATE "C" NOT NULL,
  PRIMARY KEY (tenant, name)
);

ALTER TABLE mappings ENABLE ROW LEVEL SECURITY;
ALTER TABLE mappings FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON mappings USING (CASE WHEN (SELECT current_setting('belfry.tenant', true)) = 'all'
  THEN true ELSE tenant = (SELECT policy_tenant()) END);
