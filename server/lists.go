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

// changedLists returns the notifications of the lists of prompts and resources that
// differ between two views.
func changedLists(before, after *view) (methods []string) {
	if !samePrompts(before, after) {
		methods = append(methods, mcp.MethodNotificationPromptsListChanged)
	}
	if !sameResources(before, after) || !sameDeclared(before, after) {
		methods = append(methods, mcp.MethodNotificationResourcesListChanged)
	}
	return methods
}

func samePrompts(before, after *view) bool {
	return sameSkills(before, after, describe.IsPrompt, func(old, now *skills.Skill) bool {
		return before.name(old) == after.name(now) &&
			(old == now || bytes.Equal(encoded(before.promptOf(old)), encoded(after.promptOf(now))))
	})
}

func sameResources(before, after *view) bool {
	return sameSkills(before, after, skillsext.Listed, func(old, now *skills.Skill) bool {
		return old == now || bytes.Equal(encoded(before.skillResource(old)), encoded(after.skillResource(now)))
	})
}

// sameSkills reports whether two catalogs have the same offered skills.
func sameSkills(before, after *view, offered func(*skills.Skill) bool, same func(old, now *skills.Skill) bool) bool {
	return slices.EqualFunc(of(before.catalog, offered), of(after.catalog, offered), same)
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

// hookLists makes mcp-go answer with the lists of the current view, and these prompts.
func hookLists(hooks *mcpserver.Hooks, current func() *view, r *resources, prompts []mcp.Prompt) {
	hooks.AddBeforeGetPrompt(forwardPrompt)
	hooks.AddAfterListPrompts(func(_ context.Context, _ any, in *mcp.ListPromptsRequest, out *mcp.ListPromptsResult) {
		out.Prompts, out.NextCursor = current().promptPage(in.Params.Cursor, prompts)
	})
	hooks.AddAfterListResources(r.list)
	hooks.AddAfterListResourceTemplates(func(_ context.Context, _ any, _ *mcp.ListResourceTemplatesRequest, out *mcp.ListResourceTemplatesResult) {
		out.ResourceTemplates = current().templates()
	})
}

// templates returns the list of resources/templates/list.
func (v *view) templates() []mcp.ResourceTemplate {
	all := append(v.declared.templates(), outputTemplate(), skillTemplate())
	slices.SortFunc(all, func(a, b mcp.ResourceTemplate) int { return cmp.Compare(a.URITemplate.Raw(), b.URITemplate.Raw()) })
	return all
}
