#!/usr/bin/env python3
import getopt
import sys

def main():
    deck, number = "default", 10
    shuffle = False
    try:
        opts, _ = getopt.getopt(sys.argv[1:], "", ["deck=", "number=", "shuffle"])
    except getopt.GetoptError as err:
        sys.exit(str(err))
    for opt, val in opts:
        if opt == "--deck":
            deck = val
        elif opt == "--number":
            number = int(val)
        elif opt == "--shuffle":
            shuffle = True
    print(deck, number, shuffle)

if __name__ == "__main__":
    main()
