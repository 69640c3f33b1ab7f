// Package web is the page: skills, approvals, runs and the state of the machine, for a
// person with a browser. Each screen is HTML that works without script; the script only
// replaces parts of it that have changed.
//
// Start with [New]; [Page.Handler] serves the page below [Path].
package web

import (
	"net/http"

	"github.com/skillsmcp/skills-mcp/server/web/markup"
)

// New returns a page. Close ends the polls of browsers.
func New(o Options) *Page {
	files := newAssets()
	return &Page{o, files, newScreens(files), newChanges(o.Service, o.Manage, o.Logger)}
}

// newScreens returns the screens, whose functions know the static files.
func newScreens(files assets) *screens {
	return &screens{options: &markup.Options{Functions: functions(files), Methods: methods()}}
}

// Close ends the requests that have no end of their own.
func (p *Page) Close() error { return p.changes.Close() }

// Handler serves the page. Requests carry their principal; see package signin.
func (p *Page) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, add := range []func(*router){p.skillRoutes, skillScreens{p}.routes, runForms{p}.routes, p.approvalRoutes, p.runRoutes, p.manageRoutes, p.sharedRoutes} {
		add(&router{p, mux})
	}
	return mux
}

// sharedRoutes mounts the parts of all screens, and the screen of paths that do not exist.
func (p *Page) sharedRoutes(r *router) {
	r.raw("GET "+Path+"events", p.changes.serve)
	r.raw("GET "+Path+"static/", p.assets.serve)
	r.get("", p.missing)
}
