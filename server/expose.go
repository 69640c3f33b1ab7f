package server

import (
	"encoding/json"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Expose decides which skills of a catalog are tools. active are the qualified
// names of those that the workspace has files for.
func Expose(catalog *skills.Catalog, active map[string]bool, o exposure.Options) *exposure.Exposure {
	return newView(catalog).expose(exposure.State{Active: active}, o)
}

func (v *view) expose(s exposure.State, o exposure.Options) *exposure.Exposure {
	return exposure.Choose(v.catalog.Skills, s, v.cost, o)
}

// annotationSize is the approximate size of a tool without its name, titles,
// description and parameters: annotations and the names of fields, in bytes.
const annotationSize = 172

// instructionSize is the approximate size that an instruction skill adds: the
// parameter args, and the sentence that nothing is run.
const instructionSize = 230

// resultSize is the size that an executable skill adds for its results, without
// their schema.
const resultSize = 72

// cost returns the size of a skill's tool.
func (v *view) cost(skill *skills.Skill) exposure.Cost {
	description := toolDescription(skill)
	encoded, _ := json.Marshal(description)
	c := exposure.Cost{Description: len(description)}
	c.Whole = len(encoded) + len(v.name(skill)) + 2*len(v.titles.Of(skill)) + annotationSize
	if skill.Entry == nil {
		c.Whole += instructionSize
		return c
	}
	// Without a schema that can be encoded there is no tool; skillTools logs it.
	schema, _ := json.Marshal(inputSchema(skill))
	c.Whole += len(schema) + resultSize
	if skill.Entry.Output != nil {
		schema, _ := json.Marshal(skill.Entry.Output)
		c.Whole += len(schema)
	}
	return c
}

// fixedRoom is the size of the fixed tools, in bytes, beside which a list of 20 KB has room
// for the skills that fit by default, and a whole description of search_skills.
const fixedRoom = 6600

// descriptionRoom returns the length of the description of search_skills beside other fixed
// tools: what they have over [fixedRoom] is taken from the names of skills in it.
func descriptionRoom(fixed []mcpserver.ServerTool) int {
	over := -fixedRoom
	for _, tool := range fixed {
		over += len(encoded(tool.Tool))
	}
	return maxDescription - min(max(over, 0), maxDescription*3/4)
}

// searchDescription returns the description of search_skills, with the skills that
// only it reaches, in at most so many bytes.
func searchDescription(e *exposure.Exposure, most int) string {
	const text = "Find the skills for a task, best first. Call this before a task that a skill may cover; then use the skill's own tool, load_skill or run_skill. " +
		"Give query as English keywords in any conversation, and two or three other phrasings in alternatives."
	const between = "\n\n"
	catalog := e.Catalog(most - len(text) - len(between))
	if catalog == "" {
		return text
	}
	return text + between + catalog
}
