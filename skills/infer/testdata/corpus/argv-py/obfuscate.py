import sys
path = sys.argv[1]
key = sys.argv[2].encode()
data = open(path, "rb").read()
sys.stdout.buffer.write(bytes(b ^ key[i % len(key)] for i, b in enumerate(data)))
