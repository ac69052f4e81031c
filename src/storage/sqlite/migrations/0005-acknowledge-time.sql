ALTER TABLE levels ADD COLUMN acknowledge_for_ms INTEGER;  -- how long an acknowledgement lasts; null: it does not end by itself
