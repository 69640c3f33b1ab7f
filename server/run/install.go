package run

import (
	"context"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// An InstallRequest asks to install a skill from elsewhere. Its Session, Timeout and
// Workspaces are ignored.
type InstallRequest struct {
	Call
	// Name is the wanted skill of the source; "" is the only one. Source is as a person
	// would write it.
	Name, Source string
	// Prepare fetches and describes it. It must return when ctx is done. Its error may be an
	// [*Error].
	Prepare func(ctx context.Context) (Installation, error)
}

// An Installation is a change of the installed skills that was fetched and described, and
// is not made yet.
type Installation interface {
	// Review describes it for the person who is asked.
	Review() Review
	// Commit makes the change. It must return when ctx is done.
	Commit(ctx context.Context) error
	// Close removes all that was fetched; it does nothing after Commit.
	Close() error
}

// Install installs a skill: it is decided about before anything is fetched, as a dangerous
// skill's call is, and the person is asked each time about what was fetched. Just that
// content is installed. The error is an [*Error].
func (x *Executor) Install(ctx context.Context, r InstallRequest) error {
	const tool = string(WayInstall) // rules name it so
	p := &Proposal{
		Action: ActionInstall, Way: r.Way, RunID: r.runID(), Principal: r.Principal, Client: r.Client, Command: &sandbox.Command{},
		Skill: &skills.Skill{Name: tool, Class: skills.Dangerous, ModelInvocable: true, File: "bundled:" + tool},
		Args:  map[string]any{"name": r.Name, "source": r.Source},
	}
	err := x.install(ctx, p, r.Prepare)
	x.records.record(ctx, p, nil, err)
	return err
}

func (x *Executor) install(ctx context.Context, p *Proposal, prepare func(context.Context) (Installation, error)) (err error) {
	const subject = "the installation"
	if err := scoped(p.Principal, identity.ScopeAdmin); err != nil {
		return err
	}
	if p.Decision, err = x.decider.Decide(ctx, p); err != nil {
		return translate(subject, "", err)
	}
	prepared, err := prepare(ctx)
	if err != nil {
		return translate(subject, "", err)
	}
	defer prepared.Close() // what is left is removed by the next installation
	review := prepared.Review()
	p.Review, p.Digest = &review, review.Digest
	if err := x.decider.Approve(ctx, p); err != nil {
		return translate(subject, "", err)
	}
	if err := x.records.begin(ctx, p); err != nil {
		return err
	}
	return translate(subject, "", prepared.Commit(ctx))
}
