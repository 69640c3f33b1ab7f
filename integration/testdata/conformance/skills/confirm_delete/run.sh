#!/usr/bin/env bash
set -euo pipefail
cat <<'ASK'
{"mcp": {"requests": {"confirm": {"method": "elicitation/create", "params": {"message": "Delete the file?", "requestedSchema": {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}}}}}}
ASK
read -r answer
echo "$answer"
