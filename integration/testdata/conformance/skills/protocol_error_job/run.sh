#!/usr/bin/env bash
set -euo pipefail
sleep 1
cat <<'ASK'
{"mcp": {"requests": {"client_roots": {"method": "roots/list", "params": {}, "required": true}}}}
ASK
read -r answer
echo "$answer"
