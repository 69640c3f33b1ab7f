#!/bin/bash
set -euo pipefail
cd "$(dirname "$0")/.."
rm -rf dist node_modules/.cache
find . -name '*.log' -delete
echo "clean"
