package serving

import (
	"errors"
	"net/http"
	"strings"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/build"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/endpoint"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/httpd"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/telemetry"
	"github.com/skillsmcp/skills-mcp/server/web"
	"github.com/skillsmcp/skills-mcp/server/web/signin"
)

// A Page serves the page and the REST API of a backend.
type Page struct {
	agent    *seal.Agent // signs for the persons who have signed in
	sessions *signin.Sessions
	tokens   httpd.Authenticator // of the requests without a session; nil accepts everybody
	base     string              // URL of the server, without the last slash
	api      *apiServer
	views    *views
	manage   *machine
	page     *web.Page
	seen     *telemetry.Telemetry
	withdraw func()
}

// NewPage returns the page of a server with the URL base. Its first requests parse and
// build its parts. The caller closes it.
func NewPage(b *Backend, base string, options signin.Options, tokens httpd.Authenticator) *Page {
	agent := &seal.Agent{}
	if hash := b.settings.Policy.Passphrase; hash != "" {
		options.Passphrase = func(text string) bool { return approval.Unlock(hash, text, agent) }
	}
	withdraw, err := endpoint.PagesOf(b.settings).Publish(base + web.Path)
	if err != nil {
		b.settings.Logger.Warn("other programs of yours will not lead to the page", "err", err)
		withdraw = func() {}
	}
	options.Name = b.replicas.Name
	p := &Page{agent: agent, sessions: signin.New(options), tokens: tokens, base: base, api: b.service(), views: b.views, manage: newMachine(b.settings, agent), withdraw: withdraw, seen: b.settings.Sandboxes.Telemetry}
	p.page = web.New(web.Options{Service: p.api.Service, Manage: p.manage, Pins: b.settings.Sandboxes.Pins, Findings: b.settings.Sandboxes.Verdicts.Of, Folders: b.settings.Roots.ForSkills(), Version: build.Read().Version, Logger: b.settings.Logger})
	return p
}

// Mount mounts the page and the API.
func (p *Page) Mount(srv *httpd.Server) {
	srv.Handle(web.Path, p.sessions.Guard(p.signed(p.page.Handler())))
	srv.Handle(api.Path, p.seen.Span(api.Path, p.views.choosing(false, p.signed(p.api.Handler()))))
	srv.Handle("GET /{$}", http.RedirectHandler(web.Path, http.StatusSeeOther))
	srv.Handle("GET /favicon.ico", http.RedirectHandler(web.Path+"static/mark.svg", http.StatusSeeOther))
}

// signed returns a handler whose decisions are signed if a person makes them.
func (p *Page) signed(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ctx := r.Context(); identity.FromContext(ctx).Kind == identity.Person {
			r = r.WithContext(seal.NewContext(ctx, p.agent))
		}
		h.ServeHTTP(w, r)
	})
}

// URL returns the address of the page.
func (p *Page) URL() string { return p.base + web.Path }

// Link returns a URL that signs a person in once.
func (p *Page) Link() string { return p.base + p.sessions.Link() }

// Authenticate implements [httpd.Authenticator]. The page asks by itself who its reader is,
// and the API takes a session as well as a token. MCP takes no session: a page of another
// port could make a browser send it.
func (p *Page) Authenticate(r *http.Request) (identity.Principal, error) {
	switch path := r.URL.Path; {
	case path == "/", path == "/favicon.ico", strings.HasPrefix(path, web.Path):
		return identity.Principal{}, nil
	case strings.HasPrefix(path, api.Path):
		if who, ok := p.sessions.Authenticate(r); ok {
			return who, nil
		}
	}
	if p.tokens == nil {
		return identity.Principal{}, nil
	}
	return p.tokens.Authenticate(r)
}

// Close ends the requests of the page that have no end of their own, its changes, and the
// runs.
func (p *Page) Close() error {
	p.withdraw()
	p.manage.close()
	return errors.Join(p.page.Close(), p.api.Close())
}

// errNoPage is returned for a page over standard input and output.
var errNoPage = errors.New("--ui serves the page beside MCP over HTTP: add --transport http; skills-mcp ui opens a page of its own")
