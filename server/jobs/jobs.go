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
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/approval"
	"github.com/skillsmcp/skills-mcp/server/elicit"
	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
)

const (
	// maxRunning and maxOwned bound the jobs that run, in all and of one principal.
	maxRunning, maxOwned = 64, 16
	// maxEnded and endedAge bound the jobs that have ended.
	maxEnded = 256
	endedAge = 30 * time.Minute
)

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
}

// Jobs are the runs of one server, of principals without a session: none of them leaves.
// They may be used concurrently.
type Jobs struct {
	run    Runner
	waits  *elicit.WaitLimiter
	logger *slog.Logger
	all    sync.WaitGroup // of the goroutine of each run

	mu     sync.Mutex // guards the fields below
	jobs   []*Job     // the oldest first
	closed bool
}

// New returns no jobs yet. Close ends them. Options may be nil.
func New(run Runner, options *Options) *Jobs {
	o := cmp.Or(options, &Options{})
	return &Jobs{run: run, waits: elicit.NewWaitLimiter(o.Asking), logger: cmp.Or(o.Logger, slog.New(slog.DiscardHandler))}
}

// jobKey is the key of a context's job.
type jobKey struct{}

// Start starts a run, which goes on when ctx ends. With ask it may ask its person. It sets
// the request's client, output and progress. The error is a [*run.Error].
func (j *Jobs) Start(ctx context.Context, request run.Request, ask bool) (*Job, error) {
	request.RunID = cmp.Or(request.RunID, run.NewID())
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	job := newJob(&request, ask, cancel)
	if err := j.add(job); err != nil {
		cancel(nil)
		return nil, err
	}
	out, errs := job.output(Stdout), job.output(Stderr)
	request.Client, request.Stdout, request.Stderr = client(job), out, errs
	request.Progress, request.Warn = job.say, job.say
	go func() {
		defer j.all.Done()
		defer cancel(nil)
		r, err := j.recovered(context.WithValue(ctx, jobKey{}, job), request)
		out.flush()
		errs.flush()
		job.end(r, failure(r, err))
		time.AfterFunc(endedAge, func() { j.forget(job) })
	}()
	return job, nil
}

// add adds a job, if there is room.
func (j *Jobs) add(job *Job) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	running, owned, ended := 0, 0, 0
	for _, other := range j.jobs {
		switch {
		case other.isOver():
			ended++
		case other.Owner.Key() == job.Owner.Key():
			running, owned = running+1, owned+1
		default:
			running++
		}
	}
	switch {
	case j.closed:
		return &run.Error{Code: run.Unavailable, Message: "the server is stopping", Retryable: true}
	case owned >= maxOwned:
		return &run.Error{Code: run.Busy, Message: fmt.Sprintf("%d runs of yours have not ended, as many as there may be; wait for one, or cancel one", maxOwned), Retryable: true}
	case running >= maxRunning:
		return &run.Error{Code: run.Busy, Message: fmt.Sprintf("%d runs have not ended, as many as there may be; try again in a moment", maxRunning), Retryable: true}
	}
	// Those that run now may all end.
	for ; ended+running >= maxEnded; ended-- {
		i := slices.IndexFunc(j.jobs, (*Job).isOver)
		j.jobs = slices.Delete(j.jobs, i, i+1)
	}
	j.jobs = append(j.jobs, job)
	j.all.Add(1)
	return nil
}

// recovered runs a request. A panic becomes an error: no transport is around the run.
func (j *Jobs) recovered(ctx context.Context, request run.Request) (r *result.Run, err error) {
	defer func() {
		if p := recover(); p != nil {
			j.logger.Error("a run has panicked", "run", request.RunID, "panic", p, "stack", string(debug.Stack()))
			r, err = nil, &run.Error{Code: run.InternalError, Message: "internal error; the log of the server has it"}
		}
	}()
	return j.run(ctx, request)
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
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.IndexFunc(j.jobs, func(job *Job) bool { return job.ID == id })
	if i < 0 {
		return nil
	}
	return j.jobs[i]
}

// All returns the jobs, the newest first.
func (j *Jobs) All() []*Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	all := slices.Clone(j.jobs)
	slices.Reverse(all)
	return all
}

// forget removes a job.
func (j *Jobs) forget(job *Job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.jobs = slices.DeleteFunc(j.jobs, func(other *Job) bool { return other == job })
}

// Close ends all jobs and waits for them.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	for _, job := range j.jobs {
		job.Cancel()
	}
	j.mu.Unlock()
	j.all.Wait()
}

// errNotAsked is returned for a call that is of no person's job.
var errNotAsked = errors.New("the call is not of a person on the page")

// Confirm implements [approval.Terminal] for the runs of jobs: the question becomes one of
// the job. It returns an error for the call of another context, and for principals that
// are no person.
func (j *Jobs) Confirm(ctx context.Context, q *approval.Question) (approval.Scope, error) {
	job, _ := ctx.Value(jobKey{}).(*Job)
	if job == nil || !job.asks || job.Owner.Kind != identity.Person {
		return "", errNotAsked
	}
	waiting, leave := j.waits.Enter(ctx, job.Owner.Key(), q.Skill)
	defer leave()
	return confirm(waiting, job, q)
}
