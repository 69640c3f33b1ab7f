package sandboxtest

// networkAttacks try to connect to hosts from a sandbox that was granted none.
func networkAttacks() []attack {
	return []attack{
		{
			name: "reach the internet",
			python: `
for family, address in [(socket.AF_INET, ("192.0.2.1", 80)), (socket.AF_INET, ("1.1.1.1", 443)), (socket.AF_INET6, ("2001:db8::1", 80))]:
    def tcp():
        s = socket.socket(family, socket.SOCK_STREAM); s.settimeout(5); s.connect(address)
    attempt("tcp to %s" % address[0], tcp)
    attempt("udp to %s" % address[0], lambda: socket.socket(family, socket.SOCK_DGRAM).sendto(b"x", address))
for name in [name for _, name in socket.if_nameindex() if name != "lo"]:
    worked("interface " + name)
`,
		},
		{
			name: "reach the host's loopback",
			python: `
for address in os.environ["ADDRESSES"].split() + ["0.0.0.0", "::", "172.17.0.1", "10.0.2.2", "host.docker.internal", "host.containers.internal"]:
    def tcp():
        socket.create_connection((address, int(os.environ["PORT"])), 5).close()
    attempt("tcp to " + address, tcp)
`,
			bare: true,
		},
		{
			name: "reach the cloud's metadata",
			python: `
for address in ["169.254.169.254", "169.254.170.2", "fd00:ec2::254", "metadata.google.internal"]:
    def tcp():
        socket.create_connection((address, 80), 5).close()
    attempt("tcp to " + address, tcp)
attempt("udp", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("169.254.169.254", 53)))
`,
		},
		{
			name: "resolve names",
			python: `
attempt("example.com", lambda: socket.getaddrinfo("example.com", 80))
servers = ["127.0.0.11", "127.0.0.53", "8.8.8.8", "2001:4860:4860::8888"]
try:
    servers += [line.split()[1] for line in open("/etc/resolv.conf") if line.startswith("nameserver")]
except OSError:
    pass
for server in servers:
    def ask():
        s = socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_DGRAM)
        s.settimeout(1)
        s.connect((server, 53))
        s.send(b"\x12\x34\1\0\0\1\0\0\0\0\0\0\7example\3com\0\0\1\0\1")
        s.recv(512)
    attempt("a question to " + server, ask)
`,
		},
		{
			name: "configure the network",
			python: `
import fcntl, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
attempt("address", lambda: fcntl.ioctl(s, 0x8916, struct.pack("16sH2s4s8s", b"lo", 2, b"", socket.inet_aton("192.0.2.9"), b"")))
attempt("route", lambda: fcntl.ioctl(s, 0x890b, b"\0" * 120))
attempt("tunnel", lambda: os.open("/dev/net/tun", os.O_RDWR))
def dummy():
    n = socket.socket(16, socket.SOCK_RAW, 0)
    n.bind((0, 0))
    attributes = struct.pack("HH6s2x", 10, 3, b"suite") + struct.pack("HH", 16, 18) + struct.pack("HH5s3x", 9, 1, b"dummy")
    body = struct.pack("BxHiII", 0, 0, 0, 0, 0) + attributes
    n.send(struct.pack("IHHII", 16 + len(body), 16, 0x605, 1, 0) + body)
    code = struct.unpack_from("i", n.recv(4096), 16)[0]
    if code:
        raise OSError(-code, "refused")
attempt("interface", dummy)
`,
			inside: []string{"tunnel"},
		},
	}
}
