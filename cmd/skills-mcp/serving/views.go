package serving

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/live"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/transport"
	"github.com/skillsmcp/skills-mcp/skills"
)

// maxViews bounds the profiles that are served at once, and the chains of agents. One more ends
// the view of its kind that has been idle longest. The agents of one owner use half.
const (
	maxViews = 64
	maxOwned = maxViews / 2
)

// views are the servers of one backend, one for each profile that somebody uses. They share
// the scan, the runner, the approvals and the record.
type views struct {
	ctx       context.Context // of the backend
	reloader  *live.Reloader
	decider   *policy.Policy
	newServer func(*view) *server.Server
	first     *view // of the default profile, made first; it stays until close

	running sync.WaitGroup // what attaches and closes views; Close waits for it

	mu      sync.Mutex      // guards the fields below
	clients *transport.HTTP // of the first view; nil over stdio
	open    map[viewKey]*view
	closed  bool
}

// A viewKey names a view.
type viewKey struct {
	profile  string
	readOnly bool
	agents   string // qualified names, the outermost first, with agentsSeparator between them
}

// agentsSeparator is in no name of an agent, which is on one line.
const agentsSeparator = "\n"

// keyOf returns the key of the view of a principal.
func keyOf(who identity.Principal) viewKey {
	return viewKey{who.Profile, who.ReadOnly, strings.Join(who.Agents, agentsSeparator)}
}

// A view serves MCP to the principals of one profile: nothing else exists in its catalog, so
// that no way in has to ask whether it may be seen.
type view struct {
	views  *views
	key    viewKey
	filter *policy.Filter // of what exists for all
	live   *live.View
	offers [2]bool // run_code and open_sandbox
	stays  bool    // it is the first
	server *server.Server

	clients *transport.HTTP      // nil over stdio
	users   map[identity.Key]int // requests, streams and sessions of agents, by owner; guarded by the mutex of views
	used    time.Time            // the last of them began; likewise
}

// principal returns a client of the view, for what exists for all of them.
func (k viewKey) principal() identity.Principal {
	who := identity.Principal{Kind: identity.Model, Profile: k.profile, ReadOnly: k.readOnly}
	if k.agents != "" {
		who.Agents = strings.Split(k.agents, agentsSeparator)
	}
	return who
}

// Apply implements [live.Filter]. A view ends whose profile is gone, or offers other tools: it
// is made again at the next request.
func (v *view) Apply(ctx context.Context, catalog *skills.Catalog) *skills.Catalog {
	if !v.stays && (!v.views.decider.Knows(ctx, v.key.principal()) || v.offers != v.views.offers(ctx, v.key)) {
		v.views.mu.Lock()
		v.views.end(v)
		v.views.mu.Unlock()
	}
	return v.filter.Apply(ctx, catalog)
}

// offers reports whether run_code and open_sandbox exist for the clients of a view.
func (s *views) offers(ctx context.Context, k viewKey) [2]bool {
	return [2]bool{s.decider.Offers(ctx, k.principal(), run.WayCode), s.decider.Offers(ctx, k.principal(), run.WaySession)}
}

func noProfile(name string) string { return fmt.Sprintf("there is no profile %q for you", name) }

// of returns the view of a principal. It makes one at the first request. The error is a
// [*run.Error].
func (s *views) of(ctx context.Context, who identity.Principal) (*view, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.at(ctx, who)
}

// at does as of. The caller holds mu.
func (s *views) at(ctx context.Context, who identity.Principal) (*view, error) {
	key := keyOf(who)
	v := s.open[key]
	if v == nil {
		switch {
		case s.first != nil && !s.decider.Knows(ctx, key.principal()):
			return nil, &run.Error{Code: run.NotFound, Message: noProfile(who.Profile)}
		case s.closed, !s.room(key.agents != ""):
			return nil, &run.Error{Code: run.Busy, Message: "too many profiles are in use at once; try again later", Retryable: true}
		}
		v = &view{views: s, key: key, filter: policy.NewFilter(s.decider, key.principal()), offers: s.offers(ctx, key), stays: s.first == nil, users: map[identity.Key]int{}}
		v.live = s.reloader.View(v)
		v.server = s.newServer(v)
		if s.clients != nil {
			v.clients = s.clients.Beside(v.server.Backend())
		}
		s.open[key] = v
		if v.stays {
			s.first = v
		}
		s.running.Go(func() { _ = v.live.Attach(s.ctx, v.server) }) // its error is that ctx is done
	}
	v.used = time.Now()
	return v, nil
}

// enter returns the view of a principal, which is not evicted before leave is called.
func (s *views) enter(ctx context.Context, who identity.Principal) (v *view, leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner := who.Owner()
	if len(who.Agents) > 0 && s.owned(owner, keyOf(who)) >= maxOwned {
		return nil, nil, &run.Error{Code: run.Busy, Message: fmt.Sprintf("subagents of yours run in %d different chains already; wait for one to end, or end one with sessions_kill", maxOwned), Retryable: true}
	}
	if v, err = s.at(ctx, who); err != nil {
		return nil, nil, err
	}
	v.users[owner]++
	return v, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if v.users[owner]--; v.users[owner] == 0 {
			delete(v.users, owner)
		}
	}, nil
}

