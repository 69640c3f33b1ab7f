"""Usage: python palette.py IMAGE [COLORS]

Prints the main colors of an image.
"""
import sys
from colorthief import ColorThief

if __name__ == "__main__":
    if len(sys.argv) == 1 or sys.argv[1] in ("-h", "--help"):
        print(__doc__)
        sys.exit(0)
    image = sys.argv[1]
    colors = 6
    if len(sys.argv) > 2:
        colors = int(sys.argv[2])
    for r, g, b in ColorThief(image).get_palette(color_count=colors):
        print(f"#{r:02x}{g:02x}{b:02x}")
