#!/bin/bash
# Dump a PostgreSQL database.
#
#   -d DATABASE  database to dump
#   -o FILE      file to write
#   -z           compress it
set -u

database=app
out=dump.sql
compress=

while getopts "d:o:zh" opt; do
  case $opt in
    d) database=$OPTARG ;;
    o) out=$OPTARG ;;
    z) compress=1 ;;
    h) echo "usage: $0 [-d database] [-o file] [-z]"; exit 0 ;;
    *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))

pg_dump "$database" > "$out"
[ -n "$compress" ] && gzip "$out"