// owned returns the number of views, but one, that agents of an owner use. The caller holds mu.
func (s *views) owned(owner identity.Key, but viewKey) (count int) {
	for key, v := range s.open {
		if key.agents != "" && key != but && v.users[owner] > 0 {
			count++
		}
	}
	return count
}

// room makes room for a view, of agents or of clients: nobody's agents shut out a client. It
// reports whether there is some. The caller holds mu.
func (s *views) room(agents bool) bool {
	var oldest *view
	count := 0
	for _, v := range s.open {
		if (v.key.agents != "") != agents {
			continue
		}
		if count++; !v.stays && len(v.users) == 0 && (oldest == nil || v.used.Before(oldest.used)) {
			oldest = v
		}
	}
	if count < maxViews {
		return true
	}
	if oldest != nil {
		s.end(oldest)
	}
	return oldest != nil
}

// end removes a view, and ends its requests, streams and sessions in the background. The
// caller holds mu.
func (s *views) end(v *view) {
	if s.open[v.key] != v {
		return
	}
	delete(s.open, v.key)
	s.running.Go(func() {
		if v.clients != nil && !v.stays { // the listener closes the first one's
			_ = v.clients.Close()
		}
		v.live.Detach()
		v.server.Close()
	})
}

// listen makes the views serve beside clients, which serves the first one.
func (s *views) listen(clients *transport.HTTP) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clients, s.first.clients = clients, clients
}

// Drain starts no more calls in any view, and returns when those under way have ended, or ctx
// has.
func (s *views) Drain(ctx context.Context) {
	s.mu.Lock()
	open := slices.Collect(maps.Values(s.open))
	s.mu.Unlock()
	for _, v := range open {
		v.server.Drain(ctx)
	}
}

// close ends all views and waits for them.
func (s *views) close() {
	s.mu.Lock()
	s.closed = true
	for _, v := range s.open {
		s.end(v)
	}
	s.mu.Unlock()
	s.running.Wait()
}

// directory returns the skills of each principal's view.
func (s *views) directory() *server.Directory {
	return server.NewDirectory(func(ctx context.Context, who identity.Principal) (*server.Server, error) {
		v, err := s.of(ctx, who)
		if err != nil {
			return nil, err
		}
		return v.server, nil
	})
}

// Enable implements [api.Rules].
func (s *views) Enable(ctx context.Context, skill *skills.Skill, enabled bool) error {
	who := identity.FromContext(ctx)
	_, err := s.decider.Enable(ctx, keyOf(who).principal(), skill, enabled)
	return err
}

// Pin implements [api.Rules].
func (s *views) Pin(ctx context.Context, skill *skills.Skill, pinned bool) error {
	return s.decider.Pin(ctx, skill, pinned)
}

// rules are the decisions of the person about skills, as they count in each principal's view.
// It implements [api.Rules].
type rules struct {
	*views
	all *policy.Filter // of what exists for nobody
}

// Off implements [api.Rules].
func (r rules) Off(ctx context.Context) []policy.Off {
	off := r.all.Off(ctx)
	if v, err := r.of(ctx, identity.FromContext(ctx)); err == nil {
		off = slices.Concat(off, v.filter.Off(ctx))
	}
	slices.SortFunc(off, func(a, b policy.Off) int { return cmp.Compare(a.Skill.QualifiedName(), b.Skill.QualifiedName()) })
	return off
}

// serve returns a handler of MCP, in the view of each request's principal.
func (s *views) serve(readOnly bool, handler func(*transport.HTTP) http.Handler) http.Handler {
	return s.choosing(readOnly, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, leave, err := s.enter(r.Context(), identity.FromContext(r.Context()))
		if err != nil {
			w.Header().Set("Retry-After", "1")
			api.Fail(w, r, err.Error(), http.StatusServiceUnavailable)
			return
		}
		defer leave()
		handler(v.clients).ServeHTTP(w, r)
	}))
}

// choosing returns a handler that passes on requests with the profile that their path or
// header chooses. One that does not exist, and one that is not the principal's, are answered
// alike.
func (s *views) choosing(readOnly bool, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, path, header := identity.FromContext(r.Context()), r.PathValue("profile"), r.Header[transport.ProfileHeader]
		named := cmp.Or(path, strings.Join(header, ", "))
		switch {
		case path != "" && len(header) > 0 && header[0] != path, len(header) > 1:
			api.Fail(w, r, "the path and the header "+transport.ProfileHeader+" name different profiles", http.StatusBadRequest)
			return
		case named != "" && who.Profiles != nil && !slices.Contains(who.Profiles, named), !s.decider.Knows(r.Context(), identity.Principal{Profile: cmp.Or(named, who.Profile)}):
			api.Fail(w, r, noProfile(cmp.Or(named, who.Profile)), http.StatusNotFound)
			return
		}
		who.Profile, who.ReadOnly = cmp.Or(named, who.Profile), who.ReadOnly || readOnly
		next.ServeHTTP(w, r.WithContext(identity.NewContext(r.Context(), who)))
	})
}
