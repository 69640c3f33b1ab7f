package server

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/rpc"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// form returns the form in which the client of ctx gets skills.
func (v *view) form(ctx context.Context) exposure.Form {
	session, ok := mcpserver.ClientSessionFromContext(ctx).(mcpserver.SessionWithClientInfo)
	if !ok {
		return exposure.Both
	}
	_, native := session.GetClientCapabilities().Extensions[rpc.Skills]
	return v.exposed.Form(session.GetClientInfo().Name, native)
}

// toolsFor returns the tools for the client of ctx: one that gets skills as skills has
// their instructions already.
func (v *view) toolsFor(ctx context.Context, tools []mcp.Tool) []mcp.Tool {
	if v.form(ctx) != exposure.Skills {
		return tools
	}
	return slices.DeleteFunc(slices.Clone(tools), func(tool mcp.Tool) bool {
		skill := v.called(tool.Name)
		return skill != nil && skill.Entry == nil && v.library.Unlisted(ctx, skill) == ""
	})
}

// served returns the library for the client of ctx. To one that gets skills as skills, a
// SKILL.md names the tools of its scripts.
func (v *view) served(ctx context.Context) *skillsext.Library {
	if v.form(ctx) != exposure.Skills {
		return v.library
	}
	return v.library.WithNotes(v.toolNote)
}

// toolNote returns the tools of a skill's scripts, in words for a model.
func (v *view) toolNote(skill *skills.Skill) string {
	var runs []string
	for _, s := range append([]*skills.Skill{skill}, skill.Tools...) {
		if s.Entry != nil && s.ModelInvocable && s.Unavailable == "" {
			runs = append(runs, fmt.Sprintf("%s runs %s", v.name(s), s.Entry.Script))
		}
	}
	if len(runs) == 0 {
		return ""
	}
	return "\n\nTools of this server run the scripts of this skill in a sandbox; run_skill runs those that are not listed, by the same names: " + strings.Join(runs, ", ") + ".\n"
}
