import sys
from getopt import gnu_getopt

opts, hosts = gnu_getopt(sys.argv[1:], "c:w:", ["count=", "wait=", "quiet"])
count, wait, quiet = 1, 2.0, False
for o, v in opts:
    if o in ["-c", "--count"]:
        count = int(v)
    elif o in ["-w", "--wait"]:
        wait = float(v)
    elif o == "--quiet":
        quiet = True
for host in hosts:
    print(host, count, wait, quiet)
