#!/bin/bash
file=${1:-.env}
while IFS='=' read -r key value; do
  case "$key" in
    ''|\#*) continue ;;
  esac
  echo "export $key='$value'"
done < "$file"
