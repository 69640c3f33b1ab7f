import random

QUOTES = [
    "Simple is better than complex.",
    "Now is better than never.",
]
print(random.choice(QUOTES))
