#!/usr/bin/env bash
set -euo pipefail
echo 0/100 >&2
sleep 0.1 # progress is thinned to 20 a second
echo 50/100 >&2
sleep 0.1
echo 100/100 >&2
sleep 0.1
echo done
