ALTER TABLE saved_searches ADD COLUMN alarms TEXT;  -- JSON: tab and group of the page Alarms; null: a search of history
