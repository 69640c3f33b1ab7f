package elicit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/skillsmcp/skills-mcp/sandbox"
)

// maxAhead is the number of questions that a script may ask before it has the first
// answer.
const maxAhead = 8

// maxQuestions is the number of questions that a script may ask in all: its clock is
// stopped meanwhile, and a client might answer without end.
const maxQuestions = 100

// A Dialogue relays the questions of one command and their answers.
type Dialogue struct {
	options Options
	meter   sandbox.Meter
	asked   chan []byte             // lines; has room for maxAhead
	end     context.CancelCauseFunc // ends the command
	stdin   *io.PipeReader
	answers *io.PipeWriter
	done    chan struct{} // closed by the goroutine, at its end
	stop    context.CancelCauseFunc
	once    sync.Once

	panicked any // of the goroutine, valid after done
}

// Begin lets cmd ask: answers follow its input on stdin. It returns the context to run
// cmd with, which ends when a question is not answered: its cause is a [*WaitError], a
// [*MissingError] or the error of [Asker.Ask]. [Dialogue.End] has to be called when cmd
// has ended.
func Begin(ctx context.Context, cmd *sandbox.Command, o Options) (context.Context, *Dialogue) {
	d := &Dialogue{options: o, asked: make(chan []byte, maxAhead), done: make(chan struct{})}
	ctx, d.end = context.WithCancelCause(ctx)
	conversing, stop := context.WithCancelCause(ctx)
	d.stop = stop
	d.stdin, d.answers = io.Pipe()
	cmd.Meter, cmd.Waits = &d.meter, maxQuestions*o.Limiter.limits.Wait
	if cmd.Stdin == nil {
		cmd.Stdin = d.stdin
	} else {
		cmd.Stdin = io.MultiReader(cmd.Stdin, strings.NewReader("\n"), d.stdin)
	}
	cmd.Sieve = func(out io.Writer) io.WriteCloser { return &questionFilter{out: out, ask: d.hear} }
	go d.relay(conversing)
	return ctx, d
}

// End ends the dialogue and waits for it. It may be called more than once. It repeats a
// panic of the asker, so that the caller can recover it.
func (d *Dialogue) End() {
	d.once.Do(func() {
		d.stop(errDone)
		_ = d.stdin.CloseWithError(io.EOF) // for who reads, and who writes
		_ = d.answers.Close()
	})
	<-d.done
	d.end(nil)
	if p := d.panicked; p != nil {
		d.panicked = nil
		panic(p)
	}
}

// errDone ends a conversation whose script has ended.
var errDone = errors.New("the script has ended")

// hear queues a question, without waiting for its answer: the sandbox's output must not
// wait.
func (d *Dialogue) hear(line []byte) {
	select {
	case d.asked <- bytes.Clone(line):
	default:
		d.end(&WaitError{fmt.Sprintf("it wrote more than %d questions and calls without waiting for an answer", maxAhead)})
	}
}

// relay relays one question after the other, until ctx ends.
func (d *Dialogue) relay(ctx context.Context) {
	defer close(d.done)
	defer func() {
		if p := recover(); p != nil {
			d.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
			d.end(errors.New("internal error"))
		}
	}()
	for number := 1; ; number++ {
		select {
		case <-ctx.Done():
			return
		case line := <-d.asked:
			if number > maxQuestions {
				d.end(&WaitError{fmt.Sprintf("it asked more than %d questions", maxQuestions)})
				return
			}
			answer, err := d.answer(ctx, line, number)
			if err != nil {
				d.end(err)
				return
			}
			if _, err := d.answers.Write(answer); err != nil {
				return
			}
		}
	}
}

// answer returns the line that answers a question.
func (d *Dialogue) answer(ctx context.Context, line []byte, number int) ([]byte, error) {
	o := &d.options
	if isCall(line) {
		return d.call(ctx, line)
	}
	q, err := o.parse(line, fmt.Sprintf("ask-%d", number))
	if _, missing := errors.AsType[*MissingError](err); missing {
		return nil, err
	}
	if err != nil {
		return append(Refuse("this cannot be asked: "+err.Error()), '\n'), nil
	}
	answers, err := d.wait(ctx, q.requests)
	if err != nil {
		return nil, err
	}
	return q.answer(answers), nil
}

// call has another skill called. The command's clock is stopped meanwhile, and others have
// its slot: the called one may need the only one.
func (d *Dialogue) call(ctx context.Context, line []byte) ([]byte, error) {
	d.meter.Pause()
	answer := d.options.Call(ctx, line)
	return answer, d.meter.Resume(ctx)
}

// wait asks the client, and stops the command's clock meanwhile.
func (d *Dialogue) wait(ctx context.Context, requests map[string]*Request) (map[string]json.RawMessage, error) {
	if len(requests) == 0 {
		return map[string]json.RawMessage{}, nil
	}
	waiting, leave := d.options.Limiter.Enter(ctx, d.options.Owner, d.options.Skill)
	defer leave()
	d.meter.Pause()
	answers, err := d.options.Client.Ask(waiting, requests)
	if err != nil {
		return nil, err
	}
	return answers, d.meter.Resume(ctx)
}
