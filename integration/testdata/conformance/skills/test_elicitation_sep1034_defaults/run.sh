#!/usr/bin/env bash
set -euo pipefail
cat <<'ASK'
{"mcp": {"ask": {"message": "Please review these details.", "schema": {"type": "object", "properties": {"name": {"type": "string", "default": "John Doe"}, "age": {"type": "integer", "default": 30}, "score": {"type": "number", "default": 95.5}, "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"}, "verified": {"type": "boolean", "default": true}}}}}}
ASK
read -r answer
echo "Elicitation completed: $answer"
