#!/usr/bin/env python3
import optparse
from pypdf import PdfReader, PdfWriter

cli = optparse.OptionParser(usage="%prog -i FILE [-p PAGES] [-o PREFIX]")
cli.add_option("-i", "--input", dest="source", metavar="FILE", help="document to split")
cli.add_option("-p", "--pages", dest="pages", type="int", default=1, metavar="N", help="pages in each part")
cli.add_option("-o", "--prefix", default="part", help="start of the names")
cli.add_option("--size", nargs=2, type="float", help="scale to width and height")
options, arguments = cli.parse_args()
if not options.source:
    cli.error("-i is needed")
reader = PdfReader(options.source)
for start in range(0, len(reader.pages), options.pages):
    writer = PdfWriter()
    for page in reader.pages[start:start + options.pages]:
        writer.add_page(page)
    writer.write("%s-%d.pdf" % (options.prefix, start))
