package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/transport"
)

// serveFlags say how clients reach the server.
type serveFlags struct {
	transport, listen, tokenFile string
	insecure                     bool
	allowHosts, allowOrigins     []string
}

func (a *app) listenFlags(cmd *cobra.Command) {
	f, v := cmd.Flags(), &a.flags.serve
	f.StringVar(&v.transport, "transport", "", "serve by `TRANSPORT`: stdio, http or sse (default stdio)")
	complete(cmd, "transport", config.Transports())
	f.StringVar(&v.listen, "listen", "", "listen on `ADDRESS:PORT`, for http and sse; port 0 takes a free one (default "+config.DefaultListen+")")
	f.StringVar(&v.tokenFile, "token-file", "", "let in only clients that send the bearer token in `FILE`, of mode 600 and in no workspace (or in the variable SKILLS_MCP_TOKEN)")
	f.BoolVar(&v.insecure, "insecure", false, "let everybody in who can reach the address, without a token")
	f.StringArrayVar(&v.allowHosts, "allow-host", nil, "let clients call the server by the name `HOST` (repeatable)")
	f.StringArrayVar(&v.allowOrigins, "allow-origin", nil, "let web pages of `ORIGIN`, such as https://app.example.com, use the server (repeatable)")
}

// apply applies the flags to the configuration.
func (v serveFlags) apply(s *config.Serve) error {
	s.Transport = cmp.Or(v.transport, s.Transport)
	s.Listen = cmp.Or(v.listen, s.Listen)
	s.TokenFile = cmp.Or(v.tokenFile, s.TokenFile)
	s.Insecure = s.Insecure || v.insecure
	s.AllowHosts = append(s.AllowHosts, v.allowHosts...)
	s.AllowOrigins = append(s.AllowOrigins, v.allowOrigins...)
	return s.Validate()
}

// A listener serves HTTP.
type listener struct {
	net.Listener
	settings config.Serve
	token    string
	logger   *slog.Logger
	app      *app
}

// listen takes the address, before anything else is done, so that a wrong one is
// told at once. It returns nil for stdio.
func (a *app) listen(s *settings) (*listener, error) {
	if err := a.flags.serve.apply(&s.Serve); err != nil {
		return nil, usageError(err)
	}
	if s.Serve.Transport == "stdio" {
		a.hintStdio(s)
		return nil, nil
	}
	secret, err := s.token(s.Serve.TokenFile)
	if err != nil {
		return nil, usageError(err)
	}
	if secret == "" && !s.Serve.Insecure && !isLoopback(s.Serve.Listen) {
		return nil, usageError(fmt.Errorf("other machines can reach %s: give --token-file or %s, or --insecure to let everybody in", s.Serve.Listen, tokenVariable))
	}
	l, err := net.Listen("tcp", s.Serve.Listen)
	if err != nil {
		return nil, fmt.Errorf("%w; name another address with --listen (its port 0 takes a free one)", err)
	}
	return &listener{l, s.Serve, secret, s.logger, a}, nil
}

// hintStdio tells a person who waits for something to happen, or to connect, that
// standard input and output are served.
func (a *app) hintStdio(s *settings) {
	if v := a.flags.serve; v.listen != "" || v.tokenFile != "" {
		s.logger.Warn("an address or a token is for --transport http; standard input and output are served")
	}
	if isTerminal(a.stdin) {
		fmt.Fprintln(a.stderr, `skills-mcp: serving MCP on standard input and output, which a client does: see "skills-mcp connect --help". For HTTP, add --transport http. Ctrl-D ends it.`)
	}
}

// isLoopback reports whether only this machine reaches an address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// How long clients and the server may take, beside what the transport bounds.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	closeTimeout  = 500 * time.Millisecond // after the transport has ended all requests
	maxHeader     = 64 << 10               // bytes
)

// serve answers until ctx ends.
func (l *listener) serve(ctx context.Context, b transport.Backend) error {
	handler := transport.NewHTTP(b, &transport.HTTPOptions{
		Logger: l.logger, Authorize: l.authorize(), Hosts: l.settings.AllowHosts, Origins: l.settings.AllowOrigins,
		SSE: l.settings.Transport == "sse",
	})
	srv := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(l.logger.Handler(), slog.LevelDebug),
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l.Listener) }()
	fmt.Fprintf(l.app.stderr, "skills-mcp: serving MCP at %s\n", l.url())
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		err = fmt.Errorf("serve HTTP: %w", err)
	}
	closed := handler.Close()
	ending, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if srv.Shutdown(ending) != nil {
		_ = srv.Close() // what is left are clients that do not read
	}
	if errors.Is(closed, transport.ErrAbandoned) {
		err = cmp.Or(err, closed)
	}
	return err
}

// url is where clients connect.
func (l *listener) url() string {
	path := transport.Path
	if l.settings.Transport == "sse" {
		path += " and " + transport.SSEPath
	}
	// As it was said: the system may write 0.0.0.0 as [::].
	host, _, _ := net.SplitHostPort(l.settings.Listen) // it has been checked
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return "http://" + net.JoinHostPort(cmp.Or(host, "localhost"), port) + path
}

// authorize lets in who has the token; everybody where there is none.
func (l *listener) authorize() func(*http.Request) (identity.Principal, bool) {
	if l.token == "" {
		return nil
	}
	want := sha256.Sum256([]byte(l.token))
	return func(r *http.Request) (identity.Principal, bool) {
		scheme, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(sent))) // of one length, to be compared in constant time
		return identity.Principal{Kind: identity.Token}, strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(got[:], want[:]) == 1
	}
}
