#!/usr/bin/env bash
set -euo pipefail
echo '[info] Tool execution started' >&2
sleep 0.1
echo '[info] Tool processing data' >&2
sleep 0.1
echo '[info] Tool execution completed' >&2
echo done
