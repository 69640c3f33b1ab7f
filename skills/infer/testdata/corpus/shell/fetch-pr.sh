#!/usr/bin/env bash
set -euo pipefail
pr="${1:?Usage: fetch-pr.sh <number> [remote]}"
remote="${2:-origin}"
git fetch "$remote" "pull/$pr/head:pr-$pr"
git switch "pr-$pr"
