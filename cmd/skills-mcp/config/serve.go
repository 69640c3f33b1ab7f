package config

import (
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
)

// Serve says how clients reach the server.
type Serve struct {
	Transport string `yaml:"transport"`  // stdio, http or sse
	Listen    string `yaml:"listen"`     // address and port, of http and sse
	TokenFile string `yaml:"token_file"` // holds the bearer token that clients must send
	Insecure  bool   `yaml:"insecure"`   // let everybody in, whatever the address
	// AllowHosts are names that clients may call the server by, and AllowOrigins
	// the web pages that may use it.
	AllowHosts   []string `yaml:"allow_hosts"`
	AllowOrigins []string `yaml:"allow_origins"`
}

// DefaultListen is where the server listens where nobody says otherwise.
const DefaultListen = "127.0.0.1:8765"

// Transports are the values of serve.transport: sse is http with the deprecated
// transport beside it.
func Transports() []string { return []string{"stdio", "http", "sse"} }

// Validate returns what is wrong with it.
func (s Serve) Validate() error {
	if !slices.Contains(Transports(), s.Transport) {
		return fmt.Errorf("serve.transport is %q; write one of %s", s.Transport, strings.Join(Transports(), ", "))
	}
	if _, _, err := net.SplitHostPort(s.Listen); err != nil {
		return fmt.Errorf("serve.listen is %q; write an address and a port, such as %s", s.Listen, DefaultListen)
	}
	for _, origin := range s.AllowOrigins {
		if u, err := url.Parse(origin); err != nil || u.Scheme == "" || u.Host == "" || strings.Trim(u.Path, "/") != "" {
			return fmt.Errorf("serve.allow_origins has %q; write a scheme and a host, such as https://app.example.com", origin)
		}
	}
	for _, host := range s.AllowHosts {
		if host == "" || strings.ContainsAny(host, "/: ") {
			return fmt.Errorf("serve.allow_hosts has %q; write a name without scheme and port, such as skills.example.com", host)
		}
	}
	return nil
}
