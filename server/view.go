package server

import (
	"maps"

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
	// past are the files of removed skills, by each of their names.
	past map[string]string
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
	if skill := v.called(name); skill != nil {
		return skill, nil
	}
	if file := v.past[name]; file != "" {
		if broken := v.catalog.Broken(name, file); broken != nil {
			return nil, broken
		}
	}
	return nil, err
}

// list adds tools to those that clients were sent.
func (v *view) list(tools []mcpserver.ServerTool) {
	all := map[string]listed{}
	if len(v.listed) <= maxPast {
		maps.Copy(all, v.listed)
	}
	for _, tool := range tools {
		of := listed{}
		if skill := v.called(tool.Tool.Name); skill != nil {
			of = listed{skill.File, skill.Name}
		}
		all[tool.Tool.Name] = of
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

// answers reports whether a model can call the skill whose tool, if it has one, is
// called name.
func (v *view) answers(name string) bool {
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

// maxPast bounds the remembered names of removed skills.
const maxPast = 10_000

// removed returns past with the skills of v that a catalog lacks.
func (v *view) removed(catalog *skills.Catalog) map[string]string {
	past := maps.Clone(v.past)
	for _, skill := range v.catalog.Skills {
		if _, there := catalog.Place(skill.QualifiedName()); there {
			continue
		}
		if past == nil || len(past) > maxPast {
			past = map[string]string{}
		}
		for _, name := range []string{skill.Name, skill.QualifiedName(), v.name(skill)} {
			past[name] = skill.File
		}
	}
	return past
}

// called returns the skill whose tool, if it has one, is called name, or nil.
func (v *view) called(name string) *skills.Skill {
	at, found := v.catalog.Place(v.names.owners()[name])
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
