import datetime
import sys

if len(sys.argv) < 3:
    sys.exit("usage: changelog_entry.py VERSION CHANGE [CHANGE...]")

version = sys.argv[1]
changes = sys.argv[2:]
today = datetime.date.today().isoformat()
with open("CHANGELOG.md") as f:
    old = f.read()
with open("CHANGELOG.md", "w") as f:
    f.write(f"## {version} ({today})\n\n")
    for change in changes:
        f.write(f"- {change}\n")
    f.write("\n" + old)
