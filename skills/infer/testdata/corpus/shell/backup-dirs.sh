#!/bin/bash
# usage: backup-dirs.sh TARGET DIR...
if (( $# < 2 )); then
  echo "usage: backup-dirs.sh TARGET DIR..." >&2
  exit 2
fi
target=$1
shift
mkdir -p "$target"
for dir in "$@"; do
  tar czf "$target/$(basename "$dir").tgz" "$dir"
done
