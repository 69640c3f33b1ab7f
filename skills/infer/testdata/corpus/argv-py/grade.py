"""Grade answers against a key.

Usage:
    grade.py <answers.csv> <key.csv> [--threshold <percent>]
"""
import csv
import sys

def load(path):
    with open(path) as f:
        return dict(csv.reader(f))

def main():
    args = list(sys.argv[1:])
    threshold = 60
    if "--threshold" in args:
        i = args.index("--threshold")
        threshold = int(args[i + 1])
        del args[i:i + 2]
    if len(args) != 2:
        print(__doc__)
        sys.exit(2)
    answers, key = load(args[0]), load(args[1])
    score = 100 * sum(answers.get(k) == v for k, v in key.items()) / len(key)
    print(f"{score:.0f} %", "passed" if score >= threshold else "failed")

main()
