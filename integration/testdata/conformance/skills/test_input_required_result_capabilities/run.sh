#!/usr/bin/env bash
set -euo pipefail
cat <<'ASK'
{"mcp": {"requests": {"user_name": {"method": "elicitation/create", "params": {"message": "What is your name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}, "capital_question": {"method": "sampling/createMessage", "params": {"messages": [{"role": "user", "content": {"type": "text", "text": "What is the capital of France?"}}], "maxTokens": 100}}}}}
ASK
read -r answer
echo "$answer"
