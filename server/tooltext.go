package server

import (
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// maxDescription bounds a tool's description, in bytes: clients cut longer ones.
const maxDescription = 2 << 10

// toolDescription returns the description of a skill's tool: its purpose and when to use it.
func toolDescription(skill *skills.Skill) string {
	description := infer.Purpose(skill)
	if description == "" {
		description = "The skill " + skill.QualifiedName() + "."
	}
	if skill.WhenToUse != "" {
		description += "\n\nWhen to use: " + skill.WhenToUse
	}
	note := ""
	if owner := skill.Owner(); owner != skill {
		note = fmt.Sprintf("\n\nA tool of the skill %s.", owner.QualifiedName())
		if owner.HasText() {
			note += fmt.Sprintf(" Call load_skill with name %q before the first use.", owner.QualifiedName())
		}
	}
	note += aboutFiles(skill)
	return truncate.String(description, maxDescription-len(note)) + note
}

// inputSchema returns the schema of a skill's arguments. A parameter that takes a
// file, and has no description, refers to the skill whose instructions describe it.
func inputSchema(skill *skills.Skill) *jsonschema.Schema {
	schema, owner := skill.Entry.Schema(), skill.Owner()
	files := skill.Entry.Files()
	if len(files) == 0 || !owner.HasText() {
		return schema
	}
	described := *schema
	described.Properties = jsonschema.NewProperties()
	for p := schema.Properties.Oldest(); p != nil; p = p.Next() {
		property := *p.Value
		if property.Description == "" && slices.ContainsFunc(files, func(f skills.FileParam) bool { return f.Name == p.Key }) {
			property.Description = fmt.Sprintf("A file or folder; the instructions of the skill %s tell of it (load_skill).", owner.QualifiedName())
		}
		described.Properties.Set(p.Key, &property)
	}
	return &described
}

// aboutFiles returns advice for a model on how to name files, if a skill takes some or
// may take them.
func aboutFiles(skill *skills.Skill) string {
	if skill.Entry == nil {
		return ""
	}
	var takes, anyNames bool
	for _, p := range skill.Entry.Params() {
		takes, anyNames = takes || p.Path, anyNames || infer.NamesFiles(p)
	}
	_, words := skill.Entry.Passing().(skills.RawArgv)
	takes = takes || len(skill.Entry.Files()) > 0
	switch {
	case words, anyNames && !takes:
		return "\n\nIt runs in its own folder: name files of the workspace as /workspace/NAME, and write to /out/NAME, which is returned."
	case !takes:
		return ""
	}
	if skill.Class != skills.Safe {
		return "\n\nRelative paths are in the workspace, /workspace."
	}
	return "\n\nRelative paths are in the workspace, /workspace; files that it writes go to /out and are returned."
}
