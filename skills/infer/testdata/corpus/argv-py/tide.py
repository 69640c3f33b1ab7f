#!/usr/bin/env python3
"""tide.py STATION [DAYS] - print the tides of a station"""
import sys
import requests

station, *rest = sys.argv[1:]
days = int(rest[0]) if rest else 1
print(requests.get(f"https://tides.example.com/{station}", params={"days": days}).text)
