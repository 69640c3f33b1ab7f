#!/usr/bin/env bash
set -euo pipefail
cp pixel.png /out/pixel.png
echo '{"mcp": {"content": [{"path": "pixel.png"}, "Please analyze the image above."]}}'
