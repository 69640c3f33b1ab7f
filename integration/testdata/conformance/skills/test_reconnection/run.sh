#!/usr/bin/env bash
set -euo pipefail
sleep 0.2
echo 'Reconnection test completed'
