package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server"
	"github.com/skillsmcp/skills-mcp/server/describe"
	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/server/feedback"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/live"
	"github.com/skillsmcp/skills-mcp/server/requirements"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/skillsext"
	"github.com/skillsmcp/skills-mcp/skills"
)

// catalog reads the settings and scans the roots.
func (a *app) catalog(ctx context.Context) (*settings, *skills.Catalog, error) {
	s, err := a.settings()
	if err != nil {
		return nil, nil, err
	}
	catalog, err := s.scan(ctx)
	return s, catalog, err
}

// scan reads the roots into a catalog, with the requirements of its skills checked.
func (s *settings) scan(ctx context.Context) (*skills.Catalog, error) {
	defer newCollector().close()
	scanner, saved := s.roots.scanner()
	defer saved() // else a command may end before, and the next one reads all skills again
	catalog, err := scanner.Scan(ctx)
	if err != nil {
		return nil, err
	}
	return s.trust.Apply(ctx, s.gate.Apply(catalog)), nil
}

// learnTime bounds the time in which a command that only lists skills looks for
// programs in sandboxes.
const learnTime = 10 * time.Second

// learned returns the catalog, checked against the programs in the sandboxes of its
// skills or of the named one. Programs that remain unknown count as installed.
func (a *app) learned(ctx context.Context, names ...string) (_ *settings, _ *skills.Catalog, err error) {
	s, catalog, err := a.catalog(ctx)
	if err != nil {
		return nil, nil, err
	}
	wanted := catalog.Skills
	if len(names) > 0 {
		wanted = nil
		if skill, _, err := pick(catalog, names[0], s.gate); err == nil {
			wanted = []*skills.Skill{skill}
		}
	}
	roles := requirements.Wants(wanted...)
	if len(roles) == 0 {
		return s, catalog, nil
	}
	s.sandboxes.single = true
	runner := s.sandboxes.runner()
	defer func() { err = errors.Join(err, runner.Close()) }()
	limited, cancel := context.WithTimeout(ctx, learnTime)
	defer cancel()
	if !s.learn(limited, runner, roles) {
		return s, catalog, nil
	}
	catalog, err = s.scan(ctx)
	return s, catalog, err
}

// learn looks for programs in the sandboxes of roles, and reports whether the result
// is new.
func (s *settings) learn(ctx context.Context, runner *sandbox.Runner, roles []string) bool {
	changed, err := s.gate.Inspect(ctx, runner, roles)
	if err != nil && ctx.Err() == nil {
		s.logger.Info("what programs sandboxes have is not known", "error", err)
	}
	return changed
}

// learnFor returns the skill, checked against the programs in its sandbox.
func (s *settings) learnFor(ctx context.Context, runner *sandbox.Runner, catalog *skills.Catalog, skill *skills.Skill) (*skills.Skill, error) {
	roles := requirements.Wants(skill)
	if len(roles) == 0 || !s.learn(ctx, runner, roles) {
		return skill, nil
	}
	return s.gate.Apply(catalog).Lookup(skill.QualifiedName())
}

// completeNames completes the names of skills.
func (a *app) completeNames(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_, catalog, err := a.catalog(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, skill := range catalog.Skills {
		names = append(names, skill.QualifiedName()+"\t"+oneLine(skill.Description, 80))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// view describes the skills of a catalog as a server would.
func (s *settings) view(ctx context.Context, catalog *skills.Catalog) *describe.View {
	names, decider := server.ToolNames(catalog.Skills), s.sandboxes.decider(nil)
	approved := run.ApprovedFor(ctx, s.standing(), identity.Principal{Kind: identity.Person}, nil)
	return &describe.View{
		State:   func(skill *skills.Skill) string { return stateUnder(ctx, decider, skill, approved) },
		Catalog: catalog, Exposed: s.exposed(ctx, catalog), Library: skillsext.New(catalog, &skillsext.Digests{}),
		Name: func(skill *skills.Skill) string { return names[skill] }, Shadowed: catalog.Shadowed, Feedback: s.feedbackOf, Installed: s.machine.Origin,
		Plan: func(ctx context.Context, skill *skills.Skill) *describe.Plan {
			command, err := s.sandboxes.executor(nil, nil, nil, s.approvals(nil)).Plan(ctx, skill, nil)
			return s.sandboxes.description().Plan(skill, command, err)
		},
	}
}

// exposed returns which skills of a catalog a server would make tools.
func (s *settings) exposed(ctx context.Context, catalog *skills.Catalog) *exposure.Exposure {
	options := s.Expose.Options()
	options.Uses = s.uses(ctx)
	return server.Expose(catalog, live.Active(ctx, catalog, s.workspaces.folders, s.logger), options)
}

// uses returns how often each skill was called, by qualified name.
func (s *settings) uses(ctx context.Context) map[string]int {
	all, err := s.store.Uses(ctx)
	if err != nil {
		s.logger.Info("the calls of skills cannot be read", "error", err)
	}
	return all
}

// feedback returns the feedback on skills in the store.
func (s *settings) feedback() *feedback.Book { return feedback.New(s.store) }

// feedbackOf returns the feedback on a skill; nil is none.
func (s *settings) feedbackOf(ctx context.Context, skill *skills.Skill) *feedback.Summary {
	summary, err := s.feedback().Of(ctx, skill)
	if err != nil {
		s.logger.Warn("the feedback on a skill cannot be read", "skill", skill.QualifiedName(), "error", err)
	}
	return summary
}
