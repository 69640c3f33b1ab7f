#!/usr/bin/env bash
set -euo pipefail
ARGS=$(getopt -o d:nv --long dest:,dry-run,verbose -- "$@")
eval set -- "$ARGS"
dest="$HOME/Pictures"; dry=0; verbose=0
while :; do
  case $1 in
    -d|--dest) dest=$2; shift 2;;
    -n|--dry-run) dry=1; shift;;
    -v|--verbose) verbose=1; shift;;
    --) shift; break;;
  esac
done
for f in "$@"; do
  if [ "$verbose" = 1 ]; then echo "$f"; fi
  if [ "$dry" = 0 ]; then cp -n "$f" "$dest/"; fi
done
