#!/usr/bin/env python3
"""Repeats a text."""

import argparse


def main() -> None:
    # A parameter comes as --name value, and as --name=value where the value begins
    # with a hyphen. Its type has been checked; a boolean is "true" or "false".
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--text", required=True)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--upper", choices=["true", "false"], default="false")
    args = parser.parse_args()

    text = args.text.upper() if args.upper == "true" else args.text
    for _ in range(args.times):
        print(text)


if __name__ == "__main__":
    main()
