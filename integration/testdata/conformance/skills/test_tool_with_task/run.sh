#!/usr/bin/env bash
set -euo pipefail
cat <<'ASK'
{"mcp": {"requests": {"user_name": {"method": "elicitation/create", "params": {"message": "What is your name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}}}}
ASK
read -r answer
sleep 6 # longer than a call lasts that is no task
name=$(sed -n 's/.*"name": *"\([^"]*\)".*/\1/p' <<<"$answer")
printf 'Hello, %s!' "$name"
