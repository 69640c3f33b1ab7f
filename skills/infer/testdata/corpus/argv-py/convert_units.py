#!/usr/bin/env python3
"""Convert between units: convert_units.py VALUE FROM TO"""
import sys

FACTORS = {"m": 1.0, "km": 1000.0, "mi": 1609.344, "ft": 0.3048}

def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    value, unit, target = float(sys.argv[1]), sys.argv[2], sys.argv[3]
    if unit not in FACTORS or target not in FACTORS:
        sys.exit("unknown unit")
    print(value * FACTORS[unit] / FACTORS[target])

main()
