package server

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// skillTools make the tools of skills.
type skillTools struct {
	*toolMaker
	find   *finder
	invoke *invoker
	loader *loader
	// shared are the arguments of the tools of all instruction skills: there may be
	// thousands.
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
	t := mcp.Tool{Name: name, Description: toolDescription(skill), Annotations: s.annotate(skill, title), Meta: mcp.NewMetaFromMap(map[string]any{resultChars: maxResultChars})}
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
