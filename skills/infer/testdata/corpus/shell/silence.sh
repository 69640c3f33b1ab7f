#!/bin/bash
set -e
if [[ $# -ne 2 ]]; then
  echo "Usage: $(basename "$0") input output"
  exit 1
fi
INPUT="$1"
OUTPUT="$2"
ffmpeg -i "$INPUT" -af silenceremove=1:0:-50dB "$OUTPUT"
