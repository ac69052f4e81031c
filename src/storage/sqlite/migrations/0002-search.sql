-- The search indexes, filled off the commit path up to logs.indexed like index_id and index_text; what is newer is read from the log.

DROP TABLE index_host;
DROP TABLE index_ip;
DROP TABLE index_source;
DROP TABLE index_level;
DROP TABLE index_token;
DROP TABLE index_key;
DROP TABLE index_route;

-- Which notifications have a value in a field: for each 32,768 positions a list or a bitmap of them (see `blocks.ts`). A frequent
-- value costs a bit a notification, and lists of millions are intersected in milliseconds.
CREATE TABLE postings (
  tenant INTEGER NOT NULL,
  field TEXT NOT NULL,       -- host, key, ip, source, level, token, route, state
  value NOT NULL,            -- text; bytes for addresses; a number for routes
  block INTEGER NOT NULL,    -- position / 32768
  positions BLOB NOT NULL,
  PRIMARY KEY (tenant, field, value, block)
) WITHOUT ROWID;

-- Where in the log each hour's notifications stand: few rows, so that bounds on time become bounds on positions at once.
CREATE TABLE index_hour (
  tenant INTEGER NOT NULL,
  hour INTEGER NOT NULL,     -- received_at / 3600000
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (tenant, hour)
) WITHOUT ROWID;

-- What the former indexes held is filled anew; until then it is read from the log, so a search misses nothing.
DELETE FROM index_id;
INSERT INTO index_text (index_text) VALUES ('delete-all');
UPDATE logs SET indexed = 0;
