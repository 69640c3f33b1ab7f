#!/usr/bin/env bash
# kv.sh get KEY | set KEY VALUE
store=${KV_STORE:-$HOME/.kv}
mkdir -p "$store"
case "$1" in
  get) cat "$store/$2" ;;
  set) printf '%s' "$3" > "$store/$2" ;;
  *) echo "usage: kv.sh get KEY | set KEY VALUE" >&2; exit 1 ;;
esac
