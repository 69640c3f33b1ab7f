#!/usr/bin/env python3
"""Run the checks of a project.

Options:
  --fix      repair what can be repaired
  --quiet    print failures only
"""
import subprocess
import sys

FIX = "--fix" in sys.argv[1:]
QUIET = "--quiet" in sys.argv[1:]

def run(name, *cmd):
    result = subprocess.run(cmd, capture_output=True, text=True)
    if result.returncode or not QUIET:
        print(name, "failed" if result.returncode else "ok")
    return result.returncode

codes = [
    run("ruff", "ruff", "check", *(["--fix"] if FIX else []), "."),
    run("mypy", "mypy", "."),
]
sys.exit(max(codes))
