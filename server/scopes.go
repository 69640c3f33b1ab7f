package server

import (
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// scope returns the scope that a request of a method needs, about the tool, prompt or
// resource of a name or URI. Methods that neither call nor install need that of reading.
func (v *view) scope(method, name, uri string) identity.Scope {
	switch mcp.MCPMethod(method) {
	case mcp.MethodToolsCall:
		return toolScope(name)
	case mcp.MethodPromptsGet:
		if name == installPrompt { // which no skill is called
			return identity.ScopeAdmin
		}
		if skill := v.called(name); skill != nil && skill.Entry == nil && skill.Unavailable == "" && len(skill.Tools) == 0 {
			return identity.ScopeRead
		}
		return identity.ScopeRun
	case mcp.MethodResourcesRead:
		if d, _, found := v.declared.find(uri); found && d.File == "" { // which a script prints
			return identity.ScopeRun
		}
	}
	if strings.HasPrefix(method, "tasks/") {
		return identity.ScopeRun
	}
	return identity.ScopeRead
}

// toolScope returns the scope that a tool needs: that of calls unless the tool is known to
// need another one.
func toolScope(name string) identity.Scope {
	switch name {
	case "get_skill", "list_plugins", "list_skills", "load_skill", matchTool, "read_output", "search_skills":
		return identity.ScopeRead
	case string(run.WayInstall):
		return identity.ScopeAdmin
	}
	return identity.ScopeRun
}
