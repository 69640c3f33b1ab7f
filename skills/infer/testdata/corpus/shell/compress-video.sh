#!/usr/bin/env bash
# Compress a video with ffmpeg.
# Usage: compress-video.sh INPUT [OUTPUT] [CRF]
set -euo pipefail

input="$1"
output="${2:-compressed.mp4}"
crf="${3:-28}"

ffmpeg -i "$input" -vcodec libx264 -crf "$crf" "$output"
echo "wrote $output"
