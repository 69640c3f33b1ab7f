package elicit

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/sandbox"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// process is a fake of a running command.
type process struct {
	cmd *sandbox.Command
	out strings.Builder
	in  *bufio.Reader
	w   io.WriteCloser
}

func newProcess(cmd *sandbox.Command) *process {
	p := &process{cmd: cmd, in: bufio.NewReader(cmd.Stdin)}
	p.w = cmd.Sieve(&p.out)
	return p
}

func (p *process) print(text string) { _, _ = io.WriteString(p.w, text) }

// read reads a line, or what there is before the end.
func (p *process) read() string {
	line, _ := p.in.ReadString('\n')
	return line
}

const sure = `{"mcp":{"ask":"Sure?"}}` + "\n"

// answering is an asker that says yes.
func answering(*Request) string { return `{"action":"accept","content":{"answer":"yes"}}` }

func fixed(answer func(*Request) string) Asker {
	return AskerFunc(func(_ context.Context, r *Request) (json.RawMessage, error) { return json.RawMessage(answer(r)), nil })
}

func begin(t *testing.T, cmd *sandbox.Command, asker Asker, limits Limits) (context.Context, *Dialogue) {
	t.Helper()
	o := options()
	o.Client, o.Limiter = everything(asker), NewWaitLimiter(limits)
	ctx, d := Begin(t.Context(), cmd, *o)
	t.Cleanup(d.End)
	return ctx, d
}

func TestDialogue(t *testing.T) {
	cmd := &sandbox.Command{Stdin: strings.NewReader(`{"a":1}`)}
	_, d := begin(t, cmd, fixed(answering), Limits{})
	p := newProcess(cmd)
	if line := p.read(); line != "{\"a\":1}\n" {
		t.Errorf("the first line is %q", line)
	}
	p.print("before\n" + sure + "after\n")
	if line := p.read(); line != `{"action":"accept","content":{"answer":"yes"}}`+"\n" {
		t.Errorf("the answer is %q", line)
	}
	p.print(`{"mcp":{"requests":{"a":{"method":"roots/list"},"b":{"method":"none"}}}}` + "\n")
	if line := p.read(); !strings.HasPrefix(line, `{"a":{"action":"accept","content":{"answer":"yes"}},"b":{"error":`) {
		t.Errorf("the answers are %q", line)
	}
	p.print(`{"mcp":{"ask":` + "\n")
	if line := p.read(); !strings.HasPrefix(line, `{"error":"this cannot be asked: it is not understood`) {
		t.Errorf("the answer to no question is %q", line)
	}
	d.End()
	if line := p.read(); line != "" {
		t.Errorf("%q comes after the end", line)
	}
	if p.out.String() != "before\nafter\n" {
		t.Errorf("the output is %q", p.out.String())
	}
}

// TestDialogueAnswers has the client's words come in one line.
func TestDialogueAnswers(t *testing.T) {
	cmd := &sandbox.Command{}
	begin(t, cmd, fixed(func(*Request) string { return "{\n\"action\": \"decline\"\n}" }), Limits{})
	p := newProcess(cmd)
	p.print(sure)
	if line := p.read(); line != `{"action":"decline"}`+"\n" {
		t.Errorf("the answer is %q", line)
	}
}

func TestDialogueEnds(t *testing.T) {
	waits := AskerFunc(func(ctx context.Context, _ *Request) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	})
	fails := AskerFunc(func(context.Context, *Request) (json.RawMessage, error) { return nil, errors.New("it broke") })
	for name, test := range map[string]struct {
		asker  Asker
		prints string
		want   string
		after  time.Duration
	}{
		"nobody answers": {waits, sure, "nobody answered it within 1m0s", time.Minute},
		"an error":       {fails, sure, "it broke", 0},
		"too many":       {waits, strings.Repeat(sure, 2*maxAhead), "it wrote more than 8 questions and calls without waiting for an answer", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cmd := &sandbox.Command{}
				began := time.Now()
				ctx, d := begin(t, cmd, test.asker, Limits{Wait: time.Minute})
				newProcess(cmd).print(test.prints)
				<-ctx.Done()
				if err := context.Cause(ctx); err.Error() != test.want || time.Since(began) != test.after {
					t.Errorf("ended after %s by %q, want %q", time.Since(began), err, test.want)
				}
				d.End()
			})
		})
	}
}

