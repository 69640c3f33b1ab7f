#!/usr/bin/env bash
# Releases a version.
#   --version X.Y.Z  version to release
#   --notes FILE     notes of the release
#   --draft          do not publish it
set -euo pipefail
version="" notes="" draft=""
while [ $# -gt 0 ]; do
  case $1 in
    --version) version=$2; shift 2 ;;
    --notes) notes=$2; shift 2 ;;
    --draft) draft=1; shift ;;
    *) echo "unknown argument: $1" >&2; exit 64 ;;
  esac
done
[ -n "$version" ] || { echo "--version is required" >&2; exit 64; }
gh release create "v$version" ${notes:+--notes-file "$notes"} ${draft:+--draft}
