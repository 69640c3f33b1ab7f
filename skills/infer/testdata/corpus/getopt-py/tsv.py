#!/usr/bin/env python3
import sys
import getopt

def usage():
    sys.stderr.write("usage: tsv.py [-c COLUMNS] [-s] file...\n")
    sys.exit(1)

columns = None
skip = False
try:
    opts, files = getopt.getopt(sys.argv[1:], 'c:s')
except getopt.GetoptError:
    usage()
for o, v in opts:
    if o == '-c':
        columns = [int(n) for n in v.split(',')]
    elif o == '-s':
        skip = True
if not files:
    usage()
for name in files:
    for i, line in enumerate(open(name)):
        if skip and i == 0:
            continue
        cells = line.rstrip("\n").split("\t")
        print("\t".join(cells[c] for c in columns or range(len(cells))))
