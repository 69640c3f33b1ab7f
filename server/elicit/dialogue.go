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

// maxAhead is how many questions a script may ask before it has the first
// answer.
const maxAhead = 8

// maxQuestions is how many questions a script may ask in all: its time stands still
// meanwhile, and whoever answers may do so without end.
const maxQuestions = 100

// A Dialogue answers the questions of one command.
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

// Begin makes cmd one that may ask: what it has on stdin is its first line, and the
// answers follow. It returns the context to run it with, which ends when a question
// finds no answer: its cause is a [*WaitError], a [*MissingError] or what
// [Asker.Ask] returned. [Dialogue.End] has to be called when cmd has ended.
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
	go d.converse(conversing)
	return ctx, d
}

// End ends the dialogue and waits for it. It may be called more than once. A panic of
// what answered goes on here, where there is somebody to recover it.
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

// hear takes a question. The sandbox's output must not wait for its answer.
func (d *Dialogue) hear(line []byte) {
	select {
	case d.asked <- bytes.Clone(line):
	default:
		d.end(&WaitError{fmt.Sprintf("it asked more than %d questions without waiting for an answer", maxAhead)})
	}
}

// converse answers one question after the other, until ctx ends.
func (d *Dialogue) converse(ctx context.Context) {
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

// wait has requests answered, while the command uses nothing up.
func (d *Dialogue) wait(ctx context.Context, requests map[string]*Request) (map[string]json.RawMessage, error) {
	if len(requests) == 0 {
		return map[string]json.RawMessage{}, nil
	}
	waiting, leave := d.options.Limiter.enter(ctx, d.options.Owner)
	defer leave()
	d.meter.Pause()
	answers, err := d.options.Client.Ask(waiting, requests)
	if err != nil {
		return nil, err
	}
	return answers, d.meter.Resume(ctx)
}
