#!/usr/bin/env bash
set -eu
log() { printf '%s %s\n' "$(date +%T)" "$*"; }
log "containers"
docker container prune -f
log "images"
docker image prune -f
