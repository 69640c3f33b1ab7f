#!/usr/bin/env bash
count=10
quiet=0
method=GET
while getopts ":n:qX:" o; do
  case "${o}" in
    n) count="${OPTARG}" ;;
    q) quiet=1 ;;
    X) method="${OPTARG}" ;;
    \?) echo "unknown option -$OPTARG" >&2; exit 64 ;;
    :) echo "-$OPTARG needs a value" >&2; exit 64 ;;
  esac
done
shift $((OPTIND-1))
url="$1"
[ -z "$url" ] && { echo "usage: bench-url.sh [-n count] [-q] [-X method] url"; exit 64; }
for _ in $(seq "$count"); do
  t=$(curl -s -o /dev/null -X "$method" -w '%{time_total}' "$url")
  [ "$quiet" = 1 ] || echo "$t"
done
