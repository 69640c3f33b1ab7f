import subprocess
import sys
import venv

target = sys.argv[1] if sys.argv[1:] else ".venv"
venv.create(target, with_pip=True)
subprocess.check_call([f"{target}/bin/pip", "install", "-r", "requirements.txt"])
print(target)
