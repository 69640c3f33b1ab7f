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

	// Hosts take the secret, as in [Grant].Hosts; without a port, at 443. None takes it
	// where there are none.
	Hosts []string
	// Methods bound the requests that carry it; none is all.
	Methods []string
	// Paths bound them too, by patterns such as "/repos/**"; none is all.
	Paths []string
	// In names the parts of a request in which the sentinel is exchanged: "header", which
	// has only fields for credentials, "query", "path" and "body"; none is header and query.
	In []string
}
