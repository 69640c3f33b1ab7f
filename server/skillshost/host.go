package skillshost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/seal"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Label is the label of the root that [Host.FS] is scanned as. It begins the places of
// skills of other servers.
const Label = skills.PlaceMCP

// HostOptions configure a [Host]. The zero value is usable.
type HostOptions struct {
	Session Options
	// Getenv returns the variables that servers have their tokens in; nil has none.
	Getenv func(name string) string
	// Logger gets servers that cannot be reached, and entries that cannot be used; nil
	// discards them.
	Logger *slog.Logger
}

// A Host knows the servers that the person has connected, and their skills. Its methods
// may be called concurrently, also by several processes with one folder.
type Host struct {
	shelf   shelf
	options HostOptions

	mu      sync.Mutex // held while the tree is made anew
	stamp   string     // of the files that the tree was made of
	current atomic.Pointer[tree]
	former  atomic.Pointer[tree] // the one before: calls of its skills may be under way
	asked   chan struct{}        // has a token if servers are to be asked again
}

// New returns the servers in a folder, with the person's decisions in a store, signed with
// key. It opens nothing. Options may be nil.
func New(dir string, s *store.Store, key *seal.Key, options *HostOptions) *Host {
	h := &Host{asked: make(chan struct{}, 1)}
	if options != nil {
		h.options = *options
	}
	h.options.Logger = cmp.Or(h.options.Logger, slog.New(slog.DiscardHandler))
	h.shelf = newShelf(dir, s, key, h.options.Logger)
	h.current.Store(newTree())
	h.former.Store(newTree())
	return h
}

// Servers returns the connected servers, by label.
func (h *Host) Servers(ctx context.Context) ([]*Server, error) { return h.shelf.servers(ctx) }

// Connect returns a session with a server, which the caller closes.
func (h *Host) Connect(ctx context.Context, s Server) (*Session, error) {
	o := h.options.Session
	if s.TokenEnv != "" {
		if h.options.Getenv != nil {
			o.Token = h.options.Getenv(s.TokenEnv)
		}
		if o.Token == "" {
			return nil, fmt.Errorf("the variable %s, which has the token of server %s, is not set", s.TokenEnv, s.Label)
		}
	}
	return Connect(ctx, s.Address, &o)
}

// listTime bounds the listing of one server.
const listTime = 2 * time.Minute

// List connects to a server and returns the skills that it lists. It fetches no file.
func (h *Host) List(ctx context.Context, s Server) (*Listing, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	session, err := h.Connect(ctx, s)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	return session.List(ctx)
}

// Add connects a server that the person has said yes to, with its first listing.
func (h *Host) Add(ctx context.Context, s Server, l *Listing) error {
	if err := CheckLabel(s.Label); err != nil {
		return err
	}
	return h.shelf.add(ctx, s, l)
}

// Remove removes a server with all that was fetched from it. It reports whether there was
// one.
func (h *Host) Remove(ctx context.Context, label string) (bool, error) {
	if CheckLabel(label) != nil {
		return false, nil
	}
	found := h.shelf.server(ctx, label) != nil
	return found, h.shelf.remove(ctx, label)
}

// FS returns the skills of all servers as a scan reads them. Its top is made anew where
// the stored listings or the consents have changed; nothing is fetched.
func (h *Host) FS() fs.FS { return hostFS{h} }

// A hostFS is the newest tree of a host.
type hostFS struct{ *Host }

// Open implements fs.FS.
func (f hostFS) Open(name string) (fs.File, error) {
	if name == "." {
		f.sync()
	}
	t := f.current.Load()
	if former := f.former.Load(); t.nodes[name] == nil && former.nodes[name] != nil {
		t = former
	}
	return t.Open(name)
}

// sync makes the tree anew if something has changed.
func (h *Host) sync() {
	h.mu.Lock()
	defer h.mu.Unlock()
	ctx := context.Background() // file systems have none
	servers, err := h.shelf.servers(ctx)
	if err != nil {
		h.options.Logger.Warn("the connected servers cannot be read", "error", err)
		return
	}
	stamp := h.shelf.stamp(ctx, servers)
	if stamp == h.stamp {
		return
	}
	t := newTree()
	for _, s := range servers {
		t.addServer(&h.shelf, s, h.shelf.listing(s.Label))
	}
	h.former.Store(h.current.Swap(t))
	h.stamp = stamp
}

