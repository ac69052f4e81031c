-- expands: older nodes may go on
-- 1: the token may be the parameter `token` of a URL.
ALTER TABLE credentials ADD COLUMN allow_in_url bigint NOT NULL DEFAULT 0;
