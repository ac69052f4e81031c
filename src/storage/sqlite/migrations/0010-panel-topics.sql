ALTER TABLE panels ADD COLUMN kind TEXT NOT NULL DEFAULT 'screen'; -- screen, phone or program
-- The name of the panel in the addresses of ntfy. It never changes. null: the next start of a server gives it one.
ALTER TABLE panels ADD COLUMN topic TEXT;
CREATE UNIQUE INDEX panels_topics ON panels (tenant, topic);
