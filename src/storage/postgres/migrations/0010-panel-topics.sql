-- expands: older nodes may go on
ALTER TABLE panels ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'screen'; -- screen, phone or program
-- The name of the panel in the addresses of ntfy. It never changes. null: the next start of a node gives it one; older nodes write none.
ALTER TABLE panels ADD COLUMN topic text COLLATE "C";
CREATE UNIQUE INDEX panels_topics ON panels (tenant, topic);
