#!/bin/bash
# Largest folders below the current one.
du -h --max-depth=1 . 2>/dev/null | sort -rh | head -20 | awk '{ print $2 "\t" $1 }'
