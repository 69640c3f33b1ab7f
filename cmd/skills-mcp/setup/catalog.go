package setup

import (
	"context"

	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/heap"
	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/feedback"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/live"
	"github.com/skillsmcp/skills-mcp/server/manage"
	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// Scan reads the roots into a catalog, with the requirements of its skills checked.
func (s *Settings) Scan(ctx context.Context) (*skills.Catalog, error) {
	defer heap.New().Close()
	scanner, saved := s.Roots.Scanner(nil)
	defer saved() // else a command may end before, and the next one reads all skills again
	catalog, err := scanner.Scan(ctx)
	if err != nil {
		return nil, err
	}
	return s.Roster.Apply(ctx, s.Trust.Apply(ctx, s.Gate.Apply(s.Servers.Expand(catalog)))), nil
}

// For returns the settings for one workspace, whose skills have been read.
func (s *Settings) For(ctx context.Context, workspace string) (*Settings, error) {
	flags := s.Flags
	flags.Workspaces = []string{workspace}
	other, err := New(&flags, s.Logger, s.Store, s.Recorder)
	if err == nil {
		_, err = other.Scan(ctx)
	}
	return other, err
}

// Learn looks for programs in the sandboxes of roles, and reports whether the result
// is new.
func (s *Settings) Learn(ctx context.Context, runner *sandbox.Runner, roles []string) bool {
	changed, err := s.Gate.Inspect(ctx, runner, roles)
	if err != nil && ctx.Err() == nil {
		s.Logger.Info("what programs sandboxes have is not known", "error", err)
	}
	return changed
}

// LearnFor returns the skill, checked against the programs in its sandbox.
func (s *Settings) LearnFor(ctx context.Context, runner *sandbox.Runner, catalog *skills.Catalog, skill *skills.Skill) (*skills.Skill, error) {
	roles := requirements.Wants(skill)
	if len(roles) == 0 || !s.Learn(ctx, runner, roles) {
		return skill, nil
	}
	return s.Gate.Apply(catalog).Lookup(skill.QualifiedName())
}

// View describes the skills of a catalog as a server would.
func (s *Settings) View(ctx context.Context, catalog *skills.Catalog) *describe.View {
	names, decider := server.ToolNames(catalog.Skills), s.Sandboxes.Decider(nil)
	approved := run.ApprovedFor(ctx, s.Standing(), identity.Principal{Kind: identity.Person}, nil)
	return &describe.View{
		State: func(skill *skills.Skill) string {
			return manage.StateOf(ctx, decider, identity.Principal{Kind: identity.Model}, skill, approved)
		},
		Scan:    s.Sandboxes.Verdicts.Counts,
		Has:     s.Gate.Has,
		Catalog: catalog, Exposed: s.Exposed(ctx, catalog), Library: skillsext.New(catalog, &skillsext.Digests{}),
		Name: func(skill *skills.Skill) string { return names[skill] }, Shadowed: catalog.Shadowed, Feedback: s.feedbackOf, Installed: s.Machine.Origin,
		Plan: func(ctx context.Context, skill *skills.Skill) *describe.Plan {
			command, d, err := s.Sandboxes.Executor(nil, nil, nil, s.Approvals(nil)).Plan(ctx, skill, nil)
			return s.Sandboxes.Description().Plan(skill, command, d, err)
		},
	}
}

// Exposed returns which skills of a catalog a server would make tools.
func (s *Settings) Exposed(ctx context.Context, catalog *skills.Catalog) *exposure.Exposure {
	options := s.Config.Exposure()
	options.Uses = s.Uses(ctx)
	return server.Expose(catalog, live.Active(ctx, catalog, s.Workspaces.Folders, s.Logger), options)
}

// Uses returns how often each skill was called, by qualified name.
func (s *Settings) Uses(ctx context.Context) map[string]int {
	all, err := s.Store.Uses(ctx)
	if err != nil {
		s.Logger.Info("the calls of skills cannot be read", "error", err)
	}
	return all
}

// Feedback returns the feedback on skills in the store.
func (s *Settings) Feedback() *feedback.Book { return feedback.New(s.Store) }

// feedbackOf returns the feedback on a skill; nil is none.
func (s *Settings) feedbackOf(ctx context.Context, skill *skills.Skill) *feedback.Summary {
	summary, err := s.Feedback().Of(ctx, identity.Principal{Kind: identity.Person}, skill)
	if err != nil {
		s.Logger.Warn("the feedback on a skill cannot be read", "skill", skill.QualifiedName(), "error", err)
	}
	return summary
}
