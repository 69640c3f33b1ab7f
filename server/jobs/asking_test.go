package jobs_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/scan"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

// asking is a driver of scripts that print questions, one after the other, and each answer.
type asking []string

func (a asking) Run(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
	cmd.Started()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		in := bufio.NewReader(cmd.Stdin)
		for _, question := range a {
			fmt.Fprintln(cmd.Stdout, question)
			answer, err := in.ReadString('\n')
			if err != nil {
				return
			}
			fmt.Fprint(cmd.Stdout, "got ", answer)
		}
	}()
	select {
	case <-ended:
		return &sandbox.Exit{}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (asking) Close() error { return nil }

// A stage has the jobs of a whole server, with one skill.
type stage struct {
	*jobs.Jobs
	skill     *skills.Skill
	approvals *approval.Approvals
	runs      store.Runs
}

// newStage returns the jobs of a skill whose scripts a driver runs.
func newStage(t *testing.T, driver sandbox.Driver, fields string, asking elicit.Limits) *stage {
	t.Helper()
	fsys := fstest.MapFS{
		"demo/SKILL.md": {Data: []byte("---\nname: demo\ndescription: d\nscript: run.sh\n" + fields + "\n---\nDo it.\n")},
		"demo/run.sh":   {Data: []byte("echo")},
	}
	catalog, err := scan.Scan(t.Context(), []scan.Root{{FS: fsys, Label: "root"}}, nil)
	if err != nil || len(catalog.Skills) != 1 {
		t.Fatalf("scan: %v, %v", catalog, err)
	}
	s := &stage{skill: catalog.Skills[0]}
	data := store.New(filepath.Join(t.TempDir(), "skills-mcp.db"), nil)
	runner := sandbox.New(driver, nil)
	recorder := audit.New(data, nil)
	var executor *run.Executor
	s.Jobs = jobs.New(func(ctx context.Context, r run.Request) (*result.Run, error) {
		o, err := executor.Run(ctx, r)
		if o == nil {
			return nil, err
		}
		made := result.New(r.Skill, o, err)
		return &made, nil
	}, &jobs.Options{Asking: asking})
	s.approvals = approval.New(data, &approval.Options{Terminal: s.Jobs, Asking: asking})
	decider := policy.New(&policy.Options{Approver: s.approvals})
	executor = run.New(runner, snapshot.New(t.TempDir()), decider, &run.Options{Recorder: recorder, Asking: asking})
	s.runs = store.NewRuns(data)
	t.Cleanup(func() {
		s.Jobs.Close()
		recorder.Close()
		for _, close := range []func() error{runner.Close, data.Close} {
			if err := close(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// start starts the skill for a principal.
func (s *stage) start(t *testing.T, kind identity.Kind, ask bool) *jobs.Job {
	t.Helper()
	job, err := s.Start(t.Context(), run.Request{Skill: s.skill, Call: run.Call{Way: run.WayPage, Principal: identity.Principal{Kind: kind}}}, ask)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// asked returns the question that a job waits for.
func asked(t *testing.T, job *jobs.Job) jobs.Question {
	t.Helper()
	for last := 0; ; {
		s := job.Snapshot(last)
		switch {
		case len(s.Questions) == 1 && s.State == jobs.Asking:
			return s.Questions[0]
		case s.State == jobs.Ended:
			t.Fatalf("it asked nothing: %v", s.Err)
		}
		if n := len(s.Events); n > 0 {
			last = s.Events[n-1].Seq
		}
		if err := job.Wait(t.Context(), last); err != nil {
			t.Fatal(err)
		}
	}
}

// ended returns the snapshot of a job that has ended.
func ended(job *jobs.Job) jobs.Snapshot {
	<-job.Done()
	return job.Snapshot(0)
}

const form = `{"mcp":{"ask":{"message":"Which colour?","schema":{"type":"object","properties":{"colour":{"type":"string","enum":["red","blue"]}},"required":["colour"]}}}}`

// A person answers the forms of a script. What does not fit is not accepted.
func TestForm(t *testing.T) {
	s := newStage(t, asking{form, form, `{"mcp":{"requests":{"m":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}}}}`}, "asks: [person, model]", elicit.Limits{})
	job := s.start(t, identity.Token, true)
	q := asked(t, job)
	if q.Message != "Skill demo asks: Which colour?" || !strings.Contains(string(q.Form), `"blue"`) || q.Approval != nil {
		t.Errorf("%+v", q)
	}
	for _, wrong := range []jobs.Answer{
		{Action: "accept"}, {Action: "accept", Content: json.RawMessage(`{"colour":"green"}`)}, {Action: "accept", Content: json.RawMessage(`{`)},
		{Action: "yes"}, {},
	} {
		wantError(t, job.Answer(q.ID, wrong), run.InvalidParam)
	}
	if err := job.Answer(q.ID, jobs.Answer{Action: "accept", Content: json.RawMessage(`{"colour":"blue"}`)}); err != nil {
		t.Fatal(err)
	}
	wantError(t, job.Answer(q.ID, jobs.Answer{Action: "decline"}), run.NotFound)
	second := asked(t, job)
	if err := job.Answer(second.ID, jobs.Answer{Action: "decline", Content: json.RawMessage(`{"colour":"blue"}`)}); err != nil {
		t.Fatal(err)
	}
	got := ended(job)
	want := `got {"action":"accept","content":{"colour":"blue"}}
got {"action":"decline"}
got {"m":{"error":"on the page only a person can be asked"}}
`
	if got.Result == nil || got.Result.Stdout != want {
		t.Errorf("%+v, want %s", got.Result, want)
	}
	for _, e := range got.Events {
		if e.Question != nil && e.Question.Form != nil {
			t.Errorf("the form of an answered question is kept: %+v", e)
		}
	}
}

// Scripts of a call that may not ask learn so.
func TestNobody(t *testing.T) {
	s := newStage(t, asking{form}, "asks: [person]", elicit.Limits{})
	got := ended(s.start(t, identity.Token, false))
	if got.Result == nil || !strings.Contains(got.Result.Stdout, "nobody can be asked in such a call") {
		t.Errorf("%+v", got)
	}
}

// A run that needs a person's yes asks in the job of a person, and runs once. The question
// of others waits elsewhere, with an ID: a form of theirs approves nothing.
func TestConfirm(t *testing.T) {
	s := newStage(t, asking{}, "class: mutating", elicit.Limits{})
	job := s.start(t, identity.Person, true)
	q := asked(t, job)
	if q.Approval == nil || q.Approval.Skill != "demo" || q.Approval.Caller != "you, on the page" {
		t.Fatalf("%+v", q)
	}
	wantError(t, job.Answer(q.ID, jobs.Answer{Action: "accept", Scope: approval.Session}), run.InvalidParam)
	wantError(t, job.Answer(q.ID, jobs.Answer{Action: "accept"}), run.InvalidParam)
	if err := job.Answer(q.ID, jobs.Answer{Action: "accept", Scope: approval.Once}); err != nil {
		t.Fatal(err)
	}
	if got := ended(job); got.Err != nil || got.Result == nil || got.Result.RunID != job.ID {
		t.Errorf("%+v", got)
	}
	rows, err := s.runs.Find(t.Context(), job.ID, 2)
	if err != nil || len(rows) != 1 || rows[0].Way != "page" || rows[0].Outcome != audit.OK || rows[0].Approval == "" {
		t.Errorf("%+v, %v", rows, err)
	}
	again := s.start(t, identity.Person, true)
	if err := again.Answer(asked(t, again).ID, jobs.Answer{Action: "decline"}); err != nil {
		t.Fatal(err)
	}
	if got := ended(again); got.Err == nil || !strings.Contains(got.Err.Message, "the person said no") || got.Err.Approval != "" {
		t.Errorf("%+v", got)
	}
	for name, job := range map[string]*jobs.Job{
		"a person who is not asked": s.start(t, identity.Person, false), "a token": s.start(t, identity.Token, true),
		"somebody": s.start(t, identity.Anonymous, true),
	} {
		if got := ended(job); got.Err == nil || got.Err.Code != run.ApprovalRequired || got.Err.Approval == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A call that is no job's has the next in the ladder ask.
func TestConfirmElsewhere(t *testing.T) {
	all := jobs.New(until, nil)
	defer all.Close()
	if scope, err := all.Confirm(t.Context(), &approval.Question{}); err == nil || scope != "" {
		t.Errorf("%q, %v", scope, err)
	}
}

// Nobody waits for ever: time-out means no.
func TestUnanswered(t *testing.T) {
	for name, test := range map[string]struct{ fields, want string }{
		"form":     {"asks: [person]", "TIMEOUT"},
		"approval": {"class: mutating", "APPROVAL_REQUIRED"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, asking{form}, test.fields, elicit.Limits{Wait: time.Minute})
				got := ended(s.start(t, identity.Person, true))
				if got.Err == nil || string(got.Err.Code) != test.want || !strings.Contains(got.Err.Message, "nobody answered it within 1m0s") {
					t.Errorf("%+v", got.Err)
				}
				if text := show(got); !strings.Contains(text, "question\n") || !strings.Contains(text, "answer nobody answered it") {
					t.Errorf("%s", text)
				}
			})
		})
	}
}

// A job that waits for an answer ends with the server.
func TestCloseAsking(t *testing.T) {
	for _, fields := range []string{"asks: [person]", "class: mutating"} {
		s := newStage(t, asking{form}, fields, elicit.Limits{})
		job := s.start(t, identity.Person, true)
		asked(t, job)
		s.Close()
		if got := ended(job); got.Err == nil || !got.Err.Retryable || len(got.Questions) > 0 {
			t.Errorf("%s: %+v", fields, got.Err)
		}
	}
}
