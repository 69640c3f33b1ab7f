#!/usr/bin/env python3
# Usage: image_grid.py OUTPUT COLUMNS IMAGE [IMAGE ...]
import sys
from PIL import Image

if len(sys.argv) < 4:
    print("Usage: image_grid.py OUTPUT COLUMNS IMAGE [IMAGE ...]")
    sys.exit(1)

output, columns, images = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
tiles = [Image.open(p).resize((256, 256)) for p in images]
rows = -(-len(tiles) // columns)
sheet = Image.new("RGB", (256 * columns, 256 * rows))
for i, tile in enumerate(tiles):
    sheet.paste(tile, (256 * (i % columns), 256 * (i // columns)))
sheet.save(output)
