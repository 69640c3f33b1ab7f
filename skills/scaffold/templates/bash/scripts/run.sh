#!/usr/bin/env bash
# Repeats a text. A parameter comes as --name value, and as --name=value where the
# value begins with a hyphen. Its type has been checked.
set -euo pipefail

text='' times=1 upper=false
while [ $# -gt 0 ]; do
  case $1 in
    --*=*) name=${1%%=*} value=${1#*=}; shift ;;
    *) name=$1 value=${2?"$1 needs a value"}; shift 2 ;;
  esac
  case $name in
    --text) text=$value ;;
    --times) times=$value ;;
    --upper) upper=$value ;;
    *) echo "unknown parameter $name" >&2; exit 2 ;;
  esac
done

if [ "$upper" = true ]; then
  text=${text^^}
fi
for ((i = 0; i < times; i++)); do
  printf '%s\n' "$text"
done
