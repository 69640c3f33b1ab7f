package elicit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/rpc"
)

func newTestCalls(t *testing.T) *PendingCalls {
	t.Helper()
	d := NewPendingCalls(nil, nil)
	t.Cleanup(d.Close)
	return d
}

func responses(t *testing.T, text string) mcp.InputResponses {
	t.Helper()
	var r mcp.InputResponses
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func nameForm(t *testing.T, message string) *Request {
	t.Helper()
	r, err := newRequest("demo", methodPerson, json.RawMessage(fmt.Sprintf(
		`{"message":%q,"requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`, message)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// asksFor is a run that asks for one key after the other, and returns the answers.
func asksFor(t *testing.T, all ...string) func(context.Context, *PendingCall) any {
	return func(ctx context.Context, r *PendingCall) any {
		var got []string
		for _, key := range all {
			answers, err := r.Ask(ctx, map[string]*Request{key: nameForm(t, key+"?")})
			if err != nil {
				return err
			}
			got = append(got, key+"="+string(answers[key]))
		}
		return strings.Join(got, " ")
	}
}

// required asserts that a call is asked for some keys, and returns the state.
func required(t *testing.T, err error, want string) string {
	t.Helper()
	var r *Required
	if !errors.As(err, &r) || strings.Join(keys(r.Requests), " ") != want || r.State == "" {
		t.Fatalf("%v %+v, want to be asked for %q", err, r, want)
	}
	return r.State
}

const ann = `{"action":"accept","content":{"name":"Ann"}}`

func TestPendingCalls(t *testing.T) {
	d := newTestCalls(t)
	call := func(state, answers string) (any, error) {
		c := Call{Owner: "me", Method: "tools/call", Name: "demo", Args: []byte("{}"), State: state, Responses: responses(t, answers)}
		return d.Do(t.Context(), c, asksFor(t, "one", "two"))
	}
	_, err := call("", "{}")
	first := required(t, err, "one")
	for _, wrong := range []string{`{}`, `{"two":` + ann + `}`, `{"one":12345}`, `{"one":null}`, `{"one":{"action":"accept","content":{}}}`, `{"one":[]}`} {
		_, err = call(first, wrong)
		if again := required(t, err, "one"); again != first {
			t.Errorf("%s: another state for the same question", wrong)
		}
	}
	_, err = call(first, `{"one":`+ann+`,"other":3}`)
	second := required(t, err, "two")
	if second == first {
		t.Error("the same state for another question")
	}
	_, err = call(first, `{"two":`+ann+`}`) // the reply was lost, and the client has guessed
	required(t, err, "two")
	got, err := call(second, `{"two":`+ann+`}`)
	if err != nil || got != "one="+ann+" two="+ann {
		t.Errorf("%v, %v", got, err)
	}
	if _, err = call(second, `{"two":`+ann+`}`); !errors.Is(err, ErrGone) {
		t.Errorf("after the end: %v", err)
	}
	if len(d.runs.All()) != 0 {
		t.Errorf("%d runs are left", len(d.runs.All()))
	}
}

// TestPendingCallsAhead has answers come before the questions, each for one of them.
func TestPendingCallsAhead(t *testing.T) {
	d := newTestCalls(t)
	do := func(answers string, all ...string) (any, error) {
		return d.Do(t.Context(), Call{Responses: responses(t, answers)}, asksFor(t, all...))
	}
	got, err := do(`{"one":`+ann+`,"other":`+ann+`,"two":`+ann+`}`, "one", "two")
	if err != nil || got != "one="+ann+" two="+ann {
		t.Errorf("%v, %v", got, err)
	}
	_, err = do(`{"one":`+ann+`}`, "one", "one")
	required(t, err, "one")
	_, err = do(`{"one":12345}`, "one")
	required(t, err, "one")
}

// TestPendingCallsSome keeps the answers that fit, and asks for the rest again.
func TestPendingCallsSome(t *testing.T) {
	d := newTestCalls(t)
	do := func(state, answers string) (any, error) {
		return d.Do(t.Context(), Call{State: state, Responses: responses(t, answers)}, func(ctx context.Context, r *PendingCall) any {
			answers, err := r.Ask(ctx, map[string]*Request{"a": nameForm(t, "a"), "b": nameForm(t, "b")})
			return fmt.Sprint(len(answers), err)
		})
	}
	_, err := do("", "{}")
	state := required(t, err, "a b")
	_, err = do(state, `{"b":`+ann+`}`)
	state = required(t, err, "a")
	got, err := do(state, `{"a":`+ann+`}`)
	if err != nil || got != "2 <nil>" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestPendingCallsState refuses states that are not the caller's, for this call.
func TestPendingCallsState(t *testing.T) {
	d := newTestCalls(t)
	mine := Call{Owner: "me", Method: "tools/call", Name: "demo", Args: []byte(`{"a":1}`)}
	_, err := d.Do(t.Context(), mine, asksFor(t, "one"))
	state := required(t, err, "one")
	other := NewPendingCalls(nil, nil)
	defer other.Close()
	for name, test := range map[string]struct {
		calls  *PendingCalls
		change func(c *Call)
	}{
		"another principal": {d, func(c *Call) { c.Owner = "you" }},
		"another method":    {d, func(c *Call) { c.Method = "prompts/get" }},
		"another name":      {d, func(c *Call) { c.Name = "other" }},
		"other arguments":   {d, func(c *Call) { c.Args = []byte(`{"a":2}`) }},
		"moved borders":     {d, func(c *Call) { c.Method, c.Name = "tools/calld", "emo" }},
		"another server":    {other, func(*Call) {}},
		"changed":           {d, func(c *Call) { c.State = "0" + c.State[1:] }},
		"cut":               {d, func(c *Call) { c.State = c.State[:len(c.State)-1] }},
		"longer":            {d, func(c *Call) { c.State += "tampered" }},
		"nonsense":          {d, func(c *Call) { c.State = "x" }},
		"too long":          {d, func(c *Call) { c.State = strings.Repeat("x", maxState+1) + "." }},
	} {
		c := mine
		c.State, c.Responses = state, responses(t, `{"one":`+ann+`}`)
		test.change(&c)
		_, err := test.calls.Do(t.Context(), c, asksFor(t))
		var refused *rpc.Error
		if !errors.As(err, &refused) || refused.Code != mcp.INVALID_PARAMS {
			t.Errorf("%s: %v", name, err)
		}
	}
	mine.State, mine.Responses = state, responses(t, `{"one":`+ann+`}`)
	if got, err := d.Do(t.Context(), mine, asksFor(t)); err != nil || got != "one="+ann {
		t.Errorf("the true one: %v, %v", got, err)
	}
}

// A question before the run begins is answered at another server of the same secret, where the
// call is made anew; another question is not, as the run would begin twice.
func TestPendingCallsOfAnother(t *testing.T) {
	secret := bytes.Repeat([]byte{1}, 32)
	for _, fresh := range []bool{true, false} {
		var at []time.Time
		ask := func(ctx context.Context, r *PendingCall) any {
			one := &Request{Method: methodPerson, Params: json.RawMessage(`{"message":"?","requestedSchema":{"type":"object","properties":{}}}`), Fresh: fresh}
			answers, err := r.Ask(ctx, map[string]*Request{"one": one})
			at = append(at, one.Put)
			return fmt.Sprint(string(answers["one"]), err)
		}
		first := NewPendingCalls(func(id string) string { return id + "-a" }, secret)
		second := NewPendingCalls(func(id string) string { return id + "-b" }, secret)
		c := Call{Owner: "me", Name: "demo"}
		_, err := first.Do(t.Context(), c, ask)
		c.State, c.Responses = required(t, err, "one"), responses(t, `{"one":`+ann+`}`)
		first.Close()
		if _, err := first.Do(t.Context(), c, ask); !errors.Is(err, ErrGone) {
			t.Errorf("the same server: %v", err)
		}
		got, err := second.Do(t.Context(), c, ask)
		switch {
		case fresh && (err != nil || got != ann+"<nil>" || len(at) != 2 || !at[1].Equal(at[0].Truncate(time.Millisecond))):
			t.Errorf("%v, %v, shown at %v", got, err, at)
		case !fresh && !errors.Is(err, ErrGone):
			t.Errorf("a run that has begun: %v, %v", got, err)
		}
		second.Close()
	}
}

func FuzzState(f *testing.F) {
	k := newKey(nil)
	c := &Call{Owner: "me", Name: "demo"}
	f.Add(k.seal(state{"r", 1, 2}, c.parts()))
	f.Add("a.1.b")
	f.Fuzz(func(t *testing.T, token string) {
		if s, err := k.open(token, c.parts()); err == nil && k.seal(s, c.parts()) != token {
			t.Errorf("%q opens, and nobody sealed it", token)
		}
	})
}

// TestPendingCallsEnds has a run end while it waits, each way there is.
func TestPendingCallsEnds(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(d *PendingCalls)
		want error
	}{
		"its client leaves": {func(d *PendingCalls) { d.Leave("me") }, context.Canceled},
		"the server stops":  {func(d *PendingCalls) { d.Close() }, nil},
		"nobody answers":    {func(*PendingCalls) { time.Sleep(2 * time.Minute) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newTestCalls(t)
				limiter := NewWaitLimiter(Limits{Wait: time.Minute})
				ended := make(chan error, 1)
				c := Call{Owner: "me"}
				_, err := d.Do(t.Context(), c, func(ctx context.Context, r *PendingCall) any {
					ctx, leave := limiter.Enter(ctx, "me", "demo")
					defer leave()
					_, err := r.Ask(ctx, map[string]*Request{"one": nameForm(t, "?")})
					ended <- err
					return nil
				})
				c.State = required(t, err, "one")
				d.Leave("you")
				test.end(d)
				if err := <-ended; err == nil || test.want != nil && !errors.Is(err, test.want) {
					t.Errorf("it ended by %v, want %v", err, test.want)
				}
				synctest.Wait()
				if _, err := d.Do(t.Context(), c, nil); !errors.Is(err, ErrGone) {
					t.Errorf("afterwards: %v", err)
				}
			})
		})
	}
}

// TestPendingCallsCancel ends the run of a request that is cancelled, and refuses a
// second request for a run that has one.
func TestPendingCallsCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newTestCalls(t)
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		c := Call{}
		_, err := d.Do(ctx, c, func(ctx context.Context, r *PendingCall) any {
			_, _ = r.Ask(ctx, map[string]*Request{"one": nameForm(t, "?")})
			<-ctx.Done()
			return context.Cause(ctx)
		})
		c.State, c.Responses = required(t, err, "one"), responses(t, `{"one":`+ann+`}`)
		go func() {
			synctest.Wait()
			if _, err := d.Do(t.Context(), c, nil); !errors.Is(err, ErrTwice) {
				t.Errorf("a second request: %v", err)
			}
			cancel(gone)
		}()
		got, err := d.Do(ctx, c, nil)
		if err != nil || got != gone {
			t.Errorf("%v, %v, want that the run was cancelled", got, err)
		}
	})
}

