package run

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

// OpenSession opens a sandbox in which calls of one principal share files and
// processes. The error is an [*Error].
func (x *Executor) OpenSession(ctx context.Context, r OpenRequest) (*Session, error) {
	j, err := x.sessionJob(ctx, &r)
	if err != nil {
		return nil, x.refuse(ctx, &Proposal{Action: ActionSession, RunID: newID("box-"), Skill: r.Skill}, &r.Call, err)
	}
	p, err := x.propose(ctx, j)
	if err == nil {
		err = x.records.begin(ctx, p)
	}
	if err == nil {
		err = translate(j.subject, "", x.options.Sessions.Open(ctx, *p.Command))
	}
	x.records.record(ctx, p, nil, err)
	if err != nil {
		return nil, err
	}
	times := x.options.Sessions.Limits()
	return &Session{j.id, p.Digest, j.role, p.Command.Grant.Workspaces, times.Idle, times.Lifetime}, nil
}

func (x *Executor) sessionJob(ctx context.Context, r *OpenRequest) (*job, error) {
	r.Session, r.Timeout = "", 0
	workspaces, _, err := x.resolve(ctx, &r.Call)
	if err != nil {
		return nil, err
	}
	if workspaces, err = ChooseWorkspace(workspaces, r.Workspace); err != nil {
		return nil, err
	}
	j := &job{
		Call: &r.Call, action: ActionSession, id: "box-" + strings.TrimPrefix(r.runID(), "run-"), skill: r.Skill, label: string(WaySession), subject: "the opening",
		role: cmp.Or(r.Role, roleOf(r.Skill)), lease: x.options.Sessions.Limits().Lifetime, workspaces: workspaces,
		warm: -1, // without a skill's entry, sandboxes are seldom opened twice alike
	}
	if r.Skill != nil {
		j.label = r.Skill.Owner().QualifiedName()
	}
	if r.Skill != nil && r.Skill.Entry != nil {
		j.warm = r.Skill.Entry.Warm
	}
	return j, nil
}

// ChooseWorkspace returns one of all workspaces, or all for "". The error is an [*Error].
func ChooseWorkspace(all []string, one string) ([]string, error) {
	switch {
	case one == "":
		return all, nil
	case slices.Contains(all, one):
		return []string{one}, nil
	case len(all) == 0:
		return nil, invalid("there is no workspace; a person can start the server with --workspace DIR")
	}
	return nil, invalid("%q is no workspace; the workspaces are %s", one, strings.Join(all, ", "))
}

// SessionSkill returns the name of the skill whose folder is in a session of the principal
// with a key; "" is none.
func SessionSkill(x *Executor, owner identity.Key, id string) string {
	command, err := x.options.Sessions.Command(sandbox.Tenant{ID: string(owner)}, id)
	if err != nil || command.Skill == string(WaySession) { // the label without a skill
		return ""
	}
	return command.Skill
}

// CloseSession ends a session of the principal with a key and waits until it is gone.
// The error is an [*Error].
func (x *Executor) CloseSession(ctx context.Context, owner identity.Key, id string) error {
	return translate("the sandbox", id, x.options.Sessions.End(ctx, sandbox.Tenant{ID: string(owner)}, id))
}

// EndSessions ends the sessions of a principal who has left. It does not wait.
func (x *Executor) EndSessions(owner identity.Key) {
	if x.options.Hooks != nil {
		x.options.Hooks.Leave(owner)
	}
	x.options.Sessions.Leave(sandbox.Tenant{ID: string(owner)})
	if x.options.Servers != nil {
		x.options.Servers.Leave(owner)
	}
}
