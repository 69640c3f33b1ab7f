#!/usr/bin/env bash
set -euo pipefail
sleep "$2"
echo "computed for $2 s"
