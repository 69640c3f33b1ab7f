#!/usr/bin/env python3
from datetime import datetime
import os
import sys
from PIL import Image

def rename(path):
    stamp = Image.open(path).getexif().get(306)
    if not stamp:
        return
    when = datetime.strptime(stamp, "%Y:%m:%d %H:%M:%S")
    os.rename(path, os.path.join(os.path.dirname(path), when.strftime("%Y%m%d-%H%M%S.jpg")))

if __name__ == "__main__":
    files = sys.argv[1:]
    if not files:
        print("usage: exif_date.py photo [photo ...]")
        sys.exit(1)
    for file in files:
        rename(file)
