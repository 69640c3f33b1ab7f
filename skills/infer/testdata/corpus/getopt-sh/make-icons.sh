#!/bin/bash
# Makes icons of several sizes from an SVG file.
OPTS=$(getopt -o o:s:h --long out:,sizes:,help -n make-icons -- "$@") || exit 2
eval set -- "$OPTS"
out=icons
sizes="16,32,64"
while true; do
  case "$1" in
    -o|--out) out="$2"; shift 2 ;;
    -s|--sizes) sizes="$2"; shift 2 ;;
    -h|--help) echo "make-icons [-o dir] [-s sizes] file.svg"; exit 0 ;;
    --) shift; break ;;
  esac
done
svg="${1:?no file}"
mkdir -p "$out"
for size in ${sizes//,/ }; do
  rsvg-convert -w "$size" "$svg" > "$out/icon-$size.png"
done
