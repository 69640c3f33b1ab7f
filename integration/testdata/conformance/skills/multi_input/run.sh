#!/usr/bin/env bash
set -euo pipefail
cat <<'ASK'
{"mcp": {"requests": {"first": {"method": "elicitation/create", "params": {"message": "Who is it for?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}, "second": {"method": "elicitation/create", "params": {"message": "Delete the file?", "requestedSchema": {"type": "object", "properties": {"confirm": {"type": "boolean"}}, "required": ["confirm"]}}}}}}
ASK
read -r answer
echo "$answer"
