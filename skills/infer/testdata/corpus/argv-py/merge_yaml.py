#!/usr/bin/env python3
# merge_yaml.py BASE OVERLAY > RESULT
import sys
import yaml

def merge(a, b):
    for key, value in b.items():
        a[key] = merge(a[key], value) if isinstance(value, dict) and isinstance(a.get(key), dict) else value
    return a

_, base_path, overlay_path = sys.argv
with open(base_path) as base, open(overlay_path) as overlay:
    yaml.safe_dump(merge(yaml.safe_load(base), yaml.safe_load(overlay)), sys.stdout)
