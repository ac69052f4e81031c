-- How far the escalation of an alarm is.
ALTER TABLE live ADD COLUMN escalation TEXT;       -- JSON: rule and steps; null: it has none
ALTER TABLE live ADD COLUMN step INTEGER;          -- the index of the next one
ALTER TABLE live ADD COLUMN step_at INTEGER;       -- when that is due if the alarm is open then; null: there is none
ALTER TABLE live ADD COLUMN next_step_at INTEGER;  -- the same while the alarm is open, else null

CREATE INDEX live_steps ON live (next_step_at) WHERE next_step_at IS NOT NULL;

-- They were due times. Without a key they name a notification by its id, which this table does not have: these end here. What was due in the
-- meantime was put off while somebody had acknowledged the alarm.
UPDATE live SET
  escalation = json_object('rule', json(d.data ->> '$.rule'), 'steps', json(d.data ->> '$.steps')),
  step = d.data ->> '$.step',
  step_at = CASE WHEN (d.data ->> '$.step') < json_array_length(d.data, '$.steps') THEN iif(d.data ->> '$.isHandled', 0, d.due_at) END
FROM due_times d WHERE d.kind = 'escalation' AND d.tenant = live.tenant AND d.subject = 'key ' || live.key;
UPDATE live SET next_step_at = step_at WHERE step_at IS NOT NULL AND shelved IS NULL
  AND NOT EXISTS (SELECT 1 FROM acknowledgements a WHERE a.tenant = live.tenant AND a.row = live.row);
DELETE FROM due_times WHERE kind = 'escalation';
