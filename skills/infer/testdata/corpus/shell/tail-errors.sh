#!/bin/sh
lines=100
while getopts 'n:f:' c; do
  case $c in
    n) lines=$OPTARG ;;
    f) file=$OPTARG ;;
    ?) exit 2 ;;
  esac
done
tail -n "$lines" "${file:-/var/log/syslog}" | grep -i error
