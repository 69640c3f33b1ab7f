package run_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// servers answer each call with a text, or fail.
type servers struct {
	run.Servers
	text string
	err  error
	last *sandbox.Command
}

func (s *servers) Call(identity.Principal, *skills.Skill) sandbox.Session { return s }

func (s *servers) Close() error { return nil }

func (s *servers) Run(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	s.last = cmd
	if s.err != nil {
		return nil, s.err
	}
	cmd.Started()
	_, _ = cmd.Stdout.Write([]byte(s.text))
	return &sandbox.Exit{}, nil
}

// launchedSkill returns the skill of a server that npx would start.
func launchedSkill(t *testing.T) *skills.Skill {
	skill := *declaring(t, "script: run.py", "run.py", inline)
	skill.Entry = &skills.Entry{Interpreter: []string{"node"}, Args: skills.Input{}, Server: &skills.ServerCall{Server: skills.MCPServer{Argv: []string{"npx", "-y", "a@1", "x"}}}}
	return &skill
}

// A server has the packages of its command line alone, whatever its plugin has beside.
func TestDependenciesOfServer(t *testing.T) {
	for installs, want := range map[bool]int{true: 1, false: 0} {
		s := &servers{}
		if _, err := newExecutor(t, &recorder{}, &run.Options{InstallDependencies: installs, Servers: s}).Run(t.Context(), run.Request{Skill: launchedSkill(t)}); err != nil {
			t.Fatal(err)
		}
		if d := s.last.Dependencies; len(d) != want || want > 0 && (d[0].Kind != sandbox.Node || strings.Join(d[0].Packages, " ") != "a@1" || len(d[0].Lock) != 1 || d[0].Digest == "") {
			t.Errorf("%v: %+v", installs, d)
		}
	}
}

// A server without a network, whose answer or whose end speaks of one, has the command that
// gives it hosts; one that speaks of a read-only file system has that for the workspace.
func TestHintOfServer(t *testing.T) {
	const hint = "it has no network, and that may be why; a person can give it hosts: skills-mcp grant demo --network HOST:443"
	const readOnly = "it may write to /plugin-data and /tmp alone; a person can let it write to the workspace: skills-mcp grant demo --workspace rw"
	for name, test := range map[string]struct {
		text string
		err  error
		want bool
	}{
		"answer":       {`{"mcp":{"content":[{"type":"text","text":"TypeError: fetch failed"}]}}`, nil, true},
		"read-only":    {`{"mcp":{"content":[{"type":"text","text":"EROFS: read-only file system, open '/opt/x'"}],"isError":true}}`, nil, false},
		"other answer": {`{"mcp":{"content":[{"type":"text","text":"well"}]}}`, nil, false},
		"end":          {"", &sandbox.UnavailableError{Reason: "it has failed: getaddrinfo EAI_AGAIN api.example.com", Remedy: "wait"}, true},
		"packages":     {"", &sandbox.UnavailableError{Reason: "cannot be installed: Name or service not known", Remedy: "wait", Err: errors.New("build")}, false},
		"other end":    {"", &sandbox.UnavailableError{Reason: "it has failed", Remedy: "wait"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := newExecutor(t, &recorder{}, &run.Options{Servers: &servers{text: test.text, err: test.err}}).Run(t.Context(), run.Request{Skill: launchedSkill(t)})
			said := ""
			if err != nil {
				said = err.Error()
			} else {
				said = o.Hint
			}
			if strings.Contains(said, readOnly) != (name == "read-only") {
				t.Errorf("of writing: %q", said)
			}
			if got := strings.Contains(said, hint); got != test.want || (err == nil) != (test.err == nil) {
				t.Errorf("%q, %v", said, err)
			}
		})
	}
}
