package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"maps"
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
	fixed  *fixedTools
	skills *skillTools

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
	p.view.Store(v)
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
	p.core.SetTools(append(tools, p.skills.unlisted())...)
	return true
}

// next returns the view of a catalog. Its cost depends on the changes since the last
// view, if no skill came or went and none became a tool. The caller holds mu.
func (p *publisher) next(catalog *skills.Catalog) *view {
	before := p.view.Load()
	if before == nil {
		before = newView(&skills.Catalog{})
	}
	by, same := catalog.Replaced(before.catalog)
	v := &view{
		catalog: catalog, names: before.names, active: p.active,
		library: skillsext.New(catalog, &p.digests), declared: declaredBy(catalog),
	}
	v.past, v.listed = before.past, before.listed
	if !same {
		v.names = toolNames(catalog.Skills)
		v.past = before.removed(catalog)
	}
	if same && before.exposed != nil && maps.Equal(before.active, v.active) {
		v.exposed = before.exposed.With(by)
	}
	if v.exposed == nil {
		v.exposed = v.expose(p.active, p.expose)
	}
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
	known := map[skills.Problem]bool{}
	for _, p := range before.Problems {
		if p.Severity == skills.Error {
			known[p] = true
		}
	}
	for _, p := range after.Problems {
		if p.Severity == skills.Error && !known[p] {
			logger.Warn("a skill did not load as written", "problem", p.String())
		}
	}
	taken := map[skills.Problem]bool{}
	for _, p := range before.Taken() {
		taken[p] = true
	}
	for _, p := range after.Taken() {
		if !taken[p] {
			logger.Warn("the workspace hides what is the person's", "problem", p.String())
		}
	}
	logLoaded(logger, before, after)
	hidden := map[[2]string]bool{}
	for _, shadow := range before.Shadowed {
		hidden[[2]string{shadow.Skill.File, shadow.By.File}] = true
	}
	for _, shadow := range after.Shadowed {
		if !hidden[[2]string{shadow.Skill.File, shadow.By.File}] {
			logger.Info("a skill is shadowed", "skill", shadow.Skill.QualifiedName(), "file", shadow.Skill.File, "by", shadow.By.File)
		}
	}
}

// logLoaded logs each skill that is new or was read again, with its manifest.
func logLoaded(logger *slog.Logger, before, after *skills.Catalog) {
	if !logger.Enabled(context.Background(), slog.LevelInfo) {
		return
	}
	known := map[*skills.Skill]bool{}
	for _, skill := range before.Skills {
		known[skill] = true
	}
	for _, skill := range after.Skills {
		if !known[skill] && skill.Of == nil {
			logger.Info("a skill is loaded", "skill", skill.QualifiedName(), "file", skill.File)
		}
	}
}
