package server

import (
	"context"
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
