#!/usr/bin/env bash
set -euo pipefail
cp pixel.png /out/pixel.png
cat <<'RESULT'
{"mcp": {"content": [
  "Multiple content types test:",
  {"path": "pixel.png"},
  {"type": "resource", "resource": {"uri": "test://mixed-content-resource", "mimeType": "application/json", "text": "{\"test\":\"data\",\"value\":123}"}}
]}}
RESULT
