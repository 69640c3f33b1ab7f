#!/usr/bin/env python3
"""Unpack an Office file and format its XML."""
import sys
import zipfile
from pathlib import Path
import defusedxml.minidom

assert len(sys.argv) == 3, "Usage: python unpack_docx.py <office_file> <output_dir>"
input_file, output_dir = sys.argv[1], sys.argv[2]

output_path = Path(output_dir)
output_path.mkdir(parents=True, exist_ok=True)
zipfile.ZipFile(input_file).extractall(output_path)
for xml in list(output_path.rglob("*.xml")) + list(output_path.rglob("*.rels")):
    dom = defusedxml.minidom.parseString(xml.read_text(encoding="utf-8"))
    xml.write_bytes(dom.toprettyxml(indent="  ", encoding="ascii"))
