#!/usr/bin/env bash
set -euo pipefail
cat <<'ASK'
{"mcp": {"requests": {"client_roots": {"method": "roots/list", "params": {}}}}}
ASK
read -r answer
echo "$answer"
