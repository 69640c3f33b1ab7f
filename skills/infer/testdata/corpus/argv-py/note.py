"""Keep short notes.

    note.py add TEXT
    note.py list
    note.py clear
"""
import sys
from pathlib import Path

NOTES = Path.home() / ".notes"

def main(argv):
    command = argv[1] if len(argv) > 1 else "list"
    if command == "add":
        with NOTES.open("a") as f:
            f.write(" ".join(argv[2:]) + "\n")
    elif command == "list":
        print(NOTES.read_text() if NOTES.exists() else "no notes")
    elif command == "clear":
        NOTES.unlink(missing_ok=True)
    else:
        print(__doc__)
        return 1
    return 0

if __name__ == "__main__":
    sys.exit(main(sys.argv))
