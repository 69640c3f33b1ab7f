#!/bin/sh
# Lints the given files, or all of them.
status=0
for file in "$@"; do
  case "$file" in
    *.sh) shellcheck "$file" || status=1 ;;
    *.py) ruff check "$file" || status=1 ;;
    *) echo "skipped $file" ;;
  esac
done
exit $status
