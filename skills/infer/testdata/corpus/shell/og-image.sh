#!/usr/bin/env bash
# Makes a social preview image with a title.
title=${1:?title is missing}
out=${2:-og.png}
color=${3:-#1e293b}
convert -size 1200x630 "xc:$color" -fill white -gravity center -pointsize 72 -annotate 0 "$title" "$out"
