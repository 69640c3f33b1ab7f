package server

import (
	"maps"
	"path"
	"strings"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/server/titles"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A view is a catalog with its tool names, exposure and resources. It is not changed
// once it is published.
type view struct {
	catalog *skills.Catalog
	names   *names
	titles  *titles.Titles
	exposed *exposure.Exposure // nil before it is chosen
	facts   exposure.State     // by which it was chosen
	library *skillsext.Library

	declared declarations // resources of skills
	// handlers answer the calls of tools by name: of those that are listed, and of a hidden one.
	handlers map[string]mcpserver.ToolHandlerFunc
	// listed are the skills of all tools that clients were sent so far, by tool name.
	listed map[string]listed
}

// listed identifies the skill of a tool across changes of its name. The zero value
// stands for a fixed tool.
type listed struct{ file, name string }

func newView(catalog *skills.Catalog) *view {
	return &view{catalog: catalog, names: toolNames(catalog.Skills), titles: titles.New(catalog.Skills)}
}

// Lookup returns the skill with a qualified name, a bare name or a tool name. The error is a [*skills.BrokenError] or a
// [*skills.NotFoundError].
func Lookup(catalog *skills.Catalog, name string) (*skills.Skill, error) {
	return newView(catalog).lookup(name)
}

func (v *view) lookup(name string) (*skills.Skill, error) {
	skill, err := v.catalog.Lookup(name)
	if err == nil {
		return skill, nil
	}
	if bare := strings.TrimPrefix(name, "$"); bare != name { // as persons write it to Codex
		return v.lookup(bare)
	}
	if skill := v.called(name); skill != nil {
		return skill, nil
	}
	for tool, of := range v.listed {
		if tool == name || of.name == path.Base(name) {
			if broken := v.catalog.Broken(name, of.file); of.file != "" && broken != nil {
				return nil, broken
			}
		}
	}
	return nil, err
}

// maxListed bounds the remembered tools.
const maxListed = 10_000

// list makes tools the current ones, and adds them to those that clients were sent.
func (v *view) list(tools []mcpserver.ServerTool) {
	all := map[string]listed{}
	if len(v.listed) <= maxListed {
		maps.Copy(all, v.listed)
	}
	v.handlers = make(map[string]mcpserver.ToolHandlerFunc, len(tools))
	for _, tool := range tools {
		of := listed{}
		if skill := v.called(tool.Tool.Name); skill != nil {
			of = listed{skill.File, skill.Name}
		}
		all[tool.Tool.Name], v.handlers[tool.Tool.Name] = of, tool.Handler
	}
	v.listed = all
}

// sent returns a function that reports whether clients were sent the tool of a skill.
func (v *view) sent() func(*skills.Skill) bool {
	all := make(map[listed]bool, len(v.listed))
	for _, of := range v.listed {
		all[of] = true
	}
	return func(skill *skills.Skill) bool { return all[listed{skill.File, skill.Name}] }
}

// knows reports whether there is a tool of a name, clients were sent one, or a model can
// call the skill whose tool, if it has one, is called so.
func (v *view) knows(name string) bool {
	if _, listed := v.listed[name]; listed || v.handlers[name] != nil {
		return true
	}
	skill := v.called(name)
	return skill != nil && v.exposed.Of(skill).Reach != exposure.ByNobody
}

// shown returns the skill that clients were last sent as the tool name, or nil. Its
// tool may have another name since, as skills of the same name came or went.
func (v *view) shown(name string) *skills.Skill {
	of := v.listed[name]
	for _, skill := range v.catalog.Skills {
		if of.file != "" && skill.File == of.file && skill.Name == of.name {
			return skill
		}
	}
	return nil
}

// called returns the skill whose tool, if it has one, is called name, or nil.
func (v *view) called(name string) *skills.Skill {
	at, found := v.catalog.Place(v.names.owners[name])
	if !found {
		return nil
	}
	return v.catalog.Skills[at]
}

// name returns the name of the skill's tool, if it has one.
func (v *view) name(skill *skills.Skill) string { return v.names.of[skill.QualifiedName()] }

// tool returns the name of a skill's tool, or "" if it has none.
func (v *view) tool(skill *skills.Skill) string {
	if v.exposed.Of(skill).Reach != exposure.ByTool {
		return ""
	}
	return v.name(skill)
}
