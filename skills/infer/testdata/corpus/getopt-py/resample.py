#!/usr/bin/env python3
"""Resample an audio file."""
import getopt
import sys
import soundfile

def usage():
    print("resample.py -i INPUT -o OUTPUT [-r RATE] [--mono]")

def main(argv):
    source = target = None
    rate = 44100
    mono = False
    try:
        opts, args = getopt.getopt(argv, "hi:o:r:", ["help", "input=", "output=", "rate=", "mono"])
    except getopt.GetoptError as error:
        print(error)
        usage()
        sys.exit(2)
    for opt, arg in opts:
        if opt in ("-h", "--help"):
            usage()
            sys.exit()
        elif opt in ("-i", "--input"):
            source = arg
        elif opt in ("-o", "--output"):
            target = arg
        elif opt in ("-r", "--rate"):
            rate = int(arg)
        elif opt == "--mono":
            mono = True
    if source is None or target is None:
        usage()
        sys.exit(2)
    data, _ = soundfile.read(source)
    soundfile.write(target, data.mean(axis=1) if mono else data, rate)

if __name__ == "__main__":
    main(sys.argv[1:])
