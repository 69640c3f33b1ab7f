package serving

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/config"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/endpoint"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/exitcode"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/setup"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/terminal"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/httpd"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/identity/oauth"
	"github.com/skillsmcp/skills-mcp/server/identity/tokens"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/server/web"
	"github.com/skillsmcp/skills-mcp/server/web/signin"
)

// A Listener serves HTTP.
type Listener struct {
	net.Listener
	settings    config.Serve
	token       endpoint.BearerToken // of the machine
	tokens      *tokens.Tokens
	login       *oauth.Login       // nil is none
	certificate *httpd.Certificate // nil serves HTTP
	profile     string
	logger      *slog.Logger
	stderr      io.Writer

	server   atomic.Pointer[httpd.Server] // set by Serve
	patience atomic.Int64                 // of a drain, a time
}

// Listen listens on the address, before anything else is done, so that a wrong one is
// reported at once. It returns nil for stdio. Notices of the start go to stderr. A socket of
// systemd takes the place of the address.
func (v *Flags) Listen(ctx context.Context, s *setup.Settings, stdin io.Reader, stderr io.Writer) (*Listener, error) {
	if err := v.apply(s.Config); err != nil {
		return nil, exitcode.Usage(err)
	}
	if err := setup.CheckProfile(s.Profiles, "--profile", v.Profile); err != nil {
		return nil, err
	}
	if v.ui && s.Serve.Transport != "http" {
		return nil, exitcode.Usage(errNoPage)
	}
	if s.Serve.Transport == "stdio" {
		v.hintStdio(s.Logger, stdin, stderr)
		return nil, nil
	}
	l, err := activated()
	if err != nil {
		return nil, err
	}
	if l != nil {
		s.Serve.Listen = l.Addr().String()
	}
	reader := endpoint.NewTokenReader(s)
	named, err := s.Tokens.List(ctx)
	if err != nil {
		return nil, err
	}
	token, err := reader.Token(s.Serve, len(named) > 0 || s.Serve.OIDC.Issuer != "")
	if err != nil {
		return nil, exitcode.Usage(err)
	}
	login, err := newLogin(s)
	if err != nil {
		return nil, exitcode.Usage(err)
	}
	var certificate *httpd.Certificate
	if s.Serve.TLS.Cert != "" {
		if certificate, err = httpd.NewCertificate(s.Serve.TLS.Cert, s.Serve.TLS.Key, reader.CheckKey, s.Logger); err != nil {
			return nil, exitcode.Usage(err)
		}
	}
	if l == nil {
		if l, err = net.Listen("tcp", s.Serve.Listen); err != nil {
			return nil, fmt.Errorf("%w; name another address with --listen (its port 0 takes a free one)", err)
		}
	}
	if u, err := url.Parse(s.Serve.Replica); err == nil && u.Host != "" && u.Port() == "" {
		_, port, _ := net.SplitHostPort(l.Addr().String())
		u.Host = net.JoinHostPort(u.Hostname(), port)
		s.Serve.Replica = u.String()
	}
	listener := &Listener{Listener: l, settings: s.Serve, token: token, tokens: s.Tokens, login: login, certificate: certificate, profile: v.Profile, logger: s.Logger, stderr: stderr}
	listener.patience.Store(int64(s.Serve.Drain))
	return listener, nil
}

// newLogin returns the sign-in on the page at the issuer; nil is none.
func newLogin(s *setup.Settings) (*oauth.Login, error) {
	if s.Serve.OIDC.Issuer == "" || !s.Serve.UI {
		return nil, nil
	}
	page, o := s.Serve.OIDC.Page, s.Serve.OAuth()
	secret, err := endpoint.NewTokenReader(s).Secret(page.ClientSecretFile)
	if err != nil {
		return nil, err
	}
	o.Client = oauth.Client{ID: page.ClientID, Secret: secret, Redirect: s.Serve.URL + signin.CallbackPath, Document: s.Serve.URL + signin.DocumentPath}
	return oauth.NewLogin(o), nil
}

