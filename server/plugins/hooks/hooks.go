// Package hooks runs the hooks of plugins around calls: those of Claude Code's plugins at
// PreToolUse, PostToolUse, PostToolUseFailure, SessionStart and SessionEnd
// (code.claude.com/docs/en/hooks), and before_tool_call and after_tool_call of Conduit's.
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

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Hooks run hooks around calls. They may be used concurrently.
type Hooks struct {
	current atomic.Pointer[published]
	office  *office

	mu       sync.Mutex
	sessions map[identity.Key]*around // a call of each client that has called
}

// New returns hooks without any. See [Hooks.Apply].
func New(faults Faults, logger *slog.Logger) *Hooks {
	return &Hooks{office: newOffice(faults, logger), sessions: map[identity.Key]*around{}}
}

// Close waits a moment for the hooks that nobody waits for, and ends them.
func (h *Hooks) Close() { h.office.close() }

// published are the hooks of a catalog.
type published struct {
	catalog *skills.Catalog
	hooks   []hook // by the name of the plugin
}

// Apply makes the hooks of a catalog those that run. It returns the catalog. It is a filter of
// package live.
func (h *Hooks) Apply(_ context.Context, catalog *skills.Catalog) *skills.Catalog {
	if last := h.current.Load(); last != nil && last.catalog == catalog {
		return catalog
	}
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
	h.current.Store(&published{catalog, all})
	return catalog
}

// Any implements [run.Hooks].
func (h *Hooks) Any() bool { return len(h.list()) > 0 }

// list returns the hooks that run.
func (h *Hooks) list() []hook {
	if p := h.current.Load(); p != nil {
		return p.hooks
	}
	return nil
}

// Around implements [run.Hooks].
func (h *Hooks) Around(ctx context.Context, c *run.HookedCall) (*run.Outcome, error) {
	all := h.list()
	if len(all) == 0 || c.Skill != nil && c.Skill.OfHooks() {
		return c.Do(ctx, c.Args, "")
	}
	a := newAround(h.office, c, all)
	if h.begins(a) {
		a.start(ctx)
	}
	if err := a.before(ctx); err != nil {
		return nil, c.Refuse(ctx, err)
	}
	o, err := c.Do(ctx, a.args, a.ask)
	if o != nil {
		a.after(ctx, o, err)
		o.Hooks = a.texts
	}
	return o, err
}

// begins reports whether a call is the first one of a client's session.
func (h *Hooks) begins(a *around) bool {
	if !slices.Contains([]run.Way{run.WayTool, run.WayRunSkill, run.WayCode}, a.Way) {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	_, known := h.sessions[a.Principal.Key()]
	if !known && len(h.sessions) < maxClients {
		h.sessions[a.Principal.Key()] = a.detached()
		return true
	}
	return false
}

// Leave implements [run.Hooks].
func (h *Hooks) Leave(owner identity.Key) {
	h.mu.Lock()
	a := h.sessions[owner]
	delete(h.sessions, owner)
	h.mu.Unlock()
	if a != nil {
		h.office.spawn(endTime, a.end)
	}
	h.office.forget(owner)
}
