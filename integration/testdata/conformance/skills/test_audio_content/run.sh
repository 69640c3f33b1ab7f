#!/usr/bin/env bash
set -euo pipefail
cp silence.wav /out/silence.wav
