#!/bin/bash
if [ $# -lt 1 ]; then
  echo "Usage: $0 <ticket> [base]" >&2
  exit 1
fi
TICKET=$1
BASE=${2:-main}
git fetch origin "$BASE"
git checkout -b "feature/$TICKET" "origin/$BASE"
