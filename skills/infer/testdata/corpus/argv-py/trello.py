"""trello.py - work with a board

Usage: trello.py cards BOARD
       trello.py add BOARD TITLE
"""
import os
import sys
import requests

KEY = {"key": os.environ.get("TRELLO_KEY"), "token": os.environ.get("TRELLO_TOKEN")}

def cards(board):
    for card in requests.get(f"https://api.trello.com/1/boards/{board}/cards", params=KEY).json():
        print("-", card["name"])

def add(board, title):
    requests.post("https://api.trello.com/1/cards", params={**KEY, "idList": board, "name": title})

if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] == "cards":
        cards(sys.argv[2])
    elif sys.argv[1] == "add":
        add(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)
