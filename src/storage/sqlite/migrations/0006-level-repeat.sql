-- Panels repeat the sound of a level until its notification is acknowledged.
ALTER TABLE levels ADD COLUMN repeat_ms INTEGER;