// TestWaitLimiter ends the oldest of too many waiting calls.
func TestWaitLimiter(t *testing.T) {
	limiter := NewWaitLimiter(Limits{Total: 3, PerCaller: 2})
	enter := func(owner identity.Key) (context.Context, func()) { return limiter.Enter(t.Context(), owner, "s") }
	first, leaveFirst := enter("a")
	second, leaveSecond := enter("b")
	third, leaveThird := enter("a")
	fourth, leaveFourth := enter("a")
	var full *WaitError
	if !errors.As(context.Cause(first), &full) || full.Error() != "more than 2 calls wait for an answer, and it waited the longest" {
		t.Errorf("the first of a caller's: %v", context.Cause(first))
	}
	fifth, leaveFifth := enter("c")
	if !errors.As(context.Cause(third), &full) || full.Error() != "more than 3 calls wait for an answer, and it waited the longest" {
		t.Errorf("the oldest of whose most wait: %v", context.Cause(third))
	}
	for _, ctx := range []context.Context{second, fourth, fifth} {
		if ctx.Err() != nil {
			t.Error(context.Cause(ctx))
		}
	}
	for _, leave := range []func(){leaveFirst, leaveSecond, leaveThird, leaveFourth, leaveFifth} {
		leave()
	}
	if len(limiter.waiting) != 0 {
		t.Errorf("%d still wait", len(limiter.waiting))
	}
}

// A skill, or a caller, whose calls wait most has its oldest ended; the others go on.
func TestWaitLimiterIsFair(t *testing.T) {
	limiter := NewWaitLimiter(Limits{Total: 6, PerCaller: 4})
	var all []func()
	enter := func(owner identity.Key, skill string) context.Context {
		ctx, leave := limiter.Enter(t.Context(), owner, skill)
		all = append(all, leave)
		return ctx
	}
	quiet, other := enter("a", "quiet"), enter("b", "quiet")
	var loud []context.Context
	for i := range 20 {
		loud = append(loud, enter("a", "loud"))
		if i == 10 {
			loud = append(loud, enter("c", "loud"))
		}
	}
	if quiet.Err() != nil || other.Err() != nil {
		t.Errorf("ended: %v, %v", context.Cause(quiet), context.Cause(other))
	}
	ended := 0
	for _, ctx := range loud {
		if ctx.Err() != nil {
			ended++
		}
	}
	if ended != 17 {
		t.Errorf("%d of 21 ended, want 17", ended)
	}
	for _, leave := range all {
		leave()
	}
}

func TestSender(t *testing.T) {
	for name, test := range map[string]struct {
		result string
		err    error
		want   string
	}{
		"an answer":           {`{"action":"cancel"}`, nil, `{"action":"cancel"}`},
		"an answer of no use": {`{"action":"maybe"}`, nil, `{"error":"the client did not answer: at '/action': value must be one of 'accept', 'decline', 'cancel'"}`},
		"an error":            {"", errors.New("no time"), `{"error":"the client did not answer: no time"}`},
	} {
		r, err := newRequest("demo", methodPerson, json.RawMessage(`{"message":"?"}`))
		if err != nil {
			t.Fatal(err)
		}
		sender := Sender(func(context.Context, string, any) (json.RawMessage, error) {
			return json.RawMessage(test.result), test.err
		})
		got, err := sender.Ask(t.Context(), map[string]*Request{"a": r})
		if err != nil || string(got["a"]) != test.want {
			t.Errorf("%s: %s, %v", name, got["a"], err)
		}
	}
}

// A question that the script cannot do without ends it where nobody can be asked.
func TestRequired(t *testing.T) {
	for name, question := range map[string]string{
		"short":   `{"mcp":{"ask":{"message":"Sure?","required":true}}}`,
		"general": `{"mcp":{"requests":{"a":{"method":"elicitation/create","params":{"message":"Sure?"},"required":true}}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			cmd := &sandbox.Command{}
			o := options()
			o.Client, o.Limiter = &Client{}, NewWaitLimiter(Limits{})
			ctx, d := Begin(t.Context(), cmd, *o)
			defer d.End()
			newProcess(cmd).print(question + "\n")
			<-ctx.Done()
			var missing *MissingError
			if !errors.As(context.Cause(ctx), &missing) || missing.Capability != "elicitation" {
				t.Error(context.Cause(ctx))
			}
		})
	}
}

// A panic behind a question ends the command, and is the panic of who has run it:
// in a goroutine of its own it would end the server.
func TestPanicBehindAQuestion(t *testing.T) {
	cmd := &sandbox.Command{}
	o := options()
	o.Client, o.Limiter = everything(fixed(func(*Request) string { panic("secret") })), NewWaitLimiter(Limits{})
	ctx, d := Begin(t.Context(), cmd, *o)
	newProcess(cmd).print(sure)
	<-ctx.Done()
	defer func() {
		if p := recover(); !strings.Contains(fmt.Sprint(p), "secret") {
			t.Errorf("recovered %v", p)
		}
		d.End() // again
	}()
	d.End()
}

// A script that asks on and on ends, whoever answers it.
func TestQuestionsAreBounded(t *testing.T) {
	cmd := &sandbox.Command{}
	ctx, d := begin(t, cmd, fixed(answering), Limits{})
	p := newProcess(cmd)
	for range maxQuestions {
		p.print(sure)
		if got := p.read(); got == "" {
			t.Fatal(context.Cause(ctx))
		}
	}
	p.print(sure)
	<-ctx.Done()
	if err := context.Cause(ctx); err.Error() != "it asked more than 100 questions" {
		t.Error(err)
	}
	d.End()
}
