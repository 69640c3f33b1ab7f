#!/usr/bin/env bash
# sign.sh FILE [KEY]: signs a file
set -eu
file=$1
key=${2:-release}
gpg --local-user "$key" --detach-sign --armor "$file"
