#!/usr/bin/env bash
set -euo pipefail
cat <<'ASK'
{"mcp": {"requests": {"confirm": {"method": "elicitation/create", "params": {"message": "Please confirm", "requestedSchema": {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}}}}}}
ASK
read -r answer
echo state-ok
