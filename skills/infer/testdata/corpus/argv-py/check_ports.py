import socket
import sys

def check(host, port):
    with socket.socket() as s:
        s.settimeout(2)
        return s.connect_ex((host, port)) == 0

if __name__ == "__main__":
    try:
        host = sys.argv[1]
        ports = [int(p) for p in sys.argv[2:]]
    except (IndexError, ValueError):
        print("Usage: check_ports.py <host> [port ...]", file=sys.stderr)
        sys.exit(2)
    for port in ports or [80, 443]:
        print(port, "open" if check(host, port) else "closed")
