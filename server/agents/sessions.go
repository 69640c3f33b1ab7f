package agents

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/store"
)

const (
	maxRunning = 1000               // sessions of a server at once
	maxOwned   = maxRunning / 2     // and of one owner
	storedFor  = 7 * 24 * time.Hour // after the end
	maxStored  = 20_000
	maxBytes   = 256 << 20   // of all that are stored
	sweeping   = time.Minute // between two sweeps
)

// MaxTimeout bounds the time limit of a session, as the schema of sessions_spawn has it: one that
// is older is taken for one of a server that has ended.
const MaxTimeout = 24 * time.Hour

// Sessions are the sessions of agents of one server. They may be used concurrently. Errors
// for the caller are a [github.com/skillsmcp/skills-mcp/server/run.Error].
type Sessions struct {
	registry
	options Options
	stop    context.CancelCauseFunc
	swept   chan struct{}  // closed after the first sweep
	all     sync.WaitGroup // the sweeper, and the sessions that run
}

// New returns the sessions of a store. Those of processes that have ended become errors, and
// are announced. [Sessions.Close] ends them.
func New(o Options) *Sessions {
	o.Depth, o.MaxChildren = cmp.Or(o.Depth, 2), cmp.Or(o.MaxChildren, 5)
	o.Timeout, o.Keep = cmp.Or(o.Timeout, 5*time.Minute), cmp.Or(o.Keep, time.Hour)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	s := &Sessions{options: o, swept: make(chan struct{}), registry: registry{
		board: board{ready: map[identity.Key][]string{}, watchers: map[chan struct{}]bool{}}, table: store.NewSubagents(o.Store), logger: o.Logger, live: map[string]*live{},
	}}
	s.work = s.runLoop
	s.ctx, s.stop = context.WithCancelCause(context.Background())
	s.all.Go(s.sweep)
	return s
}

// runLoop works on a session with its model and tools.
func (s *Sessions) runLoop(ctx context.Context, l *live) (string, error) {
	tools, err := s.options.Connect(ctx, l.who, l.workspaces)
	if err != nil {
		return "", err
	}
	defer tools.Close()
	o := &s.options
	return (&loop{session: *l.read(), who: l.who, agent: l.agent, model: l.model, tools: tools, host: l, ledger: l.ledger, skills: o.SkillsPerTurn, hook: o.Hook}).run(ctx)
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

// Leave tells that the session of a client has ended. Its agents' sessions go on, and are
// announced to the next session of the same owner.
func (s *Sessions) Leave(key identity.Key) {
	s.mu.Lock()
	waiting := s.pop(maxStored, key) // those of forgotten sessions wait for the next sweep
	some := len(waiting) > 0
	for _, l := range s.live {
		if l.session.Root == key && l.session.Owner != key { // else it has no session
			l.left, some = true, true
			s.announce(orphaned(l.session.Owner), waiting...)
			waiting = nil
		}
	}
	s.mu.Unlock()
	if !some {
		return
	}
	if err := s.table.Leave(s.ctx, string(key)); err != nil {
		s.options.Logger.Warn("other servers do not announce the subagents of a client that has left", "error", err)
	}
}

// sweep follows and sweeps now and then.
func (s *Sessions) sweep() {
	// Before the first session, a process with the number of this one has ended.
	s.sweepOnce(func(pid int) bool { return pid != os.Getpid() && audit.Alive(pid) })
	close(s.swept)
	tick := time.NewTicker(following)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-s.ctx.Done():
			return
		case now := <-tick.C:
			if s.follow(); now.Sub(last) >= sweeping {
				last = now
				s.sweepOnce(audit.Alive)
			}
		}
	}
}

// sweepOnce forgets old sessions, and finds those of servers that have ended.
func (s *Sessions) sweepOnce(alive func(pid int) bool) {
	now := time.Now()
	gone, err := s.table.Sweep(s.ctx, now.Add(-storedFor), now.Add(-MaxTimeout-sweeping), maxStored, maxBytes, string(Failed), alive)
	if err != nil {
		s.options.Logger.Warn("subagents of servers that have ended are not announced", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range gone {
		s.announce(orphaned(identity.Key(one.Owner)), one.RunID)
	}
	for _, l := range s.live {
		if l.awaited && !l.waiting && l.hasEnded() && l.session.Ended.Before(now.Add(-sweeping)) { // its task was never made
			l.awaited = false
			l.deliver(l.parent)
		}
	}
	s.forget(now.Add(-s.options.Keep))
}

// forget removes from memory the trees that ended before a time, and all of too many; mu is
// held.
func (s *Sessions) forget(before time.Time) {
	if len(s.live) > 2*maxRunning {
		before = time.Now()
	}
	for id, l := range s.live {
		top := l
		for top.parent != nil {
			top = top.parent
		}
		if !top.hasEnded() || top.session.Ended.After(before) {
			continue
		}
		if l.awaited { // nobody has read the result of its task
			l.deliver(nil)
		}
		delete(s.live, id)
	}
}
