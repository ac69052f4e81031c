-- expands: older nodes may go on
ALTER TABLE push_devices ADD COLUMN person text COLLATE "C"; -- the account that the device belongs to; null: to none
