#!/bin/sh
# Run once by the image of PostgreSQL, when its data folder is new: Belfry's own role, which is no superuser, so that
# row-level security holds for it. The superuser is left without a password, and reached from inside the container only.
psql --set ON_ERROR_STOP=1 --username postgres --set password="$(cat /run/secrets/postgres-password)" <<'END'
CREATE ROLE belfry LOGIN PASSWORD :'password';
CREATE DATABASE belfry OWNER belfry ENCODING UTF8 TEMPLATE template0;
ALTER ROLE postgres PASSWORD NULL;
END
