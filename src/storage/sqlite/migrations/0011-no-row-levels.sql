-- Counts get the levels of rows from the index.
DROP TABLE row_levels;
