#!/usr/bin/env bash
# Shows the state of all repositories below ~/src.
check() {
  local dir="$1" name="$2"
  if [ -n "$(git -C "$dir" status --porcelain)" ]; then
    echo "$name: changed"
  fi
}
for dir in "$HOME"/src/*/; do
  check "$dir" "$(basename "$dir")"
done
