package sandbox

import "crypto/tls"

// Secrets are values that a command makes requests with and does not have. The proxy puts
// them into requests, over TLS alone.
type Secrets struct {
	List []Secret
	// Authority signs the certificates that the command sees of the secrets' hosts. Its key
	// does not leave the server.
	Authority tls.Certificate
}

// A Secret is one value, and where the proxy sends it.
type Secret struct {
	Name  string // for people
	Value string
	// Sentinel looks like Value and has its length. The command has it in place of Value,
	// unless Header is set, and sees it where a host sends Value back.
	Sentinel string
	// Header is the field that the proxy sets to Prefix and Value, in every request that the
	// secret is for; "" where it exchanges the sentinel.
	Header, Prefix string

	// Hosts are those that the secret is for, as in [Grant].Hosts; without a port, it is
	// 443. None is none.
	Hosts []string
	// Methods are those of the requests; none is all.
	Methods []string
	// Paths are patterns of the requests' paths, such as "/repos/**"; none is all.
	Paths []string
	// InPath and InBody say that the sentinel is exchanged there too, and not only in the
	// query and in header fields for credentials.
	InPath, InBody bool
}
