import getopt
import subprocess
import sys

VOICES = ("en", "de", "fr")

def parse(argv):
    voice, speed, out = "en", 160, None
    opts, words = getopt.getopt(argv[1:], "v:s:w:")
    for key, value in opts:
        if key == "-v":
            if value not in VOICES:
                raise SystemExit("unknown voice " + value)
            voice = value
        elif key == "-s":
            speed = int(value)
        elif key == "-w":
            out = value
    return voice, speed, out, " ".join(words)

if __name__ == "__main__":
    voice, speed, out, text = parse(sys.argv)
    cmd = ["espeak", "-v", voice, "-s", str(speed)] + (["-w", out] if out else []) + [text]
    subprocess.check_call(cmd)
