from collections import Counter
import sys

# rank_words.py FILE [N]: the N most frequent words of a file
filename = sys.argv[1]
n = int(sys.argv[2]) if len(sys.argv) >= 3 else 10

with open(filename, encoding="utf-8") as f:
    words = f.read().lower().split()
for word, count in Counter(words).most_common(n):
    print(f"{count:6} {word}")
