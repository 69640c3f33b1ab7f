import os
import subprocess
import sys

TARGET = os.environ.get("DEPLOY_TARGET", "staging")

if TARGET not in ("staging", "production"):
    print("DEPLOY_TARGET must be staging or production", file=sys.stderr)
    sys.exit(2)
subprocess.run(["rsync", "-a", "build/", f"{TARGET}.example.com:/srv"], check=True)
print(f"deployed to {TARGET}")
