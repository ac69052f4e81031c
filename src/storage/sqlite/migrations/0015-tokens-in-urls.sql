-- 1: the token may be the parameter `token` of a URL.
ALTER TABLE credentials ADD COLUMN allow_in_url INTEGER NOT NULL DEFAULT 0;
