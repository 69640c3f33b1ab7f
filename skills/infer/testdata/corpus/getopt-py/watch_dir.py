import sys, getopt, time, os

interval = 2.0
pattern = ""
count = 0
optlist, args = getopt.gnu_getopt(sys.argv[1:], "i:p:c:")
for o, a in optlist:
    if o == "-i":
        interval = float(a)
    if o == "-p":
        pattern = a
    if o == "-c":
        count = int(a)
path = args[0] if args else "."
known = set(os.listdir(path))
rounds = 0
while not count or rounds < count:
    time.sleep(interval)
    now = set(os.listdir(path))
    for name in now - known:
        if pattern in name:
            print("new:", name)
    known = now
    rounds += 1
