"""List the fonts that matplotlib finds."""
from matplotlib import font_manager

names = sorted({f.name for f in font_manager.fontManager.ttflist})
print("\n".join(names))
