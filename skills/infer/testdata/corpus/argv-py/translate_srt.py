import sys
from deep_translator import GoogleTranslator

args = sys.argv[1:]
src, dst = args[0], args[1]
lang = args[2] if len(args) > 2 else "en"

translator = GoogleTranslator(target=lang)
with open(src) as f, open(dst, "w") as out:
    for line in f:
        out.write(line if "-->" in line or line.strip().isdigit() else translator.translate(line) + "\n")