// hintStdio tells a waiting person that standard input and output are served.
func (v *Flags) hintStdio(logger *slog.Logger, stdin io.Reader, stderr io.Writer) {
	if v.listen != "" || v.tokenFile != "" {
		logger.Warn("an address or a token is for --transport http; standard input and output are served")
	}
	if terminal.Is(stdin) {
		fmt.Fprintln(stderr, `skills-mcp: serving MCP on standard input and output, which a client does: see "skills-mcp connect --help". For HTTP, add --transport http. Ctrl-D ends it.`)
	}
}

// Serve serves MCP until ctx ends, and calls under way for as long as serve.drain says.
func (l *Listener) Serve(ctx context.Context, b *Backend) error {
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	resource := oauth.NewResource(l.settings.OAuth())
	authenticator, mounted := l.authenticator(resource), []io.Closer(nil)
	var page *Page
	if l.settings.UI {
		page = l.page(b, authenticator)
		authenticator, mounted = page, append(mounted, page)
	}
	seen := b.settings.Sandboxes.Telemetry
	around := func(next http.Handler) http.Handler { return seen.Around(b.replicas.Around(next, namedIDs)) }
	srv := httpd.New(&httpd.Options{
		Logger: l.logger, Ready: b.Ready, Challenge: resource.Insufficient, Authenticator: seen.Authenticator(authenticator), Around: around, Fail: api.Fail, OwnUser: l.settings.NoToken, Access: l.settings.Access(), TLS: l.certificate.Config(), Rate: l.rate(),
		CORS: httpd.CORS{Methods: transport.Methods + ", " + api.Methods, Headers: transport.Headers + ", " + api.Headers, Exposed: transport.SessionHeader + ", WWW-Authenticate, " + api.Exposed},
	})
	l.server.Store(srv)
	clients := transport.NewHTTP(b.views.first.server.Backend(), &transport.Options{Logger: l.logger, Refused: srv.Refused, Observer: seen.Observer(), Replicas: b.replicas})
	b.views.listen(clients)
	streamable := func(h *transport.HTTP) http.Handler { return h }
	for _, path := range []string{transport.Path, transport.Path + "/p/{profile}"} {
		srv.Handle(path, b.views.serve(false, streamable))
		srv.Handle(path+"/readonly", b.views.serve(true, streamable))
	}
	hint := "MCP is served at " + transport.Path
	if l.offersSSE() {
		srv.Handle(transport.SSEPath, b.views.serve(false, func(h *transport.HTTP) http.Handler { stream, _ := h.SSE(); return stream }))
		srv.Handle(transport.MessagePath, b.views.serve(false, func(h *transport.HTTP) http.Handler { _, messages := h.SSE(); return messages }))
	} else {
		unoffered := notFound(hint + "; the deprecated " + transport.SSEPath + " is there with --transport sse")
		srv.Handle(transport.SSEPath, unoffered)
		srv.Handle(transport.MessagePath, unoffered)
	}
	srv.HandlePublic("GET "+cardPath, serverCard(l.settings))
	srv.Handle("/", notFound(hint))
	if l.settings.OIDC.Issuer != "" {
		srv.HandlePublic(oauth.MetadataPath, resource.Metadata())
		srv.HandlePublic(oauth.MetadataPath+"/", resource.Metadata())
	}
	fmt.Fprintf(l.stderr, "skills-mcp: serving MCP at %s\n", l.url())
	l.tellToken()
	var runs drainer
	if page != nil {
		page.Mount(srv)
		l.tellPage(page)
		runs = page.api.running
	} else {
		rest := b.service()
		srv.Handle(api.Path, seen.Span(api.Path, b.views.choosing(false, rest.Handler())))
		mounted = append(mounted, rest)
		runs = rest.running
	}
	defer context.AfterFunc(ctx, func() {
		defer end()
		notify(l.logger, daemon.SdNotifyStopping)
		srv.Drain()
		drain(ctx, time.Duration(l.patience.Load()), l.logger, runs, inTurn{clients, b.views}) // calls under way may become tasks
	})()
	notify(l.logger, daemon.SdNotifyReady)
	return srv.Serve(serving, l.Listener, append(mounted, clients)...)
}

