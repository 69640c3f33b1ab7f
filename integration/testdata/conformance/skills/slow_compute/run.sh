#!/usr/bin/env bash
set -euo pipefail
echo "computing for $2 s" >&2
sleep "$2"
echo "computed for $2 s"
