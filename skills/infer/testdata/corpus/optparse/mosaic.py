#!/usr/bin/env python
"""Make a mosaic of images."""
from optparse import OptionParser
from PIL import Image

parser = OptionParser(usage="usage: %prog [options] image...", version="%prog 1.0")
parser.add_option("-o", "--output", dest="output", default="mosaic.png", help="file to write [default: %default]")
parser.add_option("-c", "--columns", type="int", default=4, help="number of columns")
parser.add_option("-q", "--quiet", action="store_true", dest="quiet", default=False, help="print nothing")
parser.add_option("--gap", type="float", help="gap between the images")
(options, args) = parser.parse_args()

if not args:
    parser.error("no images")
for i, name in enumerate(args):
    image = Image.open(name)
    if not options.quiet:
        print(i // options.columns, i % options.columns, image.size)
