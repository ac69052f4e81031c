-- Counts by minute come from the index, as all other counts do.
DROP TABLE minutes;
