package web

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/pins"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/web/signin"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/verdict"
)

// Path is the beginning of the paths of the page.
const Path = signin.Path

// Options connect a [Page] to the server.
type Options struct {
	Service *api.Service
	// Manage knows the machine: sources, clients and settings.
	Manage Manage
	// Pins knows the accepted versions of skills; nil shows none.
	Pins Pins
	// Findings returns what the scan of a skill's files finds; nil is nothing.
	Findings func(ctx context.Context, skill *skills.Skill) ([]verdict.Finding, error)
	// Folders are the folders in which the person can put a skill, the best first.
	Folders []string
	Version string
	Logger  *slog.Logger
}

// Pins knows the accepted versions of skills, as [pins.Pins] does.
type Pins interface {
	// Compare compares a skill with its accepted version. It records nothing.
	Compare(ctx context.Context, skill *skills.Skill) (*pins.Comparison, error)
	// Accept records that a person has accepted a skill with the files of a folder, which
	// have the digest.
	Accept(ctx context.Context, skill *skills.Skill, digest, folder string) error
}

// A Page serves the screens.
type Page struct {
	options Options
	assets  assets
	screens *screens
	changes *changes
}

// A content is the answer of a screen.
type content struct {
	Title string
	// Template is the name of a file in the folder templates.
	Template string
	Data     any
	// Live are the topics whose changes have the script get the screen again: "skills",
	// "approvals", "runs", "sources", or "run/ID". It then replaces the elements with the attribute
	// data-live and an id that differ.
	Live []string
	// Stamp is the version of the screen's topics, from which their events go on; get sets it.
	Stamp string
	// Section is the part of the navigation that the screen belongs to: "skills",
	// "approvals", "runs", "secrets", "sources", "clients", "doctor" or "settings".
	Section string
}

// A screen answers a GET request. An error is shown with a status of its own; see fail.
type screen func(r *http.Request) (*content, error)

// An action answers a POST request of a form: it changes something, and returns the path
// of the screen that shows it.
type action func(r *http.Request) (next string, err error)

// A router mounts screens and actions.
type router struct {
	page *Page
	mux  *http.ServeMux
}

// get mounts a screen at a path below [Path].
func (r *router) get(path string, s screen) {
	r.mux.HandleFunc("GET "+Path+path, func(w http.ResponseWriter, q *http.Request) {
		before := r.page.changes.current(q.Context())
		c, err := s(q)
		if err != nil {
			r.page.fail(w, q, err)
			return
		}
		if !slices.Contains(c.Live, "approvals") { // the navigation counts the questions
			c.Live = append(c.Live, "approvals")
		}
		c.Stamp = stampOf(before, c.Live...)
		r.page.show(w, q, http.StatusOK, c)
	})
}

// post mounts an action at a path below [Path].
func (r *router) post(path string, a action) {
	r.mux.HandleFunc("POST "+Path+path, func(w http.ResponseWriter, q *http.Request) {
		next, err := a(q)
		if err != nil {
			r.page.fail(w, q, err)
			return
		}
		http.Redirect(w, q, next, http.StatusSeeOther)
	})
}

// show writes a screen.
func (p *Page) show(w http.ResponseWriter, r *http.Request, status int, c *content) {
	t, err := p.screens.of(c.Template)
	var text bytes.Buffer
	if err == nil {
		err = t.Execute(&text, "layout.html", newFrame(r.Context(), c, p.options.Version, r.URL.RequestURI(), p.waiting(r.Context())))
	}
	if err != nil {
		p.options.Logger.Error("show a screen of the page", "template", c.Template, "error", err)
		http.Error(w, "the screen cannot be shown; the log says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes())
}

// A frame is the data of the layout, and of each screen.
type frame struct {
	*content
	Version string
	Path    string // of this screen, with its query
	Person  bool   // of this machine: decisions about it are offered
	Answers bool   // answers are offered
	Who     string // the name of a reader who is not the person of this machine; "" is none
	// Waiting are the questions that wait for an answer, the newest first.
	Waiting []*approval.Record
}

func newFrame(ctx context.Context, c *content, version, path string, waiting []*approval.Record) frame {
	f := frame{content: c, Version: version, Path: path, Person: isPerson(ctx), Waiting: waiting}
	who := identity.FromContext(ctx)
	if f.Answers = who.Answers(); who.Named() {
		f.Who = who.Label()
	}
	return f
}

// waiting returns the questions that wait for a principal's answer; none if they cannot
// be read, which the screen of approvals reports.
func (p *Page) waiting(ctx context.Context) []*approval.Record {
	if p.options.Service == nil {
		return nil
	}
	all, err := p.options.Service.Approvals(ctx, false)
	if err != nil {
		return nil
	}
	who := identity.FromContext(ctx)
	return slices.DeleteFunc(all, func(r *approval.Record) bool {
		return r.State != approval.Pending || !r.OwnedBy(who) && !api.MayAnswer(ctx, r)
	})
}

// A moved error leads to the path that it is.
type moved string

func (m moved) Error() string { return "see " + string(m) }

// fail shows the screen of an error, with the status of its code.
func (p *Page) fail(w http.ResponseWriter, r *http.Request, err error) {
	if context.Cause(r.Context()) != nil {
		return
	}
	if to, ok := errors.AsType[moved](err); ok {
		http.Redirect(w, r, string(to), http.StatusSeeOther)
		return
	}
	e, title := run.AsError(err), "That did not work"
	switch e.Code {
	case run.NotFound:
		title = "Not found"
	case run.PermissionDenied:
		title = "Not allowed"
	case run.InternalError:
		p.options.Logger.Error("serve a screen of the page", "path", r.URL.Path, "error", err)
	}
	p.show(w, r, api.Status(e.Code), &content{Title: title, Template: "error.html", Data: e})
}

// missing is the screen of a path that does not exist.
func (p *Page) missing(*http.Request) (*content, error) {
	return nil, &run.Error{Code: run.NotFound, Message: "There is nothing at this address."}
}
