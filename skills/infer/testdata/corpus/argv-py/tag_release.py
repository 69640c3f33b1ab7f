#!/usr/bin/env python3
"""Tag a release and push it."""
import subprocess
import sys

dry_run = False
version = None
message = ""
args = sys.argv[1:]
while args:
    arg = args.pop(0)
    if arg in ("-n", "--dry-run"):
        dry_run = True
    elif arg in ("-m", "--message"):
        message = args.pop(0)
    elif version is None:
        version = arg
    else:
        sys.exit(f"unexpected argument {arg}")
if version is None:
    sys.exit("usage: tag_release.py [-n] [-m MESSAGE] VERSION")
for cmd in (["git", "tag", "-a", version, "-m", message or version], ["git", "push", "origin", version]):
    print(" ".join(cmd))
    if not dry_run:
        subprocess.run(cmd, check=True)
