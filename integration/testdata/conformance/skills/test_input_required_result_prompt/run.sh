#!/usr/bin/env bash
set -euo pipefail
cat <<'ASK'
{"mcp": {"requests": {"user_context": {"method": "elicitation/create", "params": {"message": "What context should the prompt use?", "requestedSchema": {"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]}}}}}}
ASK
read -r answer
echo "Use this context: $answer"
