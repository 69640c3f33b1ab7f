#!/usr/bin/env bash
set -euo pipefail
echo '[info] a message' >&2
echo done
