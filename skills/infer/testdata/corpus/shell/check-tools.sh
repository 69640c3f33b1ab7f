#!/bin/bash
quiet=
if [ "$1" = "--quiet" ]; then
  quiet=1
  shift
fi
missing=0
for tool in git curl jq; do
  if ! command -v "$tool" >/dev/null; then
    [ -z "$quiet" ] && echo "missing: $tool"
    missing=1
  fi
done
exit $missing
