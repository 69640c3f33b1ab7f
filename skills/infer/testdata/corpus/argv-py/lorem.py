import random, sys
WORDS = "lorem ipsum dolor sit amet consectetur adipiscing elit".split()
n = int(sys.argv[1])
print(" ".join(random.choice(WORDS) for _ in range(n)))
