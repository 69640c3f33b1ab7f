#!/bin/bash
# Usage: webp.sh [-q QUALITY] FILE...
quality=80
while getopts q: flag; do
  case "$flag" in
    q) quality=$OPTARG ;;
    *) echo "Usage: webp.sh [-q QUALITY] FILE..." >&2; exit 1 ;;
  esac
done
shift "$((OPTIND - 1))"
for f in "$@"; do
  cwebp -quiet -q "$quality" "$f" -o "${f%.*}.webp"
done
