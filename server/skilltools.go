package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/invopop/jsonschema"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/schema"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// maxDescription bounds a tool's description, in bytes: clients cut longer ones.
const maxDescription = 2 << 10

// skillTools make the tools of skills.
type skillTools struct {
	*toolMaker
	find   *finder
	invoke *invoker
	loader *loader
	// shared are the arguments of the tools of all instruction skills: there may be
	// thousands. They are strict: instructions have nobody to pass others on to.
	shared *arguments[argsOnly]
}

// tools returns the tools of the skills that have one.
func (s *skillTools) tools(v *view) []mcpserver.ServerTool {
	exposed := make(map[*skills.Skill]bool, len(v.exposed.Tools()))
	for _, skill := range v.exposed.Tools() {
		exposed[skill] = true
	}
	var tools []mcpserver.ServerTool
	for _, skill := range v.catalog.Skills {
		if !exposed[skill] {
			continue
		}
		tool, err := s.of(skill, v.name(skill), v.titles.Of(skill))
		if err != nil { // costs that skill its tool, and nothing else
			s.logger.Error("a skill has no tool", "skill", skill.QualifiedName(), "error", err)
			continue
		}
		tools = append(tools, tool)
	}
	return tools
}

// of returns the tool of a skill. The title is for a list.
func (s *skillTools) of(skill *skills.Skill, name, title string) (mcpserver.ServerTool, error) {
	if skill.Entry == nil {
		return s.instructions(skill, name, title), nil
	}
	return s.executable(skill, name, title)
}

func (s *skillTools) executable(skill *skills.Skill, name, title string) (mcpserver.ServerTool, error) {
	t := mcp.Tool{Name: name, Description: toolDescription(skill), Annotations: s.annotate(skill, title), Meta: largeResult()}
	if schema := skill.Entry.Output; schema != nil {
		encoded, err := json.Marshal(schema)
		if err != nil {
			return mcpserver.ServerTool{}, fmt.Errorf("encode the output schema of tool %s: %w", name, err)
		}
		t.RawOutputSchema = encoded
	}
	// The tool keeps to its name: a call finds the skill as it is by then.
	return s.tool(t, inputSchema(skill), s.typed(skill.Entry, func(r *request) (*mcp.CallToolResult, error) {
		skill, err := s.find.named(r, skill.QualifiedName())
		if err != nil {
			return nil, err
		}
		return s.invoke.asTask(r, skill.Task, s.typed(skill.Entry, func(r *request) (*mcp.CallToolResult, error) {
			return s.invoke.execute(r, run.Request{Call: run.Call{Way: run.WayTool}, Skill: skill, Args: r.args})
		}))
	}))
}

// typed drops the structure of an error if it is not of the output schema: clients that
// check results, the TypeScript SDK among them, would show that fault in place of the
// reason. The text has the code and the reason.
func (s *skillTools) typed(entry *skills.Entry, handle handler) handler {
	return func(r *request) (*mcp.CallToolResult, error) {
		result, err := handle(r)
		if err != nil {
			result, err = s.answer(err)
		}
		if err != nil || !result.IsError {
			return result, err
		}
		if object, _ := result.StructuredContent.(json.RawMessage); schema.CheckOutput(entry, object) != nil {
			result.StructuredContent = nil
		}
		return result, nil
	}
}

// argsOnly are the arguments of an instruction skill.
type argsOnly struct {
	Args string `json:"args,omitempty" jsonschema_description:"What to put in for $ARGUMENTS in the instructions."`
}

func (s *skillTools) instructions(skill *skills.Skill, name, title string) mcpserver.ServerTool {
	return fixedTool[argsOnly]{
		name: name, title: title, arguments: s.shared,
		description: truncate.String(toolDescription(skill)+"\n\nReturns the skill's instructions; nothing is run.", maxDescription),
		handle: func(r *request, args argsOnly) (any, error) {
			skill, err := s.find.named(r, skill.QualifiedName())
			if err != nil {
				return nil, err
			}
			return s.loader.load(r, skill, args.Args)
		},
	}.tool(s.toolMaker)
}

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

// annotate derives the hints from the class of the grant: the sandbox enforces it,
// whatever the skill's author claims.
func (s *skillTools) annotate(skill *skills.Skill, title string) mcp.ToolAnnotation {
	class, open := skill.Class, false
	if d, err := s.invoke.executor.Preview(context.Background(), identity.Principal{Kind: identity.Person}, skill); err == nil { // a publication is of no request
		class, open = d.Class, len(d.Grant.Hosts) > 0
	}
	return mcp.ToolAnnotation{
		Title:           title,
		ReadOnlyHint:    hint(class == skills.Safe),
		DestructiveHint: hint(class != skills.Safe), // the worst: it may overwrite what it may write
		OpenWorldHint:   hint(open),
	}
}
