import csv, json, sys

pretty = "--pretty" in sys.argv
args = [a for a in sys.argv[1:] if not a.startswith("--")]
if len(args) != 1:
    print("usage: csv_to_json.py [--pretty] FILE")
    raise SystemExit(2)

with open(args[0], newline="") as f:
    rows = list(csv.DictReader(f))
json.dump(rows, sys.stdout, indent=2 if pretty else None)
