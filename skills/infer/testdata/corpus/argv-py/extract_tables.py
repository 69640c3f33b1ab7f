import sys
import json
import pdfplumber

if len(sys.argv) != 3:
    print("Usage: python extract_tables.py [input pdf] [output json]")
    sys.exit(1)

pdf_path = sys.argv[1]
output_path = sys.argv[2]

tables = []
with pdfplumber.open(pdf_path) as pdf:
    for number, page in enumerate(pdf.pages, 1):
        for table in page.extract_tables():
            tables.append({"page": number, "rows": table})

with open(output_path, "w") as f:
    json.dump(tables, f, indent=2)
print(f"{len(tables)} tables")
