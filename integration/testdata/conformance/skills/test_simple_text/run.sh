#!/usr/bin/env bash
set -euo pipefail
printf 'This is a simple text response for testing.'
