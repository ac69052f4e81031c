-- expands: older nodes may go on
-- The oldest versions of rules are deleted beyond a size, so a revision may be stored in a route and no longer be known.

CREATE INDEX rules_ended ON rules (tenant, "until") WHERE "until" IS NOT NULL;
-- Rules can be read as they were at this revision, and at later ones. Last, because it locks the tenants until the end.
ALTER TABLE tenants ADD COLUMN rules_from bigint NOT NULL DEFAULT 0;
