#!/bin/bash
# Opens an SSH tunnel.
TEMP=$(getopt -o 'p:u:b' --long 'port:,user:,background' -n 'tunnel.sh' -- "$@")
if [ $? -ne 0 ]; then exit 1; fi
eval set -- "$TEMP"
unset TEMP
port=5432
user=$USER
background=
while true; do
  case "$1" in
    '-p'|'--port') port=$2; shift 2; continue ;;
    '-u'|'--user') user=$2; shift 2; continue ;;
    '-b'|'--background') background=-f; shift; continue ;;
    '--') shift; break ;;
  esac
done
ssh $background -N -L "$port:localhost:$port" "$user@$1"
