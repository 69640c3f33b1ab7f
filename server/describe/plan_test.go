package describe

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A plan names the mounts and the variables of a call, and no values.
func TestPlan(t *testing.T) {
	box := Sandbox{
		Driver: "auto", Images: map[string]string{"default": "base", "node": "node:22"},
		Limits: sandbox.Limits{Memory: 1 << 30},
		Restricted: func(w string, write bool) string {
			return map[bool]map[string]string{true: {"/locked": "it is read-only here"}}[write][w]
		},
	}
	skill := &skills.Skill{Name: "demo", Dir: "/skills/demo", Entry: &skills.Entry{Script: "run.sh"}}
	in, out, tmp := Mount{Path: "/skill", From: "a snapshot of /skills/demo", Access: "read-only"}, Mount{Path: "/out", From: "memory", Access: "writable"}, Mount{Path: "/tmp", From: "memory", Access: "writable"}
	for name, test := range map[string]struct {
		command  sandbox.Command
		decision run.Decision
		err      error
		entry    *skills.Entry
		want     func(*Plan)
	}{
		"nothing granted": {command: sandbox.Command{Argv: []string{"bash", "run.sh"}}, want: func(p *Plan) {
			p.Argv = []string{"bash", "run.sh"}
		}},
		"a role": {command: sandbox.Command{Role: "node"}, want: func(p *Plan) { p.Role, p.Image = "node", "node:22" }},
		"a workspace to read": {command: sandbox.Command{Grant: sandbox.Grant{Workspaces: []string{"/work"}}}, want: func(p *Plan) {
			p.Mounts = []Mount{in, {Path: "/work", From: "/work", Access: "read-only"}, {Path: "/workspace", From: "/work", Access: "read-only"}, out, tmp}
		}},
		"workspaces to write": {command: sandbox.Command{Grant: sandbox.Grant{Write: true, Workspaces: []string{"/workspace", "/locked"}, Unprotected: []string{".git"}}}, want: func(p *Plan) {
			p.Mounts = []Mount{in, {Path: "/workspace", From: "/workspace", Access: "writable", Note: "also .git"}, {Path: "/locked", From: "/locked", Access: "writable", Note: "it is read-only here"}, out, tmp}
		}},
		"variables": {command: sandbox.Command{Env: []string{"TOKEN=secret"}}, want: func(p *Plan) {
			p.Environment = []string{"HOME", "LANG", "PATH", "TMPDIR", "TOKEN"}
		}},
		"limits": {command: sandbox.Command{Limits: sandbox.Limits{Timeout: time.Minute}}, want: func(p *Plan) { p.Limits.Timeout = 60 }},
		"an object on standard input": {entry: &skills.Entry{Script: "run", Args: skills.Input{}}, want: func(p *Plan) {
			p.Stdin = "the arguments as a JSON object"
		}},
		"secrets": {decision: run.Decision{Secrets: []run.SecretGrant{{Name: "A", Hosts: []string{"a:443"}, As: "B"}, {Name: "C", Plain: true}, {Name: "D", Hosts: []string{"d:443"}, Header: "X-Key"}}}, want: func(p *Plan) {
			p.Environment = []string{"B", "C", "HOME", "LANG", "PATH", "TMPDIR"}
			p.Secrets = []string{
				"A, masked: to a:443, any method, any path, in header and query, for what the skill has in the variable B",
				"C, plain: the skill sees it, in the variable C",
				"D, masked: to d:443, any method, any path, added as X-Key …",
			}
		}},
		"refused": {err: &run.Error{Code: run.PermissionDenied, Message: "no"}, want: func(p *Plan) { p.Refused = &Refusal{"PERMISSION_DENIED", "no"} }},
		"failed":  {err: errors.New("no"), want: func(*Plan) {}},
	} {
		t.Run(name, func(t *testing.T) {
			limits := newLimits(box.Limits.Or(sandbox.DefaultLimits()))
			want := &Plan{
				Argv: []string{}, Folder: "/skill", Environment: []string{"HOME", "LANG", "PATH", "TMPDIR"}, Driver: "auto", Role: "default", Image: "base",
				Mounts: []Mount{in, out, tmp}, Network: []string{}, Limits: limits,
			}
			test.want(want)
			called := *skill
			if test.entry != nil {
				called.Entry = test.entry
			}
			if diff := cmp.Diff(want, box.Plan(&called, &test.command, &test.decision, test.err)); diff != "" {
				t.Error(diff)
			}
		})
	}
	if box.Plan(skill, nil, nil, nil) != nil {
		t.Error("there is a plan of nothing to run")
	}
	got := box.Plan(skill, &sandbox.Command{Grant: sandbox.Grant{Hosts: []string{"a:443"}}}, &run.Decision{}, nil)
	if len(got.Network) != 1 || len(got.Environment) <= 4 {
		t.Errorf("with a host: %+v", got)
	}
}
