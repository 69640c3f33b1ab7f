package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A job is a request that was checked, and whose grant is not decided yet.
type job struct {
	*Call
	action     Action
	id         string        // of the run, or of the session that is opened
	skill      *skills.Skill // nil is none
	label      string        // the name in labels and logs
	subject    string        // begins messages: "the skill"
	role       string
	warm       int
	timeout    time.Duration // 0 is the sandbox's
	lease      time.Duration // of the snapshot
	workspaces []string
	args       map[string]any // with defaults, checked
	picked     bool
	opened     *sandbox.Command  // that the session was opened for; nil without one
	kept       map[string]string // values of secrets by name, as far as they were read

	// calls returns the function that answers the calls of a script; nil for one that
	// neither asks nor calls.
	calls func(*Proposal) func(ctx context.Context, line []byte) []byte
	// invoke returns the program of a run; nil for a session, which runs none.
	invoke func(grant sandbox.Grant) (*invocation, error)
}

// An invocation is a program with its arguments.
type invocation struct {
	argv  []string
	args  map[string]any // as the script receives them
	stdin io.Reader      // nil is empty
}

// command fills in the command of a job as it was decided. It is the only place where
// commands are made.
func command(ctx context.Context, j *job, p *Proposal, d *Decision, variables Variables, secrets Secrets) error {
	program := &invocation{}
	if j.invoke != nil {
		var err error
		if program, err = j.invoke(d.Grant); err != nil {
			return err
		}
	}
	granted, err := variables.Values(ctx, j.Principal, d.Variables)
	if err != nil {
		return err
	}
	granted = overridden(granted, d.Values)
	p.Args, p.Variables = program.args, variableNames(granted)
	p.Command = &sandbox.Command{
		RunID:    j.id,
		Skill:    j.label,
		Tenant:   j.tenant(),
		Argv:     program.argv,
		Env:      append(environment(j, program.args, d), granted...),
		Role:     j.role,
		Grant:    d.Grant,
		Limits:   sandbox.Limits{Timeout: shorter(j.timeout, d.Timeout)},
		Warm:     j.warm,
		Stdin:    program.stdin,
		Stdout:   j.Stdout,
		Stderr:   j.Stderr,
		Progress: j.Progress,
	}
	return checkSecrets(secrets, j.Principal, d)
}

// shorter returns the shorter of two times, of which 0 is unbounded.
func shorter(a, b time.Duration) time.Duration {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// NewID returns the ID of a new run.
func NewID() string { return newID("run-") }

// runID returns the ID of a call's run.
func (c *Call) runID() string {
	if c.RunID != "" {
		return c.RunID
	}
	return NewID()
}

// newID returns a new name for a run or a session, in the alphabet of labels. It
// cannot be guessed.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()[:16]) }

// overridden returns variables with the values of others in place of theirs.
func overridden(variables, others []string) []string {
	names := variableNames(others)
	kept := slices.DeleteFunc(slices.Clone(variables), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(names, name)
	})
	return append(kept, others...)
}

// environment returns the variables that tell a program about its call. A script that
// wants none finds none.
func environment(j *job, args map[string]any, d *Decision) []string {
	context := skills.ContextSkill
	if j.action == ActionSkill {
		context = j.skill.Entry.Context
	}
	switch {
	case j.action == ActionSession || context == skills.ContextNone:
		return nil
	case context == skills.ContextLinX:
		who, permissions := j.Principal, permissions(d)
		return append(about(j, args, d.Grant), "LINX_AGENT_ID="+who.Profile, "LINX_USER_ID="+cmp.Or(who.ID, string(who.Kind)), "LINX_SESSION_ID="+pseudonym(who), "LINX_PERMISSIONS="+permissions)
	}
	return about(j, args, d.Grant)
}

// pseudonym names a principal and its session to a script, which could use the real key as if
// it were its own: a UUID of version 8 (RFC 9562).
func pseudonym(p identity.Principal) string {
	sum := sha256.Sum256([]byte(p.Key()))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// permissions returns the grant of a run as a JSON list, such as ["workspace:read",
// "network:api.example.com:443"].
func permissions(d *Decision) string {
	all := []string{}
	if len(d.Grant.Workspaces) > 0 {
		all = append(all, "workspace:read")
		if d.Grant.Write {
			all = append(all, "workspace:write")
		}
	}
	for _, host := range d.Grant.Hosts {
		all = append(all, "network:"+host)
	}
	for _, g := range d.Secrets {
		all = append(all, "secret:"+g.Name)
	}
	for _, pattern := range d.Calls {
		all = append(all, "skill:"+pattern)
	}
	text, _ := json.Marshal(all) // of texts
	return string(text)
}

// about returns the variables that every program finds.
func about(j *job, args map[string]any, grant sandbox.Grant) []string {
	var env []string
	if j.skill != nil {
		env = append(env, "SKILL_NAME="+j.skill.QualifiedName())
	}
	env = append(env, "SKILL_RUN_ID="+j.id)
	if len(grant.Workspaces) > 0 {
		env = append(env, "SKILL_WORKSPACE="+grant.Workspaces[0])
	}
	if args == nil || j.action == ActionCode {
		return env
	}
	// Arguments that are too long for one variable still reach the script.
	if params, err := skills.Render(args, ""); err == nil && len("SKILL_PARAMS=")+len(params) <= skills.MaxWord {
		env = append(env, "SKILL_PARAMS="+params)
	}
	return env
}

// variableNames returns the names of "NAME=value" entries.
func variableNames(env []string) []string {
	names := make([]string, len(env))
	for i, variable := range env {
		names[i], _, _ = strings.Cut(variable, "=")
	}
	return names
}

// timeoutOf returns the call's timeout, or else the skill's, up to most; 0 is unset.
func timeoutOf(skill, call, most time.Duration) (time.Duration, error) {
	if call < 0 {
		return 0, invalid("a timeout of %s has passed before it began; give one above 0", call)
	}
	if wanted := cmp.Or(call, skill); wanted > 0 {
		return min(wanted, most), nil
	}
	return most, nil
}

// roleOf returns the image role of a skill, which may be nil.
func roleOf(skill *skills.Skill) string {
	if skill == nil || skill.Entry == nil {
		return ""
	}
	return skill.Entry.ImageRole
}

// fits returns an error if the command of a proposal needs another skill, another version of it, or a
// larger grant than the session has in which it is to run. The error is an [*Error].
func fits(j *job, p *Proposal) error {
	command := p.Command
	if j.opened == nil || j.skill == nil {
		return nil
	}
	name := j.skill.QualifiedName()
	switch {
	case j.opened.Skill != j.skill.Owner().QualifiedName():
		return invalid("sandbox %s was not opened for skill %s, so its folder is not in it; open one with open_sandbox and this skill, or leave out container_id", j.Session, name)
	case j.opened.Folder != command.Folder:
		return invalid("skill %s has changed since sandbox %s was opened; open another one, or leave out container_id", name, j.Session)
	case command.Grant.Write || len(command.Grant.Hosts)+len(p.Decision.Secrets) > 0 || j.action == ActionCode && len(p.Variables) > 0:
		return invalid("skill %s is granted more than a kept sandbox is; leave out container_id", name)
	}
	return nil
}
