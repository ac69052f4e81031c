-- A person confirms their identity for a session, on whichever node their next request arrives.
ALTER TABLE sessions ADD COLUMN reauthenticated_at INTEGER;
