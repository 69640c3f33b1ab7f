#!/usr/bin/env python
"""render_template.py - fill in a Jinja template

Arguments:
    template  path of the template
    context   JSON file with the variables
    output    file to write (default: standard output)
"""
import json
import sys
from jinja2 import Template

def run(template, context, output=None):
    text = Template(open(template).read()).render(**json.load(open(context)))
    if output:
        open(output, "w").write(text)
    else:
        print(text)

if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 4:
        print(__doc__)
        sys.exit(1)
    run(*sys.argv[1:])
