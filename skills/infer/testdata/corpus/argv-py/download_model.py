import os
import sys
import urllib.request

URL = "https://example.com/models/%s.onnx"

name = sys.argv[1] if len(sys.argv) > 1 else "base"
folder = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("MODEL_DIR", "models")

os.makedirs(folder, exist_ok=True)
target = os.path.join(folder, name + ".onnx")
if os.path.exists(target):
    print("already there:", target)
else:
    urllib.request.urlretrieve(URL % name, target)
    print("downloaded", target)
