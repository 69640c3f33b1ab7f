package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// An argument that nobody declared is told of, and one that is nearly the name of a
// parameter is refused.
func TestUndeclaredArguments(t *testing.T) {
	var argv []string
	b := newBench(t, &script{func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		argv = cmd.Argv
		return &sandbox.Exit{}, nil
	}})
	for _, test := range []struct{ tool, args, want string }{
		{"demo__run", `{"traget": "x"}`, `INVALID_PARAM: there is no parameter "traget"; did you mean "target"?`},
		{"demo__run", `{"target": "x", "coutn": 3}`, `INVALID_PARAM: there is no parameter "coutn"; did you mean "count"?`},
		{"run_skill", `{"name": "run", "params": {"Target": "x"}}`, `INVALID_PARAM: there is no parameter "Target"; did you mean "target"?`},
		{"run_skill", `{"name": "run", "arguments": {"target": "x"}}`, `INVALID_PARAM: there is no parameter "arguments"; those of the skill go into "params"`},
		{"run_skill", `{"name": "run", "target": "x"}`, `INVALID_PARAM: there is no parameter "target"; those of the skill go into "params"`},
		{"demo__guide", `{"arg": "x"}`, `INVALID_PARAM: there is no parameter "arg"; did you mean "args"?`},
		{"demo__guide", `{"topic": "x"}`, `INVALID_PARAM: there is no parameter "topic"`},
		{"load_skill", `{"name": "guide", "topic": "x"}`, `INVALID_PARAM: there is no parameter "topic"`},
		{"list_skills", `{"sources": "user"}`, `INVALID_PARAM: there is no parameter "sources"; did you mean "source"?`},
		{"demo__run", `{"target": "x", "verbose": true}`, "skill demo/run has ended well and printed nothing"},
	} {
		if got := b.call(test.tool, test.args).text(); !strings.HasPrefix(got, test.want) {
			t.Errorf("%s %s: %s", test.tool, test.args, got)
		}
	}
	if got := strings.Join(argv, " "); got != "bash run.sh --target x --count 2 --verbose true" {
		t.Errorf("it was run as %s", got)
	}
}

// TestUnknownArguments refuses what no fixed tool knows, with the names of those it knows.
func TestUnknownArguments(t *testing.T) {
	b := newBenchWith(t, ends(0, "", ""), Options{Feedback: newBook(t), RunCode: true, KeptSandboxes: true, MatchSkills: true, Installer: struct{ Installer }{}})
	tools, _ := b.tools()
	for name, raw := range tools {
		var tool struct {
			InputSchema struct {
				Properties map[string]any
				Additional *bool `json:"additionalProperties"`
			}
		}
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(name, "demo__") {
			continue
		}
		if tool.InputSchema.Additional == nil {
			t.Errorf("%s: the schema lets others pass", name)
		}
		got := b.call(name, `{"utterly_other": 1}`).text()
		for known := range tool.InputSchema.Properties {
			if !strings.HasPrefix(got, `INVALID_PARAM: there is no parameter "utterly_other"; th`) || name != "run_skill" && !strings.Contains(got, known) {
				t.Errorf("%s: %s", name, got)
			}
		}
	}
}

func TestWarningsAreLogged(t *testing.T) {
	h := &hearer{}
	p := newProgress(h)
	p.warn(`demo/run has no parameter "verbose"; it is passed on as it is`)
	p.close()
	p.warn("late")
	if diff := cmp.Diff([]string{`warning demo/run has no parameter "verbose"; it is passed on as it is`}, h.logs); diff != "" {
		t.Error(diff)
	}
}
