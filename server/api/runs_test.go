package api_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/skillsmcp/skills-mcp/server/api"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// A call is refused as over MCP, and recorded with its way in.
func TestExecute(t *testing.T) {
	s := newStage(t, "", nil)
	ctx := as(t, identity.Token, "a")
	_, err := s.Execute(ctx, "nothing", api.Execution{})
	wantCode(t, "no skill", err, run.NotFound)
	_, err = s.Execute(ctx, "plain", api.Execution{Workspace: t.TempDir()})
	wantCode(t, "another workspace", err, run.InvalidParam)
	for name, test := range map[string]struct {
		skill string
		e     api.Execution
		code  run.Code
		way   run.Way
	}{
		"wrong type":     {"plain", api.Execution{Params: map[string]any{"n": "x"}}, run.InvalidParam, run.WayREST},
		"nothing to run": {"text", api.Execution{}, run.InvalidParam, run.WayREST},
		"well":           {"plain", api.Execution{Params: map[string]any{"n": 1}}, "", run.WayREST},
		"on the page":    {"plain", api.Execution{Ask: true}, "", run.WayPage},
	} {
		job, got := s.execute(t, ctx, test.skill, test.e)
		if got.Err != nil || test.code != "" {
			wantCode(t, name, got.Err, test.code)
		} else if got.Result == nil || got.Result.Stdout != "done\n" {
			t.Errorf("%s: %+v", name, got.Result)
		}
		r, err := s.Run(ctx, job.ID)
		if err != nil || r.Record == nil || r.Record.Way != string(test.way) || r.Record.Principal != "token" || r.Live == nil || r.Proof != nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// A run has one owner. A person sees those of all.
func TestOwners(t *testing.T) {
	s := newStage(t, "", nil)
	owner := as(t, identity.Token, "a")
	ended, _ := s.execute(t, owner, "plain", api.Execution{})
	waits, err := s.Execute(owner, "wait", api.Execution{})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		ctx  context.Context
		code run.Code
	}{
		"owner":    {owner, ""},
		"person":   {person(t), ""},
		"token":    {as(t, identity.Token, "b"), run.NotFound},
		"subject":  {as(t, identity.Subject, "a"), run.NotFound},
		"somebody": {t.Context(), run.NotFound},
	} {
		for _, job := range []*jobs.Job{ended, waits} {
			_, err := s.Run(test.ctx, job.ID)
			wantCode(t, name+" reads", err, test.code)
			_, err = s.Job(test.ctx, job.ID)
			wantCode(t, name+" follows", err, test.code)
		}
		for _, piece := range []string{"stdout", "out/a b/c.txt"} {
			item, err := s.Output(test.ctx, ended.ID, piece)
			wantCode(t, name+" gets "+piece, err, test.code)
			if err == nil && string(item.Data) != "done\n" && string(item.Data) != "file" {
				t.Errorf("%s is %q", piece, item.Data)
			}
		}
		page, err := s.Runs(test.ctx, api.RunQuery{})
		if err != nil || len(page.Items) != 1 && test.code == "" || test.code != "" && len(page.Items)+len(page.Running) > 0 {
			t.Errorf("%s: %+v, %v", name, page, err)
		}
		if test.code == "" && (len(page.Running) != 1 || page.Running[0].ID != waits.ID || page.Running[0].State != jobs.Running) {
			t.Errorf("%s: running %+v", name, page.Running)
		}
		if test.code != "" {
			wantCode(t, name+" cancels", s.CancelRun(test.ctx, waits.ID), test.code)
		}
	}
	if waits.State() != jobs.Running {
		t.Error("somebody else has cancelled the run")
	}
	if err := s.CancelRun(owner, waits.ID); err != nil {
		t.Error(err)
	}
	<-waits.Done()
	r, err := s.Run(owner, waits.ID)
	if err != nil || r.Record.Outcome != audit.Undelivered {
		t.Errorf("%+v, %v", r, err)
	}
	_, err = s.Output(owner, ended.ID, "out/other")
	wantCode(t, "no file", err, run.NotFound)
	_, err = s.Run(owner, ended.ID[:len(ended.ID)-1])
	wantCode(t, "the beginning of an ID", err, run.NotFound)
}

// Pages have all runs once, the newest first, and only those that a query selects.
func TestRuns(t *testing.T) {
	s := newStage(t, "", nil)
	add := func(r store.Run) {
		t.Helper()
		if _, err := s.runs.Add(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	for i := range 7 {
		add(store.Run{ID: fmt.Sprint("run-", i), Ended: began.Add(time.Duration(i) * time.Minute), Outcome: audit.OK, Skill: fmt.Sprint("s", i%2), Principal: "token", Subject: "a", Approval: fmt.Sprint(i % 3)})
	}
	add(store.Run{ID: "run-of-b", Ended: began, Outcome: audit.OK, Principal: "token", Subject: "b"})
	add(store.Run{ID: "run-of-a-elsewhere", Ended: began, Outcome: audit.OK, Principal: "token", Subject: "a", Profile: "p", Skill: "elsewhere"})
	whole := []string{"run-of-a-elsewhere", "run-6", "run-5", "run-4", "run-3", "run-2", "run-1", "run-0"} // with each profile
	for name, test := range map[string]struct {
		q    api.RunQuery
		want []string
	}{
		"all":      {api.RunQuery{}, whole},
		"pages":    {api.RunQuery{Limit: 2}, whole},
		"skill":    {api.RunQuery{Limit: 1, Skill: "s1"}, []string{"run-5", "run-3", "run-1"}},
		"approval": {api.RunQuery{Approval: "2"}, []string{"run-5", "run-2"}},
		"outcome":  {api.RunQuery{Outcome: audit.Failed}, nil},
	} {
		var got []string
		for q := test.q; ; {
			page, err := s.Runs(as(t, identity.Token, "a"), q)
			if err != nil {
				t.Fatal(name, err)
			}
			for _, r := range page.Items {
				got = append(got, r.ID)
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	if page, err := s.Runs(person(t), api.RunQuery{}); err != nil || len(page.Items) != 9 {
		t.Errorf("%+v, %v", page, err)
	}
	for _, q := range []api.RunQuery{{Cursor: "x"}, {Cursor: "-1"}, {Outcome: "fine"}} {
		_, err := s.Runs(person(t), q)
		wantCode(t, fmt.Sprint(q), err, run.InvalidParam)
	}
}
