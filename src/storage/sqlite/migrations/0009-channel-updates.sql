-- A delivery may be of what happened to an alarm: then `position` is that of the entry, and `notification` is the one that the channel
-- had of the alarm.
ALTER TABLE deliveries ADD COLUMN event TEXT;      -- what happened; null: it is of the notification itself
ALTER TABLE deliveries ADD COLUMN reference TEXT;  -- what the receiver calls the message, if updates need it
