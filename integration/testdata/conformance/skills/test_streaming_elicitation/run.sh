#!/usr/bin/env bash
set -euo pipefail
cat <<'ASK'
{"mcp": {"ask": "Shall we go on?"}}
ASK
read -r answer
echo "$answer"
