#!/bin/bash
# Runs terraform in the right folder.
cd "$(dirname "$0")/../infra"
exec terraform "$@"
