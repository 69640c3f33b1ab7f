import sys, time, urllib.request

def usage():
    sys.stderr.write("usage: wait_for.py URL [SECONDS]\n")
    sys.exit(64)

args = sys.argv[1:]
if not args or len(args) > 2:
    usage()
url = args[0]
seconds = float(args[1]) if len(args) == 2 else 30.0
end = time.time() + seconds
while time.time() < end:
    try:
        urllib.request.urlopen(url, timeout=2)
        print("ready")
        sys.exit(0)
    except OSError:
        time.sleep(0.5)
sys.exit(1)
