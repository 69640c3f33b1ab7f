package server

import (
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/feedback"
)

type rateArgs struct {
	Name string `json:"name" jsonschema_description:"The skill's name, plugin/name, or its tool's name."`
	OK   bool   `json:"ok" jsonschema_description:"Whether the skill did what it promises."`
	Note string `json:"note,omitempty" jsonschema:"maxLength=500" jsonschema_description:"What went well or wrong, in a sentence or two, for the next user of the skill. No contents of the task."`
}

// rated is the result of rate_skill.
type rated struct {
	Skill string `json:"skill"`
	Rated bool   `json:"rated"`
}

// newRateTool returns rate_skill.
func newRateTool(m *toolMaker, find *finder, book *feedback.Book) mcpserver.ServerTool {
	return fixedTool[rateArgs]{
		name: "rate_skill", title: "Rate a skill", writes: true, returns: rated{},
		description: "Say whether a skill that you have used did what it promises. get_skill shows it to others.",
		handle: func(r *request, args rateArgs) (any, error) {
			skill, err := find.named(r, args.Name)
			if err != nil {
				return nil, err
			}
			if err := book.Rate(r.ctx, r.principal, skill, args.OK, args.Note); err != nil {
				return nil, err
			}
			return rated{skill.QualifiedName(), true}, nil
		},
	}.tool(m)
}
