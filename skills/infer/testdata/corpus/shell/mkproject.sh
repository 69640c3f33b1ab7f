#!/bin/sh
# mkproject.sh NAME [LICENSE]
[ "$#" -ge 1 ] || { echo "usage: mkproject.sh NAME [LICENSE]" >&2; exit 2; }
name=$1
license=${2-MIT}
mkdir -p "$name/src" "$name/test"
printf '# %s\n\nLicense: %s\n' "$name" "$license" > "$name/README.md"