// TestRunSpeaks has a run speak to the request under way.
func TestRunSpeaks(t *testing.T) {
	d := newTestCalls(t)
	speaks := func(r *PendingCall, text string) {
		_, _ = r.Write([]byte(text))
		r.Say(text)
	}
	run := func(ctx context.Context, r *PendingCall) any {
		speaks(r, "1")
		_, _ = r.Ask(ctx, map[string]*Request{"one": nameForm(t, "?")})
		speaks(r, "2")
		return nil
	}
	var first, second bytes.Buffer
	write := func(b *bytes.Buffer) func(string) { return func(m string) { b.WriteString("say " + m) } }
	_, err := d.Do(t.Context(), Call{Stderr: &first, Progress: write(&first)}, run)
	state := required(t, err, "one")
	if _, err := d.Do(t.Context(), Call{State: state, Responses: responses(t, `{"one":`+ann+`}`), Stderr: &second, Progress: write(&second)}, run); err != nil {
		t.Fatal(err)
	}
	if first.String() != "1say 1" || second.String() != "2say 2" {
		t.Errorf("%q and %q", first.String(), second.String())
	}
	r := &PendingCall{}
	speaks(r, "to nobody")
}

func TestRequiredResult(t *testing.T) {
	model, err := newRequest("demo", methodModel, json.RawMessage(`{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":5}`))
	if err != nil {
		t.Fatal(err)
	}
	r := &Required{State: "s", Requests: map[string]*Request{"a": nameForm(t, "?"), "b": model, "c": {Method: methodRoots}}}
	kind, asked, err := r.Result()
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(mcp.CallToolResult{Result: kind, MultiRoundTripResult: asked})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(encoded, &got); err != nil {
		t.Fatal(err)
	}
	const want = `{"a":{"method":"elicitation/create","params":{"message":"Skill demo asks: ?","mode":"form","requestedSchema":{"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"}}},` +
		`"b":{"method":"sampling/createMessage","params":{"maxTokens":5,"messages":[{"content":{"text":"?","type":"text"},"role":"user"}]}},"c":{"method":"roots/list"}}`
	requests, _ := json.Marshal(got["inputRequests"])
	if string(requests) != want || got["resultType"] != "input_required" || got["requestState"] != "s" {
		t.Errorf("%s\nwant %s", encoded, want)
	}
}

// TestPendingCallsGivenUp ends a run whose question stands, for a call with a context that
// has ended: tasks give up that way.
func TestPendingCallsGivenUp(t *testing.T) {
	d := newTestCalls(t)
	ended := make(chan error, 1)
	c := Call{}
	_, err := d.Do(t.Context(), c, func(ctx context.Context, r *PendingCall) any {
		_, err := r.Ask(ctx, map[string]*Request{"one": nameForm(t, "?")})
		ended <- err
		return err
	})
	c.State = required(t, err, "one")
	over, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if got, err := d.Do(over, c, nil); err != nil || got != enough {
		t.Errorf("%v, %v", got, err)
	}
	if err := <-ended; err != enough {
		t.Errorf("it ended by %v", err)
	}
}