// namedIDs returns the session and the run of a request to the page or the REST API, by which
// its server is found. They are few, whatever a client sends: it need not be authenticated.
func namedIDs(r *http.Request) (ids []string) {
	rest, isREST := strings.CutPrefix(r.URL.Path, api.Path)
	if !isREST && !strings.HasPrefix(r.URL.Path, web.Path) {
		return nil
	}
	for _, c := range r.Cookies() {
		if strings.Contains(c.Name, "skills-mcp") && len(ids) < 3 {
			ids = append(ids, c.Value)
		}
	}
	if run, ok := strings.CutPrefix(rest, "runs/"); isREST && ok {
		id, _, _ := strings.Cut(run, "/")
		ids = append(ids, id)
	}
	return ids
}

// admit replaces the access of the server, if it serves already.
func (l *Listener) admit(a httpd.Access) {
	if srv := l.server.Load(); srv != nil {
		srv.Admit(a)
	}
}

// rate returns the bound of a principal's requests.
func (l *Listener) rate() httpd.Rate {
	r := l.settings.Rate
	if r.RequestsPerSecond == 0 && endpoint.IsLoopback(l.Addr().String()) {
		return httpd.Rate{}
	}
	return httpd.Rate{PerSecond: cmp.Or(r.RequestsPerSecond, 50), Burst: cmp.Or(r.Burst, 200)}
}

// page returns the page beside MCP. Holders of the token can sign in with it.
func (l *Listener) page(b *Backend, tokens httpd.Authenticator) *Page {
	options := signin.Options{Profile: l.profile, Logger: l.logger}
	if !l.settings.NoToken {
		options.Tokens, options.Links, options.Watch = tokens.Authenticate, l.tokens.UseLink, l.tokens.Watch
	}
	if l.login != nil {
		options.Provider = l.login
	}
	address := l.settings.Listen
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		address = net.JoinHostPort("127.0.0.1", "0") // where a browser of this machine finds it
	}
	return NewPage(b, l.urlOf(address), options, tokens)
}

// tellToken prints where clients find a token that they do not know yet, or who needs none.
func (l *Listener) tellToken() {
	switch who := httpd.WithoutToken; {
	case l.token.Made:
		fmt.Fprintf(l.stderr, "Clients send the token in %s: \"skills-mcp connect CLIENT --http %s --write\" gives it to them.\n", l.token.From, l.urlOf(l.settings.Listen)+transport.Path)
	case l.settings.NoToken:
		if !endpoint.IsLoopback(l.Addr().String()) {
			who = "everybody who reaches the address"
		}
		fmt.Fprintf(l.stderr, "No token is asked for: %s can call skills.\n", who)
	}
}

// tellPage prints the address of the page, and on a terminal, where no program reads it, a
// link that signs in.
func (l *Listener) tellPage(p *Page) {
	fmt.Fprintf(l.stderr, "skills-mcp: serving the page at %s\n", p.URL())
	if terminal.Is(l.stderr) {
		fmt.Fprintf(l.stderr, "Sign in, once and within ten minutes:\n  %s\n", p.Link())
	}
}

func notFound(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, http.StatusNotFound) })
}

func (l *Listener) offersSSE() bool { return l.settings.Transport == "sse" }

// url returns the addresses for clients.
func (l *Listener) url() string {
	path := transport.Path
	if l.offersSSE() {
		path += " and " + transport.SSEPath
	}
	return l.urlOf(l.settings.Listen) + path
}

// urlOf returns the URL of an address at which it listens.
func (l *Listener) urlOf(address string) string {
	url := URL(address, l)
	if l.certificate != nil {
		url = "https" + strings.TrimPrefix(url, "http")
	}
	return url
}

// URL returns the URL of a server that listens on a configured address, with the host
// as it is written there: the system may write 0.0.0.0 as [::].
func URL(address string, l net.Listener) string {
	host, _, _ := net.SplitHostPort(address) // it has been checked
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return "http://" + net.JoinHostPort(cmp.Or(host, "localhost"), port)
}

// authenticator accepts clients with a token, or everybody; nil accepts everybody, without
// a profile.
func (l *Listener) authenticator(resource *oauth.Resource) httpd.Authenticator {
	a := &authenticator{open: l.settings.NoToken, tokens: l.tokens, resource: resource, profile: l.profile}
	if a.open && a.profile == "" {
		return nil
	}
	if l.token.Text != "" {
		a.machine = identity.NewBearer(l.token.Text)
	}
	if l.settings.OIDC.Issuer != "" {
		a.issuer = oauth.NewIssuer(l.settings.OAuth())
	}
	return a
}
