import os
import re
from collections import defaultdict

# Does not use sys.argv: it always looks at the current folder.
found = defaultdict(list)
for root, dirs, files in os.walk("."):
    dirs[:] = [d for d in dirs if not d.startswith(".")]
    for name in files:
        if not name.endswith((".py", ".js")):
            continue
        path = os.path.join(root, name)
        with open(path, errors="ignore") as f:
            for number, line in enumerate(f, 1):
                if re.search(r"\b(TODO|FIXME)\b", line):
                    found[path].append((number, line.strip()))
for path, lines in sorted(found.items()):
    print(path)
    for number, line in lines:
        print(f"  {number}: {line}")
