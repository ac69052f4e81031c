-- People, the tenants they belong to, and those who are asked to join.

-- A person is of no tenant: `members` says of which. How one signs in stands in tables of its own.
CREATE TABLE people (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  name TEXT NOT NULL,
  email_verified INTEGER NOT NULL DEFAULT 0,
  image TEXT,
  two_factor_enabled INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE members (
  tenant INTEGER NOT NULL,
  person TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  joined_at INTEGER NOT NULL,
  last_seen_at INTEGER,
  PRIMARY KEY (tenant, person)
) WITHOUT ROWID;
CREATE INDEX members_of_person ON members (person);

-- One waits until it is accepted, withdrawn or expired; what no longer waits is swept.
CREATE TABLE invitations (
  tenant INTEGER NOT NULL,
  id TEXT NOT NULL,
  secret_hash TEXT NOT NULL UNIQUE,  -- found without knowing the tenant, as credentials are
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'viewer')),
  email TEXT COLLATE NOCASE, -- only this address may accept; null: whoever has the link
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  accepted_at INTEGER,
  withdrawn_at INTEGER,
  PRIMARY KEY (tenant, id)
) WITHOUT ROWID;
CREATE INDEX invitations_expiry ON invitations (expires_at);
