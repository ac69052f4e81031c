#!/bin/sh
# Sends a notification with curl 7.71 or newer:
#   BELFRY_URL=http://127.0.0.1:8080 BELFRY_TOKEN=bfy_… sh send.sh "Disk full" "/var is at 97 %" error
set -eu
[ $# -ge 2 ] || { echo "usage: send.sh TITLE MESSAGE [LEVEL]" >&2; exit 2; }

# One key for all attempts: it is stored once, even when an answer is lost on the way.
key="$(hostname)-$(date +%s)-$$"

# Tries again for a minute while the server is away or busy (429, 5xx), as Retry-After says. --fail is left out: with it, curl
# would also try again after a refusal.
answer=$(curl --silent --show-error --write-out '\n%{http_code}' \
  --retry 10 --retry-all-errors --retry-max-time 60 --max-time 15 \
  --header "Authorization: Bearer $BELFRY_TOKEN" \
  --header "Idempotency-Key: $key" \
  --data-urlencode "title=$1" \
  --data-urlencode "message=$2" \
  --data-urlencode "level=${3:-info}" \
  --data-urlencode "host=$(hostname)" \
  "${BELFRY_URL%/}/api/notify")
case "$answer" in
  *200) echo "${answer%?200}" ;;
  *) echo "not sent: $answer" >&2; exit 1 ;;
esac
