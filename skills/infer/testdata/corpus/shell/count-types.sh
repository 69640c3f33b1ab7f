#!/bin/bash
dir="${1:-.}"
depth="${2:-3}"
find "$dir" -maxdepth "$depth" -type f | sed 's/.*\.//' | sort | uniq -c | sort -rn
