-- How a tenant reads payloads that no integration knows.

CREATE TABLE mappings (
  tenant INTEGER NOT NULL,
  name TEXT NOT NULL,
  spec TEXT NOT NULL, -- JSON
  updated_at INTEGER NOT NULL,
  updated_by TEXT NOT NULL,
  PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
