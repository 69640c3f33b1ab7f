package server

import (
	"bytes"
	"cmp"
	"context"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Prompts and resources are listed and found in the view. mcp-go's own lists are
// empty for a moment at each change, come in any order where names are equal, and
// its templates match in any order.

// offer tells clients once that prompts or resources are others than before. The
// caller holds publishing.
func (s *Server) offer(before, after *view) {
	if before.catalog == after.catalog {
		return
	}
	if !samePrompts(before, after) {
		s.core.SendNotificationToAllClients(mcp.MethodNotificationPromptsListChanged, nil)
	}
	if !sameResources(before, after) || !sameDeclared(before, after) {
		s.core.SendNotificationToAllClients(mcp.MethodNotificationResourcesListChanged, nil)
	}
	s.updated(before.library, after.library)
}

func samePrompts(before, after *view) bool {
	return sameSkills(before, after, describe.IsPrompt, func(old, now *skills.Skill) bool {
		return before.name(old) == after.name(now) &&
			(old == now || bytes.Equal(encoded(before.promptOf(old)), encoded(after.promptOf(now))))
	})
}

func sameResources(before, after *view) bool {
	return sameSkills(before, after, skillsext.Listed, func(old, now *skills.Skill) bool {
		return old == now || bytes.Equal(encoded(skillResource(old)), encoded(skillResource(now)))
	})
}

// sameSkills reports whether what is offered of two catalogs' skills is the same.
// It costs what changed, where no skill came or went.
func sameSkills(before, after *view, offered func(*skills.Skill) bool, same func(old, now *skills.Skill) bool) bool {
	by, ok := after.catalog.Replaced(before.catalog)
	if !ok {
		return slices.EqualFunc(of(before.catalog, offered), of(after.catalog, offered), same)
	}
	for old, now := range by {
		if offered(old) != offered(now) || offered(now) && !same(old, now) {
			return false
		}
	}
	return true
}

// of returns some of a catalog's skills.
func of(catalog *skills.Catalog, which func(*skills.Skill) bool) (some []*skills.Skill) {
	for _, skill := range catalog.Skills {
		if which(skill) {
			some = append(some, skill)
		}
	}
	return some
}

func sameDeclared(before, after *view) bool {
	return bytes.Equal(encoded(before.declared.resources()), encoded(after.declared.resources())) &&
		bytes.Equal(encoded(before.declared.templates()), encoded(after.declared.templates()))
}

// hookLists answers for mcp-go what the view has.
func (s *Server) hookLists(hooks *mcpserver.Hooks) {
	hooks.AddBeforeGetPrompt(forwardPrompt)
	hooks.AddAfterListPrompts(func(_ context.Context, _ any, in *mcp.ListPromptsRequest, out *mcp.ListPromptsResult) {
		out.Prompts, out.NextCursor = s.view.Load().promptPage(in.Params.Cursor)
	})
	hooks.AddAfterListResources(s.resources.list)
	hooks.AddAfterListResourceTemplates(func(_ context.Context, _ any, _ *mcp.ListResourceTemplatesRequest, out *mcp.ListResourceTemplatesResult) {
		out.ResourceTemplates = s.view.Load().templates()
	})
}

// templates are what resources/templates/list shows.
func (v *view) templates() []mcp.ResourceTemplate {
	all := append(v.declared.templates(), outputTemplate(), skillTemplate())
	slices.SortFunc(all, func(a, b mcp.ResourceTemplate) int { return cmp.Compare(a.URITemplate.Raw(), b.URITemplate.Raw()) })
	return all
}
