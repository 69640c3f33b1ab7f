package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/audit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/jobs"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// An Execution is a request to run a skill.
type Execution struct {
	Params    map[string]any `json:"params,omitempty" jsonschema_description:"the arguments, as the skill's schema has them"`
	Workspace string         `json:"workspace,omitempty" jsonschema_description:"one of the server's workspaces; all by default"`
	// Ask lets the run ask its person by [jobs.Question], as the page does; else questions
	// are refused.
	Ask bool `json:"-"`
}

// A RunQuery selects runs of the record.
type RunQuery struct {
	Skill    string    `json:"skill,omitempty"`
	Outcome  string    `json:"outcome,omitempty"`
	Parent   string    `json:"parent,omitempty" jsonschema_description:"ID of a run: those that its script called"`
	Approval string    `json:"approval,omitempty" jsonschema_description:"ID of the approval that they ran by"`
	Since    time.Time `json:"since,omitempty,omitzero" jsonschema_description:"runs that ended at this time or later"`
	Cursor   string    `json:"cursor,omitempty" jsonschema_description:"next of the page before"`
	Limit    int       `json:"limit,omitempty" jsonschema:"minimum=1,maximum=500" jsonschema_description:"runs of one page; 50 by default"`
}

// A RunPage is one page of runs, the newest first.
type RunPage struct {
	Items []*store.Run `json:"items"`
	Next  string       `json:"next,omitempty"`
	// Running are the runs that this server holds and that have not ended, on the first
	// page.
	Running []Running `json:"running,omitempty"`
}

// A Running is a run that has not ended.
type Running struct {
	ID    string     `json:"id"`
	Skill string     `json:"skill"`
	Began time.Time  `json:"began"`
	State jobs.State `json:"state"`
}

// A Live is the state of a run while this server holds it.
type Live = jobs.Snapshot

// A Run is a run of the record, or one that has not ended, or both.
type Run struct {
	ID     string     `json:"id"`
	*Live             // nil for one that this server does not hold
	Record *store.Run `json:"record,omitempty"` // nil before its first row
	Proof  *Proof     `json:"proof,omitempty"`  // of a run that people approved
}

// A Proof compares the files that people approved with those that have run.
type Proof struct {
	Approval string `json:"approval"` // its ID
	Approved string `json:"approved"` // digest of the files that it was about; "" if it is gone
	Ran      string `json:"ran"`      // digest of the files that the run had
	Same     bool   `json:"same"`
	// Scope and Signatures are the answers. With the scope always, files may have run that
	// differ from the approved ones, and by which the skill has gained nothing.
	Scope      approval.Scope       `json:"scope,omitempty"`
	Signatures []approval.Signature `json:"signatures,omitempty"`
}

// A RunService has the operations on runs.
type RunService struct{ options *Options }

// Execute starts a run of a skill. What the run itself refuses is in the job: its
// parameters, its class, and a skill without a script.
func (s *RunService) Execute(ctx context.Context, name string, e Execution) (*jobs.Job, error) {
	skill, err := s.options.Directory.Find(ctx, name)
	if err != nil {
		return nil, run.AsError(err)
	}
	workspaces, err := run.ChooseWorkspace(s.options.Workspaces, e.Workspace)
	if err != nil {
		return nil, err
	}
	way := run.WayREST
	if e.Ask {
		way = run.WayPage
	}
	if e.Params == nil {
		e.Params = map[string]any{}
	}
	call := run.Call{Way: way, Principal: identity.FromContext(ctx), Workspaces: workspaces}
	return s.options.Jobs.Start(ctx, run.Request{Call: call, Skill: skill, Args: e.Params}, e.Ask)
}

// Runs returns a page of the record: all of it for a principal that oversees the runs of
// others, and for another one its own.
func (s *RunService) Runs(ctx context.Context, q RunQuery) (*RunPage, error) {
	f := store.RunFilter{Skill: q.Skill, Outcome: q.Outcome, Parent: q.Parent, Approval: q.Approval, Since: q.Since}
	if who := identity.FromContext(ctx); !who.Oversees() {
		own := audit.Owner(who)
		f.Owner = &own
	}
	if q.Outcome != "" && !slices.Contains(audit.Outcomes(), q.Outcome) {
		return nil, invalid("%q is no outcome; the outcomes are %s", q.Outcome, strings.Join(audit.Outcomes(), ", "))
	}
	if q.Cursor != "" {
		var err error
		if f.Before, err = strconv.ParseInt(q.Cursor, 10, 64); err != nil || f.Before <= 0 {
			return nil, invalid("%q is no cursor; use the next of the page before", q.Cursor)
		}
	}
	f.Limit = limit(q.Limit, 50, 500) + 1 // one more tells whether there is another page
	items, err := s.options.Runs.List(ctx, f)
	if err != nil {
		return nil, run.AsError(err)
	}
	page := &RunPage{Items: append([]*store.Run{}, items...), Running: s.running(ctx, q)}
	if len(items) == f.Limit {
		page.Items = items[:f.Limit-1]
		page.Next = strconv.FormatInt(page.Items[f.Limit-2].Seq, 10)
	}
	return page, nil
}