// find returns the listed skill of a catalog's, or nil.
func (h *Host) find(skill *skills.Skill) *listed {
	if skill.Origin().Kind != skills.OriginMCP {
		return nil
	}
	dir := strings.TrimPrefix(skill.Owner().File, Label+"/")
	return h.current.Load().skills[strings.TrimSuffix(dir, "/"+skillFile)]
}

// Fetched reports whether a skill of a catalog has its files and the person's consent, or
// is of no other server.
func (h *Host) Fetched(skill *skills.Skill) bool {
	l := h.find(skill)
	return skill.Origin().Kind != skills.OriginMCP || l != nil && l.fetched && h.shelf.consented(l.server, l.entry)
}

// Allowed reports whether the person's consent to a skill of a catalog stands.
func (h *Host) Allowed(skill *skills.Skill) bool {
	l := h.find(skill)
	return skill.Origin().Kind != skills.OriginMCP || l != nil && h.shelf.consented(l.server, l.entry)
}

// ErrGone is returned for a skill that its server does not list any more, or not so.
var ErrGone = errors.New("the skill is not as it was listed; try again")

// Propose returns the consent that a skill needs before it is fetched, or nil if the
// person has given it. The server is not asked for anything.
func (h *Host) Propose(skill *skills.Skill) (*run.Fetch, error) {
	l := h.find(skill)
	switch {
	case l == nil:
		return nil, ErrGone
	case h.shelf.consented(l.server, l.entry):
		return nil, nil
	}
	return &run.Fetch{
		Server: l.server.Label, Address: l.server.Address.String(), URI: l.entry.URI, Set: l.entry.Set(), Files: len(l.entry.Files), Bytes: l.entry.Size(),
	}, nil
}

// Consent records the person's yes to a fetch, as it was proposed to them.
func (h *Host) Consent(ctx context.Context, f *run.Fetch) error {
	server := h.shelf.server(ctx, f.Server)
	if server == nil || server.Address.String() != f.Address {
		return fmt.Errorf("the server %q is not connected any more", f.Server)
	}
	return h.shelf.consent(ctx, server, f.URI, f.Set)
}

// Revoke withdraws the consent to a skill of a catalog. It reports whether there was one.
func (h *Host) Revoke(ctx context.Context, skill *skills.Skill) (bool, error) {
	l := h.find(skill)
	if l == nil {
		return false, nil
	}
	return h.shelf.consents.Remove(ctx, consentKey(l.server.Label, l.entry.URI))
}

// fetchTime bounds the fetch of one skill.
const fetchTime = 5 * time.Minute

// Fetch gets the files of a skill of a catalog that the person has consented to. Its
// server is asked first whether the skill still is as it was listed; if it says no, the
// new entry is stored, and needs a new consent. The next scan has the skill with its
// files.
func (h *Host) Fetch(ctx context.Context, skill *skills.Skill) error {
	l := h.find(skill)
	if l == nil || !h.shelf.consented(l.server, l.entry) {
		return ErrGone
	}
	if h.shelf.complete(l.server.Label, l.entry) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	session, err := h.Connect(ctx, *l.server)
	if err != nil {
		return err
	}
	defer session.Close()
	// A server may not answer that; then the digests tell.
	if now, err := session.Get(ctx, l.entry.URI); err == nil && now.Set() != l.entry.Set() {
		return errors.Join(ErrGone, h.replace(l, now))
	}
	return h.shelf.fetch(ctx, session, l.server.Label, l.entry)
}

// replace stores a changed entry, which revokes the consent to the former one.
func (h *Host) replace(old *listed, now *Entry) error {
	listing := h.shelf.listing(old.server.Label)
	at := slices.IndexFunc(listing.Entries, func(e *Entry) bool { return e.URI == now.URI })
	if at < 0 {
		return nil
	}
	listing.Entries[at] = now
	return h.shelf.putListing(old.server.Label, listing)
}

