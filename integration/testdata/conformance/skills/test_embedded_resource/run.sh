#!/usr/bin/env bash
set -euo pipefail
cat <<'RESULT'
{"mcp": {"content": [
  {"type": "resource", "resource": {"uri": "test://embedded-resource", "mimeType": "text/plain", "text": "This is an embedded resource content."}}
]}}
RESULT
