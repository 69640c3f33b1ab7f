#!/usr/bin/env bash
set -euo pipefail
cp pixel.png /out/pixel.png
