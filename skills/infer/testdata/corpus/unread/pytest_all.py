import sys
import pytest

raise SystemExit(pytest.main(sys.argv[1:] + ["-q"]))
