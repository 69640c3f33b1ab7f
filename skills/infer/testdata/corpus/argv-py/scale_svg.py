#!/usr/bin/env python3
import re
import sys

try:
    path = sys.argv[1]
except IndexError:
    print("Usage: scale_svg.py FILE [FACTOR]")
    sys.exit(1)
try:
    factor = float(sys.argv[2])
except IndexError:
    factor = 2.0

text = open(path).read()
for attribute in ("width", "height"):
    text = re.sub(rf'{attribute}="([\d.]+)"', lambda m: f'{attribute}="{float(m[1]) * factor:g}"', text, count=1)
open(path, "w").write(text)
