package run_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// stages notes the stages of an installation, of which the one that is called no fails.
type stages struct {
	no  string
	all []string
}

var errNo = errors.New("no")

func (s *stages) do(name string) error {
	s.all = append(s.all, name)
	if s.no == name {
		return &run.Error{Code: run.PermissionDenied, Message: "no", Err: errNo}
	}
	return nil
}

func (s *stages) MayAsk(identity.Principal, *skills.Skill) bool { return true }

func (s *stages) Decide(context.Context, *run.Proposal) (*run.Decision, error) {
	return &run.Decision{Signatures: 1}, s.do("decide")
}

func (s *stages) Approve(_ context.Context, p *run.Proposal) error {
	return s.do("approve " + p.Digest + " " + p.Review.Summary)
}

func (s *stages) Begin(context.Context, *run.Proposal) error { return s.do("begin") }

func (s *stages) Record(_ context.Context, r run.Record) {
	_ = s.do("record " + string(r.Action) + " " + r.Args["source"].(string))
}

func (s *stages) Review() run.Review           { return run.Review{Digest: "d", Summary: "all"} }
func (s *stages) Commit(context.Context) error { return s.do("commit") }
func (s *stages) Close() error                 { return s.do("close") }

// Nothing is fetched before the decision, nothing changes before the approval, and what
// was fetched is removed in any case.
func TestInstall(t *testing.T) {
	whole := "decide,prepare,approve d all,begin,commit,close"
	for no, want := range map[string]string{
		"":              whole,
		"decide":        "decide",
		"prepare":       "decide,prepare",
		"approve d all": "decide,prepare,approve d all,close",
		"begin":         "decide,prepare,approve d all,begin,close",
		"commit":        whole,
	} {
		s := &stages{no: no}
		x := run.New(sandbox.New(nil, nil), snapshot.New(t.TempDir()), s, &run.Options{Recorder: s})
		err := x.Install(t.Context(), run.InstallRequest{Source: "owner/repo", Prepare: func(context.Context) (run.Installation, error) {
			return s, s.do("prepare")
		}})
		if (err != nil) != (no != "") {
			t.Errorf("%s: %v", no, err)
		}
		if got := strings.Join(slices.DeleteFunc(s.all, func(step string) bool { return strings.HasPrefix(step, "record") }), ","); got != want {
			t.Errorf("%q: %s, want %s", no, got, want)
		}
	}
}
