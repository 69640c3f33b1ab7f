import getopt
import hashlib
import os
import sys

opts, folders = getopt.getopt(sys.argv[1:], "dv", ["delete", "verbose"])
flags = [o for o, _ in opts]
delete = "-d" in flags or "--delete" in flags
verbose = "-v" in flags or "--verbose" in flags
seen = {}
for folder in folders:
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        digest = hashlib.sha256(open(path, "rb").read()).hexdigest()
        if digest in seen:
            print(path, "=", seen[digest])
            if delete:
                os.remove(path)
        else:
            seen[digest] = path
            if verbose:
                print(path)
