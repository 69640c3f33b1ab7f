package serving

import (
	"cmp"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/server/web"
	"github.com/spf13/pflag"
)

// Flags are the flags by which clients reach the server.
type Flags struct {
	Profile                      string
	transport, listen, tokenFile string
	replica                      string
	noToken, ui                  bool
	allowHosts, allowOrigins     []string
	tlsCert, tlsKey              string
}

// Register adds the flags to those of a command.
func (v *Flags) Register(f *pflag.FlagSet) {
	f.StringVar(&v.transport, "transport", "", "serve by `TRANSPORT`: stdio, http or sse (default stdio)")
	f.StringVar(&v.listen, "listen", "", "listen on `ADDRESS:PORT`, for http and sse; port 0 takes a free one (default "+config.DefaultListen+")")
	f.StringVar(&v.tokenFile, "token-file", "", "let in only clients that send the bearer token in `FILE`, of mode 600 and in no workspace (or in the variable SKILLS_MCP_TOKEN; else one is made)")
	f.StringVar(&v.tlsCert, "tls-cert", "", "serve HTTPS with the certificate, and its chain, in the PEM `FILE`, which is read again when it changes")
	f.StringVar(&v.tlsKey, "tls-key", "", "the key of the certificate, in the PEM `FILE` of mode 600 and in no workspace")
	f.StringVar(&v.replica, "replica", "", "share sessions, tasks and questions with the other servers of the store, which reach this one at `URL`, such as http://10.1.2.3 (its port is that of --listen unless it has one)")
	f.StringVar(&v.Profile, "profile", "", "bound what clients may do by the profile `NAME`")
	f.BoolVar(&v.noToken, "no-token", false, "ask clients for no token, and them for no yes: on a loopback address for programs of yours alone (Linux), on any other for everybody who reaches it")
	f.BoolVar(&v.ui, "ui", false, "also serve the page for people at "+web.Path+", over http")
	f.StringArrayVar(&v.allowHosts, "allow-host", nil, "let clients call the server by the name `HOST` (repeatable)")
	f.StringArrayVar(&v.allowOrigins, "allow-origin", nil, "let web pages of `ORIGIN`, such as https://app.example.com, use the server (repeatable)")
}

// apply applies the flags to the configuration.
func (v Flags) apply(c *config.Config) error {
	s := &c.Serve
	s.Transport = cmp.Or(v.transport, s.Transport)
	s.Listen = cmp.Or(v.listen, s.Listen)
	s.Replica = cmp.Or(v.replica, s.Replica)
	s.TokenFile = cmp.Or(v.tokenFile, s.TokenFile)
	s.TLS.Cert = cmp.Or(v.tlsCert, s.TLS.Cert)
	s.TLS.Key = cmp.Or(v.tlsKey, s.TLS.Key)
	s.NoToken = s.NoToken || v.noToken
	s.UI = s.UI || v.ui
	s.AllowHosts = append(s.AllowHosts, v.allowHosts...)
	s.AllowOrigins = append(s.AllowOrigins, v.allowOrigins...)
	return s.Validate()
}