// running returns the jobs that a query selects and that have not ended, the newest first.
func (s *RunService) running(ctx context.Context, q RunQuery) []Running {
	if q.Cursor != "" || q.Outcome != "" && q.Outcome != store.Running || q.Parent != "" || q.Approval != "" {
		return nil
	}
	var all []Running
	for _, job := range s.options.Jobs.All() {
		if !sees(ctx, job.Owner) || q.Skill != "" && q.Skill != job.Skill {
			continue
		}
		if state := job.State(); state != jobs.Ended {
			all = append(all, Running{job.ID, job.Skill, job.Began, state})
		}
	}
	return all
}

// Run returns one run.
func (s *RunService) Run(ctx context.Context, id string) (*Run, error) {
	r := &Run{ID: id}
	if job, err := s.Job(ctx, id); err == nil {
		live := job.Snapshot(0)
		r.Live = &live
	}
	rows, err := s.options.Runs.Find(ctx, id, 1)
	if err != nil {
		return nil, run.AsError(err)
	}
	if who := identity.FromContext(ctx); len(rows) > 0 && rows[0].ID == id && (who.Oversees() || audit.Owner(who).Owns(rows[0])) {
		r.Record = rows[0]
	}
	if r.Record == nil && r.Live == nil {
		return nil, noRun(id)
	}
	r.Proof, err = s.proof(ctx, r.Record)
	return r, err
}

// proof returns the proof of a row; nil for one without an approval.
func (s *RunService) proof(ctx context.Context, row *store.Run) (*Proof, error) {
	if row == nil || row.Approval == "" {
		return nil, nil
	}
	p := &Proof{Approval: row.Approval, Ran: row.Digest}
	r, err := s.options.Approvals.Find(ctx, row.Approval)
	if _, gone := errors.AsType[*approval.AnswerError](err); gone {
		return p, nil
	}
	if err != nil {
		return nil, run.AsError(err)
	}
	p.Approved, p.Scope, p.Signatures = r.Binding.Digest, r.Scope, r.Signatures
	p.Same = p.Approved == p.Ran
	return p, nil
}

// Job returns a run that this server holds.
func (s *RunService) Job(ctx context.Context, id string) (*jobs.Job, error) {
	job := s.options.Jobs.Find(id)
	if job == nil || !sees(ctx, job.Owner) {
		return nil, noRun(id)
	}
	return job, nil
}

// Output returns an output of a run: "stdout", "stderr", or "out/" and the path of a file.
func (s *RunService) Output(ctx context.Context, id, piece string) (output.Item, error) {
	job, err := s.Job(ctx, id)
	if err == nil {
		ctx = identity.NewContext(ctx, job.Owner) // of the output
	}
	if item, found := s.options.Directory.Output(ctx, output.URI(id, piece)); found {
		return item, nil
	}
	if err == nil {
		if text := streamOf(job, piece); text != "" {
			return output.Item{MIMEType: "text/plain; charset=utf-8", Data: []byte(text)}, nil
		}
	}
	return output.Item{}, &run.Error{Code: run.NotFound, Message: "this output is not there, or not any more: outputs are kept for a while only; run the skill again"}
}

// streamOf returns a stream of a job's result, which is not stored on its own if it is
// short.
func streamOf(job *jobs.Job, piece string) string {
	r := job.Snapshot(0).Result
	switch {
	case r == nil:
	case piece == "stdout":
		return r.Stdout
	case piece == "stderr":
		return r.Stderr
	}
	return ""
}

// CancelRun ends a run that this server holds. It does not wait for the end.
func (s *RunService) CancelRun(ctx context.Context, id string) error {
	job, err := s.Job(ctx, id)
	if err != nil {
		return err
	}
	if !isPerson(ctx) && !owns(ctx, job.Owner) {
		return denied("this run is of another person")
	}
	job.Cancel()
	return nil
}

// AnswerJob answers a question of a run. Nobody answers in place of a
// named principal.
func AnswerJob(ctx context.Context, job *jobs.Job, q jobs.Question, a jobs.Answer) error {
	who := identity.FromContext(ctx)
	if !owns(ctx, job.Owner) && (job.Owner.Named() || !isPerson(ctx)) || q.Approval != nil && !who.Answers() {
		return denied("this question is for the person whose run it is")
	}
	return job.Answer(q.ID, a)
}

func noRun(id string) error {
	return &run.Error{Code: run.NotFound, Message: fmt.Sprintf("there is no run %q of yours here", id)}
}

// invalid returns an error of the code InvalidParam.
func invalid(format string, args ...any) error {
	return &run.Error{Code: run.InvalidParam, Message: fmt.Sprintf(format, args...)}
}
