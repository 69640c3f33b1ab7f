#!/usr/bin/env bash
set -euo pipefail
name=${1#--name=} # --name=VALUE where the value begins with a dash
[ "$1" != --name ] || name=$2
printf 'Hello, %s!' "$name"
