#!/usr/bin/env python3
"""Stamp text onto a PDF."""
import getopt, sys
from pypdf import PdfReader

class Options:
    text = "DRAFT"
    angle = 45
    pages = "all"

def parse(args):
    o = Options()
    pairs, rest = getopt.getopt(args, "t:a:p:", ["text=", "angle=", "pages="])
    for name, value in pairs:
        if name in ("-t", "--text"): o.text = value
        elif name in ("-a", "--angle"): o.angle = int(value)
        elif name in ("-p", "--pages"): o.pages = value
    return o, rest

options, (pdf,) = parse(sys.argv[1:])
print(len(PdfReader(pdf).pages), options.text, options.angle, options.pages)
