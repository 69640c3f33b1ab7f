import importlib
import sys

name, *args = sys.argv[1:]
module = importlib.import_module(f"tasks.{name}")
module.main(args)
