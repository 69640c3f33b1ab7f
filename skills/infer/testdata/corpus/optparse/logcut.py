#!/usr/bin/env python3
from optparse import OptionParser, make_option
import sys

options = [
    make_option("-s", "--since", help="first time"),
    make_option("-u", "--until", help="last time"),
    make_option("-c", "--count", action="store_true", default=False, help="print the number only"),
]
parser = OptionParser(option_list=options, usage="%prog [options] < LOG")
opts, args = parser.parse_args()
lines = [l for l in sys.stdin if (not opts.since or l >= opts.since) and (not opts.until or l <= opts.until)]
print(len(lines) if opts.count else "".join(lines))
