-- What a panel's newest screen said it is, as in panel/0.1.0, and from where it was connected.
ALTER TABLE panels ADD COLUMN client TEXT;
ALTER TABLE panels ADD COLUMN address TEXT;
