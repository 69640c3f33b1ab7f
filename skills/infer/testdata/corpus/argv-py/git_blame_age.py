#!/usr/bin/env python3
import subprocess
import sys
import time

def main() -> int:
    _, path, *rest = sys.argv
    limit = int(rest[0]) if rest else 365
    out = subprocess.run(["git", "blame", "--porcelain", path], capture_output=True, text=True, check=True).stdout
    now = time.time()
    old = 0
    for line in out.splitlines():
        if line.startswith("author-time ") and (now - int(line.split()[1])) / 86400 > limit:
            old += 1
    print(f"{old} commits older than {limit} days")
    return 0

if __name__ == "__main__":
    raise SystemExit(main())
