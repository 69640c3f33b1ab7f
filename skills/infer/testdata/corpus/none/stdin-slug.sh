#!/bin/sh
# Reads titles from the standard input and prints slugs.
tr '[:upper:]' '[:lower:]' | sed 's/[^a-z0-9]\{1,\}/-/g; s/^-//; s/-$//'
