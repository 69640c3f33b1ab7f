// Package hooks runs the hooks of plugins around calls: those of Claude Code's plugins at
// PreToolUse, PostToolUse, PostToolUseFailure, SessionStart and SessionEnd
// (code.claude.com/docs/en/hooks), and before_tool_call and after_tool_call of Conduit's. In the
// sessions of agents it runs before_agent_start, message_received and message_sending of Conduit's.
// Each is a call of its own, which runs if a person has said yes to it before, and else is
// skipped.
//
// Start with [New].
package hooks

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Bounds of hooks.
const (
	endTime    = 2 * time.Second  // of those at the end of a session, and of all others then
	maxClients = 10_000           // that are remembered
	faultPause = 10 * time.Minute // between two failures of a plugin's hooks that are kept
)

// Faults keeps the failures of hooks.
type Faults interface {
	// Skipped keeps why one of the hooks of a skill was skipped.
	Skipped(ctx context.Context, owner *skills.Skill, why string)
}

// Hooks run hooks around calls. They may be used concurrently.
type Hooks struct {
	current atomic.Pointer[[]hook] // by the name of the plugin
	faults  Faults
	exists  func(context.Context, identity.Principal, *skills.Skill) bool
	logger  *slog.Logger
	life    context.Context // of the work; ended by Close
	stop    context.CancelFunc
	work    sync.WaitGroup // of hooks that nobody waits for; Close waits for it

	mu      sync.Mutex // guards the fields below
	closed  bool
	clients map[identity.Key]*client // until they leave
	failed  map[string]time.Time     // the last failure, by the name of the skill
}

// A client has made a call, or was told that hooks are skipped.
type client struct {
	end  func(context.Context) // runs the hooks at the end of its session; nil without a session
	told []string              // names of skills that it knows to be skipped
}

// New returns hooks without any. See [Hooks.Apply]. exists reports whether a skill exists for
// a principal: no hook of another one is run for it, nor mentioned.
func New(faults Faults, exists func(context.Context, identity.Principal, *skills.Skill) bool, logger *slog.Logger) *Hooks {
	h := &Hooks{faults: faults, exists: exists, logger: logger, clients: map[identity.Key]*client{}, failed: map[string]time.Time{}}
	h.life, h.stop = context.WithCancel(context.Background())
	return h
}

// Close waits two seconds for the hooks that nobody waits for, and ends them.
func (h *Hooks) Close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	timer := time.AfterFunc(endTime, h.stop)
	defer timer.Stop()
	h.work.Wait()
	h.stop()
}

// Apply has the hooks of a catalog run from now on, and returns the catalog. It is a filter of
// package live.
func (h *Hooks) Apply(_ context.Context, catalog *skills.Catalog) *skills.Catalog {
	var all []hook
	for _, skill := range catalog.Skills {
		switch {
		case skill.Untrusted() || skill.Blocked != "" || skill.Unavailable != "" || skill.Entry == nil:
		case skill.Entry.Hook != nil && skill.Entry.Hook.Around():
			all = append(all, newHook(skill))
		case skill.Entry.Server != nil:
			for _, event := range skill.Entry.Server.Hooks {
				all = append(all, newCodeHook(skill, event))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b hook) int {
		if byPlugin := strings.Compare(a.skill.Plugin, b.skill.Plugin); byPlugin != 0 || a.code || b.code {
			return byPlugin
		}
		return slices.Index(a.owner.Tools, a.skill) - slices.Index(b.owner.Tools, b.skill) // as they are declared
	})
	h.current.Store(&all)
	return catalog
}

// Any implements [run.Hooks].
func (h *Hooks) Any() bool { return len(h.list()) > 0 }

// list returns the hooks that run.
func (h *Hooks) list() []hook {
	if all := h.current.Load(); all != nil {
		return *all
	}
	return nil
}

// client returns a client, which is new if it was not there; nil where too many are. The caller
// has locked h.mu.
func (h *Hooks) client(key identity.Key) *client {
	c := h.clients[key]
	if c == nil && len(h.clients) < maxClients {
		c = &client{}
		h.clients[key] = c
	}
	return c
}

// Leave implements [run.Hooks].
func (h *Hooks) Leave(owner identity.Key) {
	h.mu.Lock()
	c := h.clients[owner]
	delete(h.clients, owner)
	h.mu.Unlock()
	if c != nil && c.end != nil {
		h.spawn(endTime, c.end)
	}
}

// spawn runs hooks that nobody waits for, unless they are closed.
func (h *Hooks) spawn(limit time.Duration, work func(context.Context)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.work.Go(func() {
		ctx, cancel := context.WithTimeout(h.life, limit)
		defer cancel()
		work(ctx)
	})
}

// tells reports whether a client is to be told that the hooks of a skill are skipped: once.
func (h *Hooks) tells(key identity.Key, owner *skills.Skill) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.client(key)
	if c != nil && slices.Contains(c.told, owner.QualifiedName()) {
		return false
	}
	if c != nil {
		c.told = append(c.told, owner.QualifiedName())
	}
	return true
}

// knows reports whether a client was told that the hooks of a skill are skipped.
func (h *Hooks) knows(key identity.Key, owner *skills.Skill) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.clients[key]
	return c != nil && slices.Contains(c.told, owner.QualifiedName())
}

// fail logs and keeps why a hook was skipped, once in a while of one plugin's.
func (h *Hooks) fail(ctx context.Context, x *hook, why string) {
	name := x.owner.QualifiedName()
	h.mu.Lock()
	recent := time.Since(h.failed[name]) < faultPause
	if !recent {
		h.failed[name] = time.Now()
	}
	h.mu.Unlock()
	h.logger.Warn("a hook was skipped", "hook", x.skill.QualifiedName(), "event", x.event, "error", why)
	if !recent {
		h.faults.Skipped(context.WithoutCancel(ctx), x.owner, x.event+": "+why)
	}
}
