// Package jobs holds runs that outlive the request that started them: their output as it
// comes, their questions to the person, and their results. The REST API and the page share
// them; each run has the ID of the record.
//
// Start with [New] and [Jobs.Start].
package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/replica"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/work"
)

// limits bound the jobs: those that run, in all and of one principal, and those that have
// ended.
func limits() work.Limits {
	return work.Limits{Running: 64, Owned: 16, Known: 256, Age: 30 * time.Minute}
}

// A Runner runs one call to its end. It must return when ctx is done. A nil result has an
// error.
type Runner func(ctx context.Context, request run.Request) (*result.Run, error)

// Options configure [Jobs]. A nil *Options means the defaults.
type Options struct {
	// Asking bounds how runs wait for a person to confirm them; zero fields:
	// elicit.DefaultLimits.
	Asking elicit.Limits
	// Logger gets the panics of runs; nil discards them.
	Logger *slog.Logger
	// Replicas are the servers that answer requests about their own runs; nil are none.
	Replicas *replica.Set
}

// Jobs are the runs of one server, of principals without a session: none of them leaves.
// They may be used concurrently.
type Jobs struct {
	*work.Registry[*Job]
	run      Runner
	waits    *elicit.WaitLimiter
	logger   *slog.Logger
	replicas *replica.Set
}

// New returns no jobs yet. Close ends them. Options may be nil.
func New(run Runner, options *Options) *Jobs {
	o := cmp.Or(options, &Options{})
	return &Jobs{Registry: work.New[*Job](limits()), run: run, waits: elicit.NewWaitLimiter(o.Asking), logger: cmp.Or(o.Logger, slog.New(slog.DiscardHandler)), replicas: o.Replicas}
}

// jobKey is the key of a context's job.
type jobKey struct{}

// Start starts a run, which goes on when ctx ends. With ask it may ask its person. It sets
// the request's client, output and progress. The error is a [*run.Error].
func (j *Jobs) Start(ctx context.Context, request run.Request, ask bool) (*Job, error) {
	request.RunID = cmp.Or(request.RunID, j.replicas.Name(run.NewID()))
	job := newJob(&request, ask)
	out, errs := job.output(Stdout), job.output(Stderr)
	request.Client, request.Stdout, request.Stderr = client(job), out, errs
	request.Progress, request.Warn = job.say, job.say
	err := j.Registry.Start(ctx, job, func(ctx context.Context) {
		r, err := work.Guard(j.logger, func() (*result.Run, error) { return j.run(context.WithValue(ctx, jobKey{}, job), request) })
		out.flush()
		errs.flush()
		job.end(r, failure(r, err))
	})
	if err != nil {
		return nil, refused(err)
	}
	return job, nil
}

// refused returns the error of a run that is not started.
func refused(err error) error {
	switch {
	case errors.Is(err, work.ErrOwned):
		return &run.Error{Code: run.Busy, Message: fmt.Sprintf("%d runs of yours have not ended, as many as there may be; wait for one, or cancel one", limits().Owned), Retryable: true}
	case errors.Is(err, work.ErrRunning):
		return &run.Error{Code: run.Busy, Message: fmt.Sprintf("%d runs have not ended, as many as there may be; try again in a moment", limits().Running), Retryable: true}
	}
	return &run.Error{Code: run.Unavailable, Message: "the server is stopping", Retryable: true}
}

// failure returns the error of a run that has ended; nil is none.
func failure(r *result.Run, err error) *run.Error {
	switch {
	case err != nil:
		return run.AsError(err)
	case r != nil:
		return r.Error
	}
	return &run.Error{Code: run.InternalError, Message: "the run has ended without a result"}
}

// Find returns the job of an ID, or nil.
func (j *Jobs) Find(id string) *Job {
	job, _ := j.Registry.Find(id)
	return job
}

// errNotAsked is returned for a call that is of no person's job.
var errNotAsked = errors.New("the call is not of a person on the page")

// Confirm implements [approval.Terminal] for the runs of jobs: the question becomes one of
// the job. It returns an error for the call of another context, and for principals that
// are no person.
func (j *Jobs) Confirm(ctx context.Context, q *approval.Question) (approval.Scope, error) {
	job, _ := ctx.Value(jobKey{}).(*Job)
	if job == nil || !job.asks || !job.Owner.Answers() {
		return "", errNotAsked
	}
	waiting, leave := j.waits.Enter(ctx, job.Owner.Key(), q.Skill)
	defer leave()
	return confirm(waiting, job, q)
}
