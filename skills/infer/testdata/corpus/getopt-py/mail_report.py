#!/usr/bin/env python
# -*- coding: utf-8 -*-
"""Mail a report.

  -t, --to=ADDRESS     receiver
  -s, --subject=TEXT   subject of the mail
  -n                   print it only
"""
import sys
from getopt import getopt, GetoptError

def main():
    try:
        options, rest = getopt(sys.argv[1:], 't:s:n', ['to=', 'subject='])
    except GetoptError as e:
        sys.exit(str(e))
    to, subject, dry = [], 'Report', False
    for name, value in options:
        if name in ('-t', '--to'):
            to.append(value)
        elif name in ('-s', '--subject'):
            subject = value
        elif name == '-n':
            dry = True
    if len(rest) != 1:
        sys.exit(__doc__)
    body = open(rest[0]).read()
    print(to, subject, len(body), dry)

main()
