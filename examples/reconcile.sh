#!/bin/sh
# Usage: reconcile.sh DATABASE FROM TO: counts the effects of the demo service from one instant to before another, and prints a JSON object for the next step.
set -eu
exec python3 - "$@" <<'PY'
import json, sqlite3, sys
database, start, end = sys.argv[1:]
query = "SELECT count(DISTINCT key), count(*) FROM requests WHERE at >= strftime('%s', ?) + 0 AND at < strftime('%s', ?) + 0"
keys, requests = sqlite3.connect(database).execute(query, (start, end)).fetchone()
print(json.dumps({"from": start, "to": end, "effects": keys, "requests": requests}))
PY
