#!/usr/bin/env python3
"""Reads JSON lines from standard input and prints the names."""
import json
import sys

for line in sys.stdin:
    line = line.strip()
    if line:
        print(json.loads(line).get("name", "?"))
sys.exit(0)
