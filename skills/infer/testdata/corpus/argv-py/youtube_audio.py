#!/usr/bin/env python3
import subprocess, sys

argc = len(sys.argv)
if argc < 2 or argc > 4:
    print(f"Usage: {sys.argv[0]} <url> [format] [output_dir]")
    sys.exit(1)

url = sys.argv[1]
fmt = sys.argv[2] if argc > 2 else "mp3"
output_dir = sys.argv[3] if argc > 3 else "."
subprocess.run(["yt-dlp", "-x", "--audio-format", fmt, "-P", output_dir, url], check=True)
