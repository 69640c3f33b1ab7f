#!/usr/bin/env python3
"""Convert a HEIC photo to JPEG.

Usage: convert_heic.py INPUT [OUTPUT]
"""
import sys
from pathlib import Path

from PIL import Image
import pillow_heif

def main():
    if len(sys.argv) < 2:
        print(__doc__)
        sys.exit(1)
    source = Path(sys.argv[1])
    target = Path(sys.argv[2]) if len(sys.argv) > 2 else source.with_suffix(".jpg")
    pillow_heif.register_heif_opener()
    Image.open(source).convert("RGB").save(target, quality=90)
    print(f"wrote {target}")

if __name__ == "__main__":
    main()
