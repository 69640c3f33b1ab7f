#!/usr/bin/env bash
set -euo pipefail
sleep 1
echo 'the job failed' >&2
exit 1
