-- expands: older nodes may go on
ALTER TABLE saved_searches ADD COLUMN alarms text;  -- JSON: tab and group of the page Alarms; null: a search of history
