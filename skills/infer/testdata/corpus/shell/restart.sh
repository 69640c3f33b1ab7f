#!/bin/bash
FORCE=0
while [[ "$#" -gt 0 ]]; do
  case $1 in
    -f|--force) FORCE=1 ;;
    -s|--service) SERVICE="$2"; shift ;;
    *) echo "Unknown parameter: $1"; exit 1 ;;
  esac
  shift
done
[ "$FORCE" = 1 ] && systemctl kill "${SERVICE:-app}"
systemctl restart "${SERVICE:-app}"
