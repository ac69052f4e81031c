#!/bin/sh
# Sends a notification with curl:
#   BELFRY_URL=http://127.0.0.1:8080 BELFRY_TOKEN=bfy_… sh send.sh "Disk full" "/var is at 97 %" error
set -eu

# One key for all attempts: it is stored once, even when an answer is lost on the way.
key="$(hostname)-$(date +%s)-$$"

# Tries again for a minute while the server is away (connection refused) or busy (429, 5xx), as Retry-After says.
curl --silent --show-error --fail-with-body \
  --retry 10 --retry-connrefused --retry-max-time 60 \
  --header "Authorization: Bearer $BELFRY_TOKEN" \
  --header "Idempotency-Key: $key" \
  --header "X-Title: $1" \
  --header "X-Level: ${3:-info}" \
  --header "X-Host: $(hostname)" \
  --header "Content-Type: text/plain; charset=utf-8" \
  --data-binary "$2" \
  "$BELFRY_URL/api/notify"
echo
