#!/usr/bin/env bash
set -euo pipefail
cat <<'ASK'
{"mcp": {"requests": {"step1": {"method": "elicitation/create", "params": {"message": "Step 1: What is your name?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}}}}
ASK
read -r name
cat <<'ASK'
{"mcp": {"requests": {"step2": {"method": "elicitation/create", "params": {"message": "Step 2: What is your favorite color?", "requestedSchema": {"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}}}}}}
ASK
read -r color
echo "$name $color"
