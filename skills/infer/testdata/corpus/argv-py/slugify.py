#!/usr/bin/env python3
# Prints a slug for a title.
import re
import sys
import unicodedata

text = " ".join(sys.argv[1:])
if not text:
    sys.exit("usage: slugify.py TITLE...")
text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
print(re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-"))
