#!/bin/bash
set -euo pipefail
UPSTREAM=${UPSTREAM:-upstream}
branch="main"
push=0
for arg in "$@"; do
  case $arg in
    --branch=*) branch="${arg#*=}" ;;
    --push) push=1 ;;
    *) echo "usage: sync-fork.sh [--branch=NAME] [--push]" >&2; exit 1 ;;
  esac
done
git fetch "$UPSTREAM"
git rebase "$UPSTREAM/$branch"
if [ "$push" -eq 1 ]; then git push --force-with-lease origin "$branch"; fi
