-- Sixteen segments of the full-text index are merged at once, and not four: each text is written again four or five times on
-- its way to ten million, and not seven. Merging goes on by itself (crisismerge) only far beyond what is left unmerged for a
-- while (see writer-thread.ts), and a level is written again for what was deleted in it only when that is half of it.
INSERT INTO index_text (index_text, rank) VALUES ('usermerge', 16);
INSERT INTO index_text (index_text, rank) VALUES ('crisismerge', 512);
INSERT INTO index_text (index_text, rank) VALUES ('deletemerge', 50);
