-- expands: older nodes may go on
-- The labels of a notification: the JSON of an object of texts, with its names in order; null: it has none.
ALTER TABLE log ADD COLUMN labels text COLLATE "C";
ALTER TYPE log_fields ADD ATTRIBUTE labels text;
