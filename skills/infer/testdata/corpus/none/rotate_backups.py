#!/usr/bin/env python3
"""Keep the last seven backups."""
from pathlib import Path

KEEP = 7

def main() -> None:
    backups = sorted(Path("backups").glob("*.tgz"))
    for old in backups[:-KEEP]:
        old.unlink()
        print("removed", old)

if __name__ == "__main__":
    main()
