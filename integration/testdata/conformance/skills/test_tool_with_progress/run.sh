#!/usr/bin/env bash
set -euo pipefail
echo 0/100 >&2
sleep 1 # progress is thinned, and more if a busy machine reads two lines at once
echo 50/100 >&2
sleep 1
echo 100/100 >&2
sleep 1
echo done
