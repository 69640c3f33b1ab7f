package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/skillsmcp/skills-mcp/server/identity"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/scriptio"
	"github.com/skillsmcp/skills-mcp/server/work"
)

// A Job is one run. Its methods may be used concurrently.
type Job struct {
	work.Unit        // whose ID is that of the run
	Skill     string // the qualified name
	Owner     identity.Principal

	asks bool

	mu        sync.Mutex // guards the fields below
	log       log
	line      string        // of the error output, without its end so far
	changed   chan struct{} // closed at each change, and replaced
	questions []*pending    // the oldest first
	asked     int           // questions so far
	ended     time.Time     // zero before the end
	result    *result.Run
	err       *run.Error
}

// A pending question waits for its answer.
type pending struct {
	Question
	check  func(Answer) error // returns why an answer does not count
	answer chan Answer        // has room for the only one
}

// newJob returns a job that has not begun.
func newJob(request *run.Request, ask bool) *Job {
	return &Job{
		Unit: work.Unit{ID: request.RunID, By: request.Principal.Key()}, Skill: request.Skill.QualifiedName(), Owner: request.Principal,
		asks: ask, changed: make(chan struct{}),
	}
}

// Snapshot returns the events after one of a number, with the state.
func (j *Job) Snapshot(after int) Snapshot {
	j.mu.Lock()
	defer j.mu.Unlock()
	s := Snapshot{State: j.state(), Events: j.log.after(after), Result: j.result, Err: j.err, Took: time.Since(j.Began)}
	for _, q := range j.questions {
		s.Questions = append(s.Questions, q.Question)
	}
	if s.State == Ended {
		s.Took = j.ended.Sub(j.Began)
	}
	return s
}

// Last returns the number of the last event, 0 before the first.
func (j *Job) Last() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.log.last
}

// State returns the state.
func (j *Job) State() State {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state()
}

// state is State while the mutex is held.
func (j *Job) state() State {
	switch {
	case !j.ended.IsZero():
		return Ended
	case len(j.questions) > 0:
		return Asking
	}
	return Running
}

// Wait returns when there is an event after one of a number, or the job has ended, or ctx
// is done, with its cause.
func (j *Job) Wait(ctx context.Context, after int) error {
	for {
		j.mu.Lock()
		ready, changed := j.log.last > after || !j.ended.IsZero(), j.changed
		j.mu.Unlock()
		if ready {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Answer answers a question. The error is a [*run.Error] that says why it does not count;
// the question then waits on.
func (j *Job) Answer(id string, a Answer) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.IndexFunc(j.questions, func(q *pending) bool { return q.ID == id })
	if i < 0 {
		return &run.Error{Code: run.NotFound, Message: "this question does not wait for an answer: it was answered already, or the run has gone on without"}
	}
	if !slices.Contains([]string{accept, decline, dismiss}, a.Action) {
		return invalid(fmt.Errorf("the action of an answer is %s, %s or %s", accept, decline, dismiss))
	}
	if err := j.questions[i].check(a); err != nil {
		return invalid(err)
	}
	j.questions[i].answer <- a
	text := a.Action
	if a.Action == accept && a.Scope != "" {
		text += ", " + string(a.Scope)
	}
	j.remove(i, text)
	return nil
}

// The actions of an answer.
const (
	accept  = "accept"
	decline = "decline"
	dismiss = "cancel"
)

func invalid(err error) error {
	return &run.Error{Code: run.InvalidParam, Message: err.Error(), Err: err}
}

// errCancelled is the cause of the end of a job that was cancelled.
var errCancelled = errors.New("the run was cancelled")

// Cancel ends the run. It does not wait for the end.
func (j *Job) Cancel() { j.End(fmt.Errorf("%w: %w", errCancelled, context.Canceled)) }

// ask puts a question to the person, and returns the answer, which check accepts. The error
// is the cause of the end of ctx.
func (j *Job) ask(ctx context.Context, question Question, check func(Answer) error) (Answer, error) {
	q := &pending{question, check, make(chan Answer, 1)}
	j.mu.Lock()
	j.asked++
	q.ID = fmt.Sprintf("q%d", j.asked)
	j.questions = append(j.questions, q)
	j.note(Event{Kind: Asked, Question: &q.Question})
	j.mu.Unlock()
	select {
	case a := <-q.answer:
		return a, nil
	case <-ctx.Done():
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	i := slices.Index(j.questions, q)
	if i < 0 { // it was answered just now
		return <-q.answer, nil
	}
	j.remove(i, context.Cause(ctx).Error())
	return Answer{}, context.Cause(ctx)
}

// remove removes a question, with the reason. The mutex is held.
func (j *Job) remove(i int, why string) {
	q := &j.questions[i].Question
	j.log.settle(q)
	j.questions = slices.Delete(j.questions, i, i+1)
	j.note(Event{Kind: Answered, Text: why, Question: &Question{ID: q.ID}})
}

// say adds a progress message.
func (j *Job) say(message string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.note(Event{Kind: Progress, Text: cutText(message, maxText)})
}

// output returns a stream whose text becomes events of a kind.
func (j *Job) output(kind string) *stream {
	return &stream{pass: func(text string) {
		j.mu.Lock()
		defer j.mu.Unlock()
		if j.ended.IsZero() { // else a driver writes still
			j.log.addOutput(kind, text)
			if kind == Stderr {
				j.count(text)
			}
			j.wake()
		}
	}}
}

// maxLine bounds a line of progress, in bytes.
const maxLine = 1 << 10

// count adds the progress of the last line "N/M message" that a part of the error output
// ends. The mutex is held.
func (j *Job) count(text string) {
	text = j.line + text
	end := strings.LastIndexAny(text, "\r\n") + 1
	j.line = cutText(text[end:], maxLine)
	for _, line := range slices.Backward(strings.FieldsFunc(text[:end], func(r rune) bool { return r == '\r' || r == '\n' })) {
		if p, ok := scriptio.ParseProgress(line); ok {
			j.log.addCount(cutText(p.Message, maxLine), Count{p.Done, p.Total})
			return
		}
	}
}

// end ends the job.
func (j *Job) end(r *result.Run, err *run.Error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e := Event{Kind: End}
	if err != nil {
		e.Text = cutText(err.Message, maxText)
	}
	j.note(e)
	j.ended, j.result, j.err, j.questions = time.Now(), r, err, nil
}

// note adds an event, before the end. The mutex is held.
func (j *Job) note(e Event) {
	if !j.ended.IsZero() {
		return
	}
	j.log.add(e)
	j.wake()
}

// wake wakes the readers. The mutex is held.
func (j *Job) wake() {
	close(j.changed)
	j.changed = make(chan struct{})
}
