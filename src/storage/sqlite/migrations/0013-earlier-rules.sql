-- The oldest versions of rules are deleted beyond a size, so a revision may be stored in a route and no longer be known.
-- Rules can be read as they were at this revision, and at later ones.
ALTER TABLE tenants ADD COLUMN rules_from INTEGER NOT NULL DEFAULT 0;
CREATE INDEX rules_ended ON rules (tenant, until) WHERE until IS NOT NULL;
