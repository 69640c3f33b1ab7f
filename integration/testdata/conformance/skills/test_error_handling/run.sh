#!/usr/bin/env bash
set -euo pipefail
echo 'This tool intentionally returns an error for testing' >&2
exit 1
