ALTER TABLE push_devices ADD COLUMN person TEXT; -- the account that the device belongs to; null: to none
