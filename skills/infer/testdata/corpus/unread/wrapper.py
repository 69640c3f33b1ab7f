#!/usr/bin/env python3
"""Runs pandoc with the house style."""
import subprocess
import sys

sys.exit(subprocess.call(["pandoc", "--defaults", "house.yaml"] + sys.argv[1:]))
