package call

import (
	"context"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/ask"
)

// converse has the questions of a skill that declares some answered while
// command runs with the context that it returns, until end is called.
func (x *Executor) converse(ctx context.Context, r Request, command *sandbox.Command) (_ context.Context, end func()) {
	if len(r.Skill.Asks) == 0 {
		return ctx, func() {}
	}
	client := r.Client
	switch {
	case r.Container != "":
		client = ask.Nobody("nothing can be asked in a kept sandbox")
	case client == nil:
		client = ask.Nobody("there is nobody to ask")
	}
	ctx, dialogue := ask.Begin(ctx, command, ask.Options{
		Skill: command.Skill, Asks: r.Skill.Asks, Caller: r.Caller, Client: client, Room: x.room,
	})
	return ctx, dialogue.End
}
