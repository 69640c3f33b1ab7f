#!/usr/bin/env bash
name=$1
shift
source "$(dirname "$0")/tasks/$name.sh"
run "$@"
