-- expands: older nodes may go on
-- active, suspended, deleting (its data is being removed) or deleted (nothing is left but this row, so that its number is not used again).

ALTER TABLE tenants ADD COLUMN state text COLLATE "C" NOT NULL DEFAULT 'active';
