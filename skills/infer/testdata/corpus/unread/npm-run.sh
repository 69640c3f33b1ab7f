#!/bin/sh
exec npm --prefix "$(dirname "$0")" run start -- "$@"
