-- Who takes care of an alarm, how far its escalation is, and which alarms are off the panels while another one stands. A cause and
-- what it suppresses have a key in common, as their routes say. Of a suppressed one, `shelved` has the JSON of at and by: since
-- when, and a notification of its cause.
ALTER TABLE live ADD COLUMN owner TEXT;            -- JSON: id and name
ALTER TABLE live ADD COLUMN follows TEXT;          -- JSON: the keys by which it is suppressed while a cause stands
ALTER TABLE live ADD COLUMN suppressed TEXT;       -- the one of these by which it is now; null: it is not
ALTER TABLE live ADD COLUMN escalation TEXT;       -- JSON: rule and steps; null: it has none
ALTER TABLE live ADD COLUMN step INTEGER;          -- the index of the next one
ALTER TABLE live ADD COLUMN step_at INTEGER;       -- when that is due if the alarm is open then; null: there is none
ALTER TABLE live ADD COLUMN next_step_at INTEGER;  -- the same while the alarm is open, else null

-- The keys by which live notifications suppress others. Those of notifications that are no longer live are removed from time to time.
CREATE TABLE alarm_causes (
  tenant INTEGER NOT NULL,
  key TEXT NOT NULL,
  row INTEGER NOT NULL,     -- of the notification, in the log
  rule TEXT NOT NULL,       -- what the key was made of
  revision INTEGER NOT NULL, -- of the rule set
  is_new INTEGER NOT NULL,  -- 1: alarms that stood before have not been looked at
  PRIMARY KEY (tenant, key, row)
) WITHOUT ROWID;

CREATE INDEX alarm_causes_rows ON alarm_causes (row);
CREATE INDEX alarm_causes_new ON alarm_causes (tenant) WHERE is_new = 1;
CREATE INDEX live_suppressed ON live (tenant, suppressed) WHERE suppressed IS NOT NULL;
CREATE INDEX live_follows ON live (tenant) WHERE follows IS NOT NULL AND suppressed IS NULL;
CREATE INDEX live_steps ON live (next_step_at) WHERE next_step_at IS NOT NULL;

-- Escalations were due times. Without a key they name a notification by its id, which this table does not have: these end here.
-- What was due in the meantime was put off while somebody had acknowledged the alarm.
UPDATE live SET
  escalation = json_object('rule', json(d.data ->> '$.rule'), 'steps', json(d.data ->> '$.steps')),
  step = d.data ->> '$.step',
  step_at = CASE WHEN (d.data ->> '$.step') < json_array_length(d.data, '$.steps') THEN iif(d.data ->> '$.isHandled', 0, d.due_at) END
FROM due_times d WHERE d.kind = 'escalation' AND d.tenant = live.tenant AND d.subject = 'key ' || live.key;
UPDATE live SET next_step_at = step_at WHERE step_at IS NOT NULL AND shelved IS NULL
  AND NOT EXISTS (SELECT 1 FROM acknowledgements a WHERE a.tenant = live.tenant AND a.row = live.row);
DELETE FROM due_times WHERE kind = 'escalation';
