package run

import (
	"context"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
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
		client = elicit.Nobody("nothing can be asked in a kept sandbox")
	case client == nil:
		client = elicit.Nobody("there is nobody to ask")
	}
	ctx, dialogue := elicit.Begin(ctx, command, elicit.Options{
		Skill: command.Skill, Asks: r.Skill.Asks, Owner: identity.Key(r.Caller), Client: client, Room: x.room,
	})
	return ctx, dialogue.End
}
