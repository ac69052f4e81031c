#!/usr/bin/env python3
"""Sends a notification, with nothing but Python's standard library.

BELFRY_URL=http://127.0.0.1:8080 BELFRY_TOKEN=bfy_… python3 send.py "Disk full" "/var is at 97 %" error
"""

import json
import os
import socket
import sys
import time
import urllib.error
import urllib.request
import uuid


def send(url, token, notification, retry_seconds=60):
    """Returns the id. Tries again while the server is away or busy; it is stored once."""
    request = urllib.request.Request(
        url.rstrip("/") + "/api/notify",
        data=json.dumps(notification).encode(),
        headers={
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Idempotency-Key": str(uuid.uuid4()),
        },
    )
    until = time.monotonic() + retry_seconds
    wait = 0.5
    while True:
        try:
            with urllib.request.urlopen(request, timeout=15) as answer:
                return json.load(answer)["id"]
        except urllib.error.HTTPError as error:
            sentence = json.load(error).get("error", "") if "json" in error.headers.get("Content-Type", "") else ""
            if error.code != 429 and error.code < 500:
                raise SystemExit(f"refused ({error.code}): {sentence}") from None
            wait = max(wait, float(error.headers.get("Retry-After") or 0))
            problem = f"{error.code} {sentence}"
        except OSError as error:
            problem = str(error)
        if time.monotonic() + wait > until:
            raise SystemExit(f"not sent: {problem}")
        time.sleep(wait)
        wait = min(wait * 2, 8)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit("usage: send.py TITLE MESSAGE [LEVEL]")
    title, message, level = (sys.argv[1:] + ["info"])[:3]
    print(
        send(
            os.environ["BELFRY_URL"],
            os.environ["BELFRY_TOKEN"],
            {"title": title, "message": message, "level": level, "host": socket.gethostname()},
        )
    )
