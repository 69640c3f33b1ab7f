#!/usr/bin/env python3
import sys
import chess.pgn

def main(pgn_path: str, player: str) -> None:
    wins = 0
    with open(pgn_path) as f:
        while game := chess.pgn.read_game(f):
            if game.headers["White"] == player and game.headers["Result"] == "1-0":
                wins += 1
    print(wins)

if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(f"Usage: {sys.argv[0]} <pgn> <player>", file=sys.stderr)
        sys.exit(1)
    main(sys.argv[1], sys.argv[2])
