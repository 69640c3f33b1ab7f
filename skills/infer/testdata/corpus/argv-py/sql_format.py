import sys
import sqlparse

def main(path, keyword_case="upper"):
    with open(path) as f:
        print(sqlparse.format(f.read(), reindent=True, keyword_case=keyword_case))

main(sys.argv[1], *sys.argv[2:3])
