#!/usr/bin/env bash
set -e
parsed=$(getopt --options u:,f --longoptions user:,force,days: --name "$0" -- "$@")
eval set -- "$parsed"
user="" force=false days=90
while [ $# -gt 0 ]; do
  case "$1" in
    -u|--user) user=$2; shift 2;;
    --days) days=$2; shift 2;;
    -f|--force) force=true; shift;;
    --) shift; break;;
    *) exit 3;;
  esac
done
echo "rotating the keys of ${user:-everybody} older than $days days (force: $force)"
