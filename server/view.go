package server

import (
	"maps"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A view is a catalog as clients see it.
type view struct {
	catalog *skills.Catalog
	names   *names
	exposed *exposure.Exposure // nil where nothing is shown
	active  map[string]bool    // that exposed was chosen for
	library *skillsext.Library

	declared declarations // resources of skills
	// past are the files of skills that were there, by each name of theirs.
	past map[string]string
	// listed are all tools that clients have been shown so far, and whose they were.
	listed map[string]listed
}

// listed is the skill of a tool, however it is called meanwhile; its zero value is
// for the fixed tools.
type listed struct{ file, name string }

func newView(catalog *skills.Catalog) *view {
	return &view{catalog: catalog, names: toolNames(catalog.Skills)}
}

// viewOf is how a catalog is seen. It costs what changed since the last view,
// where no skill came or went and none became a tool. The caller holds publishing.
func (s *Server) viewOf(catalog *skills.Catalog) *view {
	before := s.view.Load()
	if before == nil {
		before = newView(&skills.Catalog{})
	}
	by, same := catalog.Replaced(before.catalog)
	v := &view{
		catalog: catalog, names: before.names, active: s.active,
		library: skillsext.New(catalog, &s.digests), declared: declaredBy(catalog),
	}
	v.past, v.listed = before.past, before.listed
	if !same {
		v.names = toolNames(catalog.Skills)
		v.past = before.leave(catalog)
	}
	if same && before.exposed != nil && maps.Equal(before.active, v.active) {
		v.exposed = before.exposed.With(by)
	}
	if v.exposed == nil {
		v.exposed = v.expose(s.active, s.options.Expose)
	}
	return v
}

// Lookup returns the skill that someone calls name: by its qualified name, its
// bare name, or the name of its tool. The error is a [*skills.BrokenError] or a
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

// list adds tools to those that clients have been shown.
func (v *view) list(tools []mcpserver.ServerTool) {
	cloned := false
	for _, tool := range tools {
		name, of := tool.Tool.Name, listed{}
		if skill := v.called(name); skill != nil {
			of = listed{skill.File, skill.Name}
		}
		if last, there := v.listed[name]; !there || last != of {
			if !cloned {
				v.listed, cloned = maps.Clone(v.listed), true
			}
			if v.listed == nil || len(v.listed) > maxPast {
				v.listed = map[string]listed{}
			}
			v.listed[name] = of
		}
	}
}

// shown returns the skill that clients last saw as the tool name, or nil. Another
// skill of its name that came or went may have changed the tool's.
func (v *view) shown(name string) *skills.Skill {
	of := v.listed[name]
	for _, skill := range v.catalog.Skills {
		if of.file != "" && skill.File == of.file && skill.Name == of.name {
			return skill
		}
	}
	return nil
}

// maxPast bounds the remembered names of skills that have gone.
const maxPast = 10_000

// leave returns the files of the skills that were there before a catalog and have
// gone with it, or before, by each name of theirs.
func (v *view) leave(catalog *skills.Catalog) map[string]string {
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

// name is what the skill's tool is called, if it has one.
func (v *view) name(skill *skills.Skill) string { return v.names.of[skill.QualifiedName()] }

// choice describes a skill in a list from which a model chooses.
func (v *view) choice(skill *skills.Skill) describe.Choice {
	return describe.Choose(skill, v.tool(skill))
}

// maxSummary is how much of a description a list shows, in bytes.
const maxSummary = 240
