package embeddings

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"

	"github.com/skillsmcp/skills-mcp/sandbox/egress"
)

// An Endpoint computes vectors.
type Endpoint struct {
	// URL is the base, such as https://api.example.com/v1; "/embeddings" is appended
	// unless it ends so. A host that is a name must resolve to public addresses, but
	// for "localhost"; an address is connected to as it is. Plain HTTP is only for
	// localhost and for addresses that are not public.
	URL string
	// Model is the name of the model.
	Model string
	// Key is the bearer token; "" sends none.
	Key string
}

// Validate returns an error with the remedy for an endpoint that cannot be used.
func (e Endpoint) Validate() error {
	if e.Model == "" {
		return errors.New("the model is missing; name one that the endpoint has")
	}
	_, err := e.parse()
	return err
}

func (e Endpoint) parse() (*url.URL, error) {
	base, err := url.Parse(e.URL)
	switch {
	case err != nil, base.Host == "", base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("the URL is none of a web server; write one such as https://api.example.com/v1")
	case base.User != nil:
		return nil, errors.New("the URL has a password; write the name of a variable as the key")
	case base.Scheme == "http" && !isNear(base.Hostname()):
		return nil, fmt.Errorf("what is sent to %s could be read on the way; write https", base.Hostname())
	}
	return base, nil
}

// isNear reports whether a host is this machine, or an address that is not public.
func isNear(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && !egress.Public(addr)
}
