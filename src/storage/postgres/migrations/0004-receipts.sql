-- expands: older nodes may go on
-- true: the panel showed the notification as part of the card or row of a group.
ALTER TABLE receipts ADD COLUMN in_group boolean;
