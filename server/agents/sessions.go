package agents

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// Options configure [Sessions].
type Options struct {
	Store *store.Store
	// Find returns the agent of a name that exists for who, or an error for the caller.
	Find func(ctx context.Context, who identity.Principal, name string) (*Agent, error)
	// Names returns the names of the agents that exist for who.
	Names func(ctx context.Context, who identity.Principal) []string
	// Route returns the name of the agent for a task; "" is none.
	Route func(ctx context.Context, who identity.Principal, task string) string
	// Connect returns the tools of a session, whose principal is who.
	Connect func(ctx context.Context, who identity.Principal) (Tools, error)

	Models        map[string]*Model // by name
	Model         string            // the name of the default; "" with one model is that
	Depth         int               // of a session, at most; 0 is 2
	MaxChildren   int               // of one parent that run at once; 0 is 5
	Timeout       time.Duration     // 0 is 5 minutes
	Keep          time.Duration     // in memory after the end; 0 is 60 minutes
	SkillsPerTurn int               // bodies of skills that a message may add
	Budget        Budget            // of a client's session with its descendants
	Hook          Hook              // may be nil
	Logger        *slog.Logger      // nil discards
}

const (
	maxRunning = 1000               // sessions of a server at once
	maxEnded   = 1000               // ended sessions in memory
	storedFor  = 7 * 24 * time.Hour // after the end
	maxStored  = 20_000             // sessions in the store
	sweeping   = time.Minute        // between two rounds of the sweeper
)

// Sessions are the sessions of agents of one server. They may be used concurrently. Errors
// for the caller are a [github.com/skillsmcp/skills-mcp/server/run.Error].
type Sessions struct {
	options Options
	table   store.Subagents
	// work runs the loop of a session. It must return when ctx is done.
	work      func(ctx context.Context, l *live) (result string, err error)
	ctx       context.Context // done when Close is called
	stop      context.CancelCauseFunc
	recovered chan struct{}  // closed by the sweeper after its first round
	all       sync.WaitGroup // the sweeper, and the sessions that run
	ready     atomic.Int64   // announcements for clients; written under mu

	mu      sync.Mutex
	closed  bool                      // under mu, as those below
	follows bool                      // follow runs
	running int                       // sessions
	live    map[string]*live          // by run ID: those that run, and that have ended lately
	clients map[identity.Key]*client  // whose sessions have not ended
	orphans map[identity.Key][]string // by owner: run IDs of announcements whose client is gone
}

// A client is the session of a client, which has spawned sessions or waits for announcements.
type client struct {
	key, owner identity.Key
	gone       bool            // under Sessions.mu, as those below
	running    int             // children
	ready      []string        // run IDs of announcements
	watchers   []chan struct{} // each of capacity 1
}

// New returns the sessions of a store. Those of processes that have ended are marked as
// failed, and announced. [Sessions.Close] ends them.
func New(o Options) *Sessions {
	o.Depth, o.MaxChildren = cmp.Or(o.Depth, 2), cmp.Or(o.MaxChildren, 5)
	o.Timeout, o.Keep = cmp.Or(o.Timeout, 5*time.Minute), cmp.Or(o.Keep, time.Hour)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Model == "" && len(o.Models) == 1 {
		for name := range o.Models {
			o.Model = name
		}
	}
	s := &Sessions{options: o, table: store.NewSubagents(o.Store), recovered: make(chan struct{}), live: map[string]*live{}, clients: map[identity.Key]*client{}, orphans: map[identity.Key][]string{}}
	s.work = s.runLoop
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.all.Go(s.sweep)
	return s
}

// runLoop works on a session with its model and tools.
func (s *Sessions) runLoop(ctx context.Context, l *live) (string, error) {
	tools, err := s.options.Connect(ctx, l.who)
	if err != nil {
		return "", err
	}
	defer tools.Close()
	return (&loop{session: *s.copyOf(l), who: l.who, agent: l.agent, model: l.model, tools: tools, host: l, ledger: l.ledger,
		skills: s.options.SkillsPerTurn, hook: s.options.Hook, log: s.options.Logger}).run(ctx)
}

// Close ends all sessions, which are announced to their owners by the next server, and waits
// for them.
func (s *Sessions) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop(errServer)
	s.all.Wait()
}

// clientOf returns the session of a client; mu is held.
func (s *Sessions) clientOf(who identity.Principal) *client {
	key := who.Key()
	c := s.clients[key]
	if c == nil {
		c = &client{key: key, owner: who.Owner()}
		s.clients[key] = c
	}
	return c
}

// Leave tells that the session of a client has ended. Its agents' sessions go on.
func (s *Sessions) Leave(key identity.Key) {
	s.mu.Lock()
	c := s.clients[key]
	if c != nil {
		delete(s.clients, key)
		c.gone = true
		s.orphans[c.owner] = append(s.orphans[c.owner], c.ready...)
		c.ready = nil
		s.announce(c)
	}
	s.mu.Unlock()
	if c == nil {
		return
	}
	if err := s.table.Leave(s.ctx, string(key)); err != nil {
		s.options.Logger.Warn("other servers do not announce the subagents of a client that is gone", "error", err)
	}
}

// sweep removes old sessions, and looks for those of servers that have ended.
func (s *Sessions) sweep() {
	own := os.Getpid() // a process of the same number has ended
	s.recover(func(pid int) bool { return pid != own && audit.Alive(pid) })
	close(s.recovered)
	tick := time.NewTicker(sweeping)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		s.forget(time.Now().Add(-s.options.Keep))
		s.recover(audit.Alive)
		if err := s.table.Prune(s.ctx, time.Now().Add(-storedFor), maxStored); err != nil {
			s.options.Logger.Warn("old subagents are not removed", "error", err)
		}
	}
}

// recover finds the announcements whose client is gone.
func (s *Sessions) recover(alive func(pid int) bool) {
	owners, err := s.table.Lost(s.ctx, string(Failed), alive)
	if err != nil {
		s.options.Logger.Warn("subagents of servers that have ended are not announced", "error", err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	orphans := map[identity.Key][]string{}
	for id, owner := range owners {
		orphans[identity.Key(owner)] = append(orphans[identity.Key(owner)], id)
	}
	for owner, ids := range s.orphans { // not stored yet, or being taken by another server
		for _, id := range ids {
			if _, found := owners[id]; !found && s.live[id] != nil {
				orphans[owner] = append(orphans[owner], id)
			}
		}
	}
	s.orphans = orphans
	for _, c := range s.clients {
		if len(orphans[c.owner]) > 0 {
			s.announce(c)
		}
	}
	s.count()
}

// forget removes from memory the trees that ended before a time, and the oldest of too many.
func (s *Sessions) forget(before time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ended []*live
	used := map[*client]bool{}
	for _, l := range s.live {
		used[l.client] = true
		if !l.top().session.Ended.IsZero() {
			ended = append(ended, l)
		}
	}
	slices.SortFunc(ended, func(a, b *live) int { return b.top().session.Ended.Compare(a.top().session.Ended) })
	for i, l := range ended {
		if i >= maxEnded || !l.top().session.Ended.After(before) {
			delete(s.live, l.session.RunID)
		}
	}
	for key, c := range s.clients {
		if !used[c] && len(c.ready) == 0 && len(c.watchers) == 0 {
			delete(s.clients, key)
		}
	}
}
