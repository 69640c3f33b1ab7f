#!/bin/sh
# Makes a virtual environment. Wants Python 3.10 or newer.
set -e
python3 -m venv .venv
. .venv/bin/activate
pip install -q -r requirements.txt
echo "Run: . .venv/bin/activate"
