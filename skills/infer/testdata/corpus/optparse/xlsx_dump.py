#!/usr/bin/env python3
import sys
from optparse import OptionParser, OptionGroup

import openpyxl

parser = OptionParser("%prog [options] FILE")
parser.add_option("-s", "--sheet", metavar="NAME", help="sheet to print")
group = OptionGroup(parser, "Output")
group.add_option("-d", "--delimiter", default=",", help="between cells")
group.add_option("--no-header", action="store_false", dest="header", default=True, help="without the first row")
parser.add_option_group(group)
opts, args = parser.parse_args(sys.argv[1:])
if len(args) != 1:
    parser.print_help()
    sys.exit(1)
book = openpyxl.load_workbook(args[0])
sheet = book[opts.sheet] if opts.sheet else book.active
for i, row in enumerate(sheet.values):
    if i or opts.header:
        print(opts.delimiter.join(str(c) for c in row))
