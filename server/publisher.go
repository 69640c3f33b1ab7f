package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A publisher replaces the view that calls use, and notifies clients of changes.
type publisher struct {
	expose        exposure.Options
	subscriptions *subscriptions
	digests       skillsext.Digests // of skills' files

	// Set before the first publication: they use view.
	core   *mcpserver.MCPServer
	search *searcher
	fixed  *fixedTools
	skills *skillTools

	count atomic.Uint64        // of the views; see [Directory.Published]
	view  atomic.Pointer[view] // used by calls; replaced as a whole
	state atomic.Uint64        // counts the beginnings and ends of changes of the tools

	mu     sync.Mutex      // held during a publication; guards the fields below
	shown  []byte          // fingerprint of the tools that clients know
	active map[string]bool // qualified names of the skills that the workspace has files for
}

// publish replaces the catalog. It reports whether the tools have changed.
func (p *publisher) publish(catalog *skills.Catalog) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.show(catalog)
}

// activate replaces the active skills. It reports whether the tools have changed.
func (p *publisher) activate(active map[string]bool) (changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if maps.Equal(active, p.active) {
		return false
	}
	p.active = active
	return p.show(p.view.Load().catalog)
}

// show replaces the view and the tools. The caller holds mu.
func (p *publisher) show(catalog *skills.Catalog) (changed bool) {
	before, v := p.view.Load(), p.next(catalog)
	tools := append(p.fixed.tools(v), p.skills.tools(v)...)
	v.list(tools)
	v.handlers[p.fixed.hidden.Tool.Name] = p.fixed.hidden.Handler
	p.view.Store(v)
	p.count.Add(1)
	p.search.published()
	if before != nil && before.catalog != catalog {
		p.notify(before, v)
	}
	shown := fingerprint(tools)
	if bytes.Equal(shown, p.shown) {
		return false
	}
	p.shown = shown
	p.state.Add(1)
	defer p.state.Add(1)
	p.core.SetTools(append(tools, p.skills.any())...)
	return true
}

// next returns the view of a catalog. The caller holds mu.
func (p *publisher) next(catalog *skills.Catalog) *view {
	v := newView(catalog)
	v.library, v.declared = skillsext.New(catalog, &p.digests), declaredBy(catalog)
	v.facts = exposure.State{Active: p.active}
	if before := p.view.Load(); before != nil {
		v.listed, v.facts.Shown = before.listed, before.sent()
		same := slices.EqualFunc(before.catalog.Skills, catalog.Skills, func(a, b *skills.Skill) bool { return a.QualifiedName() == b.QualifiedName() })
		if same && maps.Equal(before.facts.Active, p.active) {
			v.facts = before.facts // no list changes by the mere repetition of a choice
		}
	}
	v.exposed = v.expose(v.facts, p.expose)
	return v
}

// notify notifies clients of the changes of prompts and resources. mcp-go notifies them
// of those of tools.
func (p *publisher) notify(before, after *view) {
	for _, method := range changedLists(before, after) {
		p.core.SendNotificationToAllClients(method, nil)
	}
	p.subscriptions.notify(p.core, before.library, after.library)
}

// fingerprint returns bytes that differ for tools that differ to clients.
func fingerprint(tools []mcpserver.ServerTool) []byte {
	var b bytes.Buffer
	for _, t := range tools {
		a := t.Tool.Annotations
		fmt.Fprintf(&b, "%q %q %q %t %t %t %s %s\n", t.Tool.Name, t.Tool.Description, a.Title, *a.ReadOnlyHint, *a.DestructiveHint, *a.OpenWorldHint, t.Tool.RawInputSchema, t.Tool.RawOutputSchema)
	}
	return b.Bytes()
}

// logChanges logs the problems and skills that a catalog has and the one before had
// not.
func logChanges(logger *slog.Logger, before, after *skills.Catalog) {
	for _, p := range added(before.Problems, after.Problems, same[skills.Problem]) {
		if p.Severity == skills.Error {
			logger.Warn("a skill did not load as written", "problem", p.String())
		}
	}
	if !logger.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	for _, skill := range added(before.Skills, after.Skills, same[*skills.Skill]) {
		if skill.Of == nil {
			logger.Info("a skill is loaded", "skill", skill.QualifiedName(), "file", skill.File)
		}
	}
	files := func(s skills.Shadow) [2]string { return [2]string{s.Skill.File, s.By.File} }
	for _, s := range added(before.Shadowed, after.Shadowed, files) {
		logger.Info("a skill is shadowed", "skill", s.Skill.QualifiedName(), "file", s.Skill.File, "by", s.By.File)
	}
}

func same[T any](item T) T { return item }

// added returns the items of after whose key no item of before has.
func added[T any, K comparable](before, after []T, key func(T) K) (items []T) {
	known := make(map[K]bool, len(before))
	for _, item := range before {
		known[key(item)] = true
	}
	for _, item := range after {
		if !known[key(item)] {
			items = append(items, item)
		}
	}
	return items
}
