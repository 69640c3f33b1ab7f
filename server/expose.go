package server

import (
	"encoding/json"
	"maps"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Expose decides which skills of a catalog are tools. active are the qualified
// names of those that the workspace has files for.
func Expose(catalog *skills.Catalog, active map[string]bool, o exposure.Options) *exposure.Exposure {
	return newView(catalog).expose(active, o)
}

func (v *view) expose(active map[string]bool, o exposure.Options) *exposure.Exposure {
	return exposure.Choose(v.catalog.Skills, active, v.cost, o)
}

// annotationSize is the approximate size of a tool without its name, titles,
// description and parameters: annotations and the names of fields, in bytes.
const annotationSize = 172

// instructionSize is about what more the tool of an instruction skill takes: the
// parameter args and no others, and that nothing is run.
const instructionSize = 230

// resultSize is what the tool of an executable skill says of its results, beside
// a schema.
const resultSize = 72

// cost is the room that a skill's tool takes.
func (v *view) cost(skill *skills.Skill) exposure.Cost {
	description := toolDescription(skill)
	encoded, _ := json.Marshal(description)
	c := exposure.Cost{Description: len(description)}
	c.Whole = len(encoded) + len(v.name(skill)) + 2*len(title(skill)) + annotationSize
	if skill.Entry == nil {
		c.Whole += instructionSize
		return c
	}
	// A schema that cannot be encoded has no tool, which is told where it is made.
	schema, _ := json.Marshal(inputSchema(skill))
	c.Whole += len(schema) + resultSize
	if skill.Entry.Output != nil {
		schema, _ := json.Marshal(skill.Entry.Output)
		c.Whole += len(schema)
	}
	return c
}

// tool is the name of a skill's tool, or "" where it has none.
func (v *view) tool(skill *skills.Skill) string {
	if v.exposed.Of(skill).Reach != exposure.ByTool {
		return ""
	}
	return v.name(skill)
}

// Activate makes the skills with these qualified names those that the workspace
// has files for: they come first. Clients are notified once when the tools they
// know have changed by that; the result says whether they have.
func (s *Server) Activate(active map[string]bool) (changed bool) {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	if maps.Equal(active, s.active) {
		return false
	}
	s.active = active
	return s.show(s.Catalog())
}

// searchDescription tells a model when to search, and for what, in at most
// [maxDescription] bytes.
func searchDescription(e *exposure.Exposure) string {
	const text = "Find the skills for a task. Call this before a task that a skill may cover; then use the skill's own tool, load_skill or run_skill."
	const between = "\n\n"
	catalog := e.Catalog(maxDescription - len(text) - len(between))
	if catalog == "" {
		return text
	}
	return text + between + catalog
}
