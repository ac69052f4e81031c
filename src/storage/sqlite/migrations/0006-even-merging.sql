-- The full-text index merges its segments a little with every slice (see indexer.ts), and not of itself by the thousand pages,
-- for which commits would have to wait.
INSERT INTO index_text (index_text, rank) VALUES ('automerge', 0);