// Again makes Follow ask all servers at once.
func (h *Host) Again() {
	select {
	case h.asked <- struct{}{}:
	default: // it will
	}
}

// The time between two listings of one server: that which it states, within bounds.
const (
	defaultTTL = 10 * time.Minute
	minTTL     = time.Minute
)

// Follow asks each server for its skills as often as it states, and after its notices,
// until ctx is done, and calls changed when the catalog is not that of the stored listings.
// A server that cannot be reached keeps its skills.
func (h *Host) Follow(ctx context.Context, changed func(ctx context.Context)) {
	due, listened := map[string]time.Time{}, []*Server(nil)
	end := func() {}
	defer func() { end() }()
	for ctx.Err() == nil {
		servers, err := h.shelf.servers(ctx)
		if err != nil {
			h.options.Logger.Warn("the connected servers cannot be read", "error", err)
		}
		if !sameJSON(servers, listened) {
			end()
			end, listened = h.listenTo(ctx, servers), servers
		}
		next := time.Now().Add(minTTL)
		for _, s := range servers {
			if !time.Now().Before(due[s.Label]) {
				due[s.Label] = time.Now().Add(h.refresh(ctx, s))
			}
		}
		if h.stale(ctx, servers) && ctx.Err() == nil {
			changed(ctx)
		}
		select {
		case <-time.After(time.Until(next)):
		case <-h.asked:
			clear(due)
		case <-ctx.Done():
		}
	}
}

// listenTo listens to servers until ctx is done or end is called, which waits for that.
func (h *Host) listenTo(ctx context.Context, servers []*Server) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var listening sync.WaitGroup
	for _, s := range servers {
		listening.Go(func() { h.listen(ctx, s) })
	}
	return func() { cancel(); listening.Wait() }
}

// listen has a server asked again after each of its notices, until ctx is done.
func (h *Host) listen(ctx context.Context, s *Server) {
	for ctx.Err() == nil {
		if session, err := h.Connect(ctx, *s); err == nil {
			_ = session.Listen(ctx, func() { h.Again() }) // a server without notices is asked in time
			session.Close()
			if !mcp.IsModernProtocol(session.version) {
				return // it has none
			}
		}
		pause(ctx, defaultTTL)
	}
}

// stale reports whether the tree is not that of the stored listings and consents, which
// other processes change as well.
func (h *Host) stale(ctx context.Context, servers []*Server) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shelf.stamp(ctx, servers) != h.stamp
}

// refresh stores the listing of a server anew, if it has changed, and returns the time
// until the next.
func (h *Host) refresh(ctx context.Context, s *Server) (ttl time.Duration) {
	old := h.shelf.listing(s.Label)
	l, err := h.List(ctx, *s)
	if err != nil {
		if ctx.Err() == nil {
			h.options.Logger.Warn("a connected server cannot be asked for its skills; they stay as they were", "server", s.Label, "error", err)
		}
		return defaultTTL
	}
	for _, fault := range l.Faults {
		h.options.Logger.Warn("a skill of a connected server cannot be used", "server", s.Label, "error", fault)
	}
	if l.TTL = max(minTTL, cmp.Or(l.TTL, defaultTTL)); l.same(old) || h.shelf.server(ctx, s.Label) == nil { // removed meanwhile
		return l.TTL
	}
	if err := h.shelf.putListing(s.Label, l); err != nil {
		h.options.Logger.Warn("the skills of a connected server cannot be stored", "server", s.Label, "error", err)
	}
	return l.TTL
}

// same reports whether two listings have the same skills.
func (l *Listing) same(other *Listing) bool {
	return slices.EqualFunc(l.Entries, other.Entries, func(a, b *Entry) bool { return a.URI == b.URI && a.Set() == b.Set() })
}

// Count returns the number of skills that a server has listed.
func (h *Host) Count(label string) int {
	return len(h.shelf.listing(label).Entries)
}
