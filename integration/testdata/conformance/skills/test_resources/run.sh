#!/usr/bin/env bash
set -euo pipefail
id=${1#--id=} # --id=VALUE where the value begins with a dash
[ "$1" != --id ] || id=$2
printf '{"id":"%s","templateTest":true,"data":"Data for ID: %s"}' "$id" "$id"
