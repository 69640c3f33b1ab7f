package run

import (
	"archive/zip"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// An OpenRequest asks for a sandbox that is kept between a model's calls.
type OpenRequest struct {
	// Skill is whose folder is seen at /skill; nil is nobody's.
	Skill *skills.Skill
	// Role names the image; "" is the skill's, or else the default one.
	Role string
	// Workspace is the only one that is seen; "" is all.
	Workspace string
	// Caller is who the sandbox belongs to.
	Caller string
	// Progress is told what is waited for; nil is fine.
	Progress func(message string)
}

// A Kept is a sandbox that was opened.
type Kept struct {
	ID string
	// Digest is that of the skill's folder as it is in the sandbox; "" without
	// a skill.
	Digest     string
	Role       string
	Workspaces []string
	// Idle and Lifetime are when it ends by itself.
	Idle, Lifetime time.Duration
}

// Open opens a sandbox in which calls share files and processes. It is granted
// what a safe skill is. The error is an [*Error].
func (x *Executor) Open(ctx context.Context, r OpenRequest) (*Kept, error) {
	workspaces, err := x.choose(r.Workspace)
	if err != nil {
		return nil, err
	}
	snap, err := x.folder(ctx, r.Skill, x.runner.Keeping().Lifetime)
	if err != nil {
		return nil, err
	}
	command := sandbox.Command{
		RunID:    newID("box-"),
		Tenant:   sandbox.Tenant{ID: r.Caller},
		Skill:    "open_sandbox",
		Folder:   snap.Dir,
		Role:     r.Role,
		Grant:    sandbox.Grant{Workspaces: workspaces},
		Progress: r.Progress,
	}
	if r.Skill != nil {
		command.Skill = r.Skill.Owner().QualifiedName()
	}
	command.Warm = -1 // what is no skill's is seldom opened twice alike
	if r.Skill != nil && r.Skill.Entry != nil {
		command.Warm = r.Skill.Entry.Warm
	}
	if command.Role == "" {
		command.Role = roleOf(r.Skill)
	}
	if err := x.runner.Open(ctx, command); err != nil {
		return nil, translate("the opening", err)
	}
	times := x.runner.Keeping()
	return &Kept{command.RunID, snap.Digest, command.Role, workspaces, times.Idle, times.Lifetime}, nil
}

// CloseSandbox ends a caller's sandbox and waits until it is gone. The error is
// an [*Error].
func (x *Executor) CloseSandbox(ctx context.Context, caller, id string) error {
	return failure("the sandbox", id, x.runner.CloseKept(ctx, sandbox.Tenant{ID: caller}, id))
}

// Leave ends the sandboxes of a caller who has left.
func (x *Executor) Leave(caller string) { x.runner.Leave(sandbox.Tenant{ID: caller}) }

// choose returns the workspaces of a sandbox.
func (x *Executor) choose(one string) ([]string, error) {
	all := x.options.Workspaces
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

// roleOf is the image role of a skill, which may be nil.
func roleOf(skill *skills.Skill) string {
	if skill == nil || skill.Entry == nil {
		return ""
	}
	return skill.Entry.ImageRole
}

// folder returns the snapshot of a skill that a model may use, or of nothing, for
// the time that it is in use.
func (x *Executor) folder(ctx context.Context, skill *skills.Skill, lease time.Duration) (*snapshot.Snapshot, error) {
	if skill != nil && !skill.ModelInvocable {
		return nil, &Error{PermissionDenied, fmt.Sprintf("skill %s may be called by a person only", skill.QualifiedName()), false, nil}
	}
	files, whose := fs.FS(&zip.Reader{}), "nothing" // an archive without files
	if skill != nil {
		files, whose = skill.Files, "skill "+skill.QualifiedName()
	}
	snap, err := x.snapshots.Take(ctx, files, useOf(skill, lease))
	if err != nil {
		return nil, &Error{Unavailable, fmt.Sprintf("the folder of %s cannot be copied to the cache: %v", whose, err), true, err}
	}
	if skill == nil {
		return &snapshot.Snapshot{Dir: snap.Dir}, nil
	}
	return snap, nil
}

// kept returns the executor as calls in a caller's sandbox see it, and what the
// sandbox was opened for.
func (x *Executor) kept(caller, id string) (*Executor, *sandbox.Command, error) {
	opened, err := x.runner.Kept(sandbox.Tenant{ID: caller}, id)
	if err != nil {
		return nil, nil, failure("the call", id, err)
	}
	return x.Seeing(opened.Grant.Workspaces), &opened, nil
}

// fits refuses a command whose skill, or whose grant, is not the sandbox's.
func fits(opened, command *sandbox.Command, skill *skills.Skill, id string) error {
	switch {
	case opened.Skill != skill.Owner().QualifiedName():
		return invalid("sandbox %s was not opened for skill %s, so its folder is not in it; open one with open_sandbox and this skill, or leave out container_id", id, command.Skill)
	case opened.Folder != command.Folder:
		return invalid("skill %s has changed since sandbox %s was opened; open another one, or leave out container_id", command.Skill, id)
	case command.Grant.Write || len(command.Grant.Hosts) > 0:
		return invalid("skill %s is granted more than a kept sandbox is; leave out container_id", command.Skill)
	}
	return nil
}

// start runs a command in a sandbox of its own, or in a caller's where id is not
// "".
func (x *Executor) start(ctx context.Context, caller, id string, command *sandbox.Command) (*sandbox.Result, error) {
	command.Tenant.ID = caller
	if id == "" {
		return x.runner.Run(ctx, *command)
	}
	return x.runner.RunIn(ctx, id, *command)
}

// failure is a sandbox's error as that of a call; id is that of the kept sandbox,
// where there is one.
func failure(what, id string, err error) error {
	if err == sandbox.ErrNotKept {
		return &Error{NotFound, fmt.Sprintf("there is no sandbox %q of yours: it was never opened, or has ended; open one with open_sandbox", id), false, err}
	}
	return translate(what, err)
}
