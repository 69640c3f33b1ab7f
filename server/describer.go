package server

import (
	"context"

	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/feedback"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A describer describes skills to the clients of requests.
type describer struct {
	invoke  *invoker
	options *Options
}

// state returns a function that says whether the client of a request can use a skill.
func (d *describer) state(r *request) func(*skills.Skill) string {
	approved := run.ApprovedFor(r.ctx, d.invoke.executor, r.principal, d.invoke.workspaces(r.ctx))
	return func(skill *skills.Skill) string {
		decision, err := d.invoke.executor.Preview(r.ctx, r.principal, skill)
		return describe.StateUnder(skill, decision, err, approved)
	}
}

// choice returns a function that describes a skill in a list from which a model chooses.
func (d *describer) choice(r *request) func(*skills.Skill) describe.Choice {
	state := d.state(r)
	return func(skill *skills.Skill) describe.Choice {
		c := describe.Choose(skill, r.view.tool(skill))
		c.State = state(skill)
		return c
	}
}

// view describes the skills of a request's view to a model.
func (d *describer) view(r *request) *describe.View {
	v := r.view
	return &describe.View{
		Catalog: v.catalog, Exposed: v.exposed, Library: v.library, Name: v.name, Title: v.titles.Of, Shadowed: v.catalog.Shadowed, ForModel: true, Remote: r.principal.Remote, Feedback: d.feedback, State: d.state(r), Installed: d.options.Installed, Texts: d.options.Texts,
		Plan: func(ctx context.Context, skill *skills.Skill) *describe.Plan {
			command, decision, err := d.invoke.executor.Plan(ctx, skill, d.invoke.workspaces(ctx))
			return d.options.Sandbox.Plan(skill, command, decision, err)
		},
	}
}

// feedback returns the feedback on a skill; nil is none.
func (d *describer) feedback(ctx context.Context, skill *skills.Skill) *feedback.Summary {
	if d.options.Feedback == nil {
		return nil
	}
	summary, err := d.options.Feedback.Of(ctx, principal(ctx), skill)
	if err != nil {
		d.options.Logger.Warn("the feedback on a skill cannot be read", "skill", skill.QualifiedName(), "error", err)
	}
	return summary
}
