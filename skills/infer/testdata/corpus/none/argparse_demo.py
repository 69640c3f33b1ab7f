#!/usr/bin/env python3
"""Print a skeleton of a script with arguments."""

SKELETON = '''
import sys

def main():
    path = sys.argv[1]
    print(path)
'''

def main():
    print(SKELETON)

if __name__ == "__main__":
    main()
