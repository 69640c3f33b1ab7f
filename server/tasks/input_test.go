package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/elicit"
)

// A talk is work that asks for each of some keys in turn, all keys of a round at once, and
// notes the answers.
type talk struct {
	*elicit.PendingCalls
	rounds [][]string
	state  string // of the client's request
	put    []time.Time
	got    []string
}

// newTalk returns the work, whose calls end with the test.
func newTalk(t *testing.T, rounds ...string) *talk {
	w := &talk{PendingCalls: elicit.NewPendingCalls(nil, nil)}
	t.Cleanup(w.Close)
	for _, keys := range rounds {
		w.rounds = append(w.rounds, strings.Fields(keys))
	}
	return w
}

func (w *talk) work(ctx context.Context, task *Task) (*mcp.CallToolResult, error) {
	call := elicit.Call{State: w.state, Responses: mcp.InputResponses{}, Outlives: task.Asks}
	_, err := w.Do(ctx, call, func(ctx context.Context, r *elicit.PendingCall) any {
		for _, keys := range w.rounds {
			w.ask(ctx, r, keys)
		}
		return nil
	})
	if required, ok := errors.AsType[*elicit.Required](err); ok {
		kind, questions, err := required.Result()
		return &mcp.CallToolResult{Result: kind, MultiRoundTripResult: questions}, err
	}
	return says("done"), err
}

// ask asks for keys at once.
func (w *talk) ask(ctx context.Context, r *elicit.PendingCall, keys []string) {
	requests := map[string]*elicit.Request{}
	for _, key := range keys {
		form, err := elicit.NewForm(key+"?", json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`))
		if err != nil {
			panic(err)
		}
		requests[key] = form
	}
	answers, err := r.Ask(ctx, requests)
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		w.got = append(w.got, key+" "+string(answers[key]))
	}
	if err != nil {
		w.got = append(w.got, err.Error())
	}
	w.put = append(w.put, requests[keys[0]].Put)
}

func (w *talk) want(t *testing.T, got ...string) {
	t.Helper()
	synctest.Wait()
	if !slices.Equal(w.got, got) {
		t.Errorf("the work got %q, want %q", w.got, got)
	}
}

func (b *bench) update(id, answers string) {
	b.t.Helper()
	synctest.Wait()
	if got := b.ask("ann", "tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":%s}`, id, answers)); got != "{}" {
		b.t.Errorf("tasks/update is answered with %s", got)
	}
}

// pending is what a task asks for.
func (b *bench) pending(id string) string {
	b.t.Helper()
	synctest.Wait()
	got := b.get(id)
	if (got.Status == "input_required") != (len(got.InputRequests) > 0) {
		b.t.Errorf("%s, and it asks for %v", got.Status, got.InputRequests)
	}
	return strings.Join(slices.Sorted(maps.Keys(got.InputRequests)), " ")
}

// Questions of a task are answered one by one, in any order, and what is no answer
// to one is left alone.
func TestInput(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		w := newTalk(t, "name ok")
		id := b.begin(w.work)
		steps := []struct{ answers, pending string }{
			{`{}`, "name ok"},
			{`{"other":1}`, "name ok"},
			{`{"ok":1}`, "name ok-2"}, // which does not fit
			{`{"ok":{"action":"accept"}}`, "name ok-2"},
			{`{"ok-2":{"action":"accept"}}`, "name"},
			{`{"ok-2":{"action":"decline"}}`, "name"},
			{`{"name":{"action":"cancel"},"x":1}`, ""},
		}
		for _, step := range steps {
			b.pending(id) // clients answer what they have seen
			b.update(id, step.answers)
			if got := b.pending(id); got != step.pending {
				t.Errorf("after %s it asks for %q, want %q", step.answers, got, step.pending)
			}
		}
		if got := b.get(id); got.Status != "completed" {
			t.Errorf("%+v", got)
		}
		b.update(id, `{"name":1}`)
		w.want(t, `name {"action":"cancel"}`, `ok {"action":"accept"}`)
	})
}

// A key is one question in all the life of a task, also where the work asks again
// by the same.
func TestKeysAreNotUsedTwice(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		w := newTalk(t, "a a-2", "a", "a")
		id := b.begin(w.work)
		answer := func(n int) string { return fmt.Sprintf(`{"action":"accept","content":{"n":%d}}`, n) }
		b.update(id, fmt.Sprintf(`{"a":%s,"a-2":%s}`, answer(1), answer(2)))
		second := b.pending(id)
		b.update(id, fmt.Sprintf(`{"a":%s}`, answer(9))) // of the first
		b.update(id, fmt.Sprintf(`{%q:%s}`, second, answer(3)))
		third := b.pending(id)
		b.update(id, fmt.Sprintf(`{%q:%s}`, third, answer(4)))
		if second != "a-3" || third != "a-4" {
			t.Errorf("it asks for %q, then for %q", second, third)
		}
		w.want(t, "a "+answer(1), "a-2 "+answer(2), "a "+answer(3), "a "+answer(4))
	})
}

// What is asked before there is a task is asked by the result. The request that answers may
// become a task, which asks the rest.
func TestInputBeforeTheTask(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		w := newTalk(t, "one", "two")
		result, err := b.Do(t.Context(), Call{Owner: owner("ann"), Patience: time.Second}, w.work)
		if err != nil || !result.NeedsInput() {
			t.Fatalf("%v, %v", result, err)
		}
		w.state = result.RequestState
		id := b.begin(w.work)
		for _, key := range []string{"one", "two"} {
			if got := b.pending(id); got != key {
				t.Errorf("it asks for %q, want %q", got, key)
			}
			b.update(id, fmt.Sprintf(`{%q:{"action":"accept"}}`, key))
		}
		if got := b.pending(id); got != "" || b.get(id).Status != "completed" {
			t.Errorf("at the end it asks for %q", got)
		}
		w.want(t, `one {"action":"accept"}`, `two {"action":"accept"}`)
	})
}

// A task that is cancelled while it asks has its work give up, and one whose
// question nobody answers goes on without an answer.
func TestNoInput(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		cancelled := newTalk(t, "name")
		id := b.begin(cancelled.work)
		if got := b.pending(id); got != "name" {
			t.Errorf("it asks for %q", got)
		}
		b.ask("ann", "tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id))
		synctest.Wait()
		if got := b.get(id); got.Status != "cancelled" || len(got.InputRequests) > 0 {
			t.Errorf("%+v", got)
		}
		cancelled.want(t, ErrCancelled.Error())

		left := newTalk(t, "a b")
		waits := elicit.NewWaitLimiter(elicit.Limits{Wait: time.Minute})
		id = b.begin(func(ctx context.Context, task *Task) (*mcp.CallToolResult, error) {
			_, err := left.Do(ctx, elicit.Call{Outlives: task.Asks}, func(ctx context.Context, r *elicit.PendingCall) any {
				ctx, leave := waits.Enter(ctx, "ann", "demo")
				defer leave()
				left.ask(ctx, r, left.rounds[0])
				return nil
			})
			return says("too late"), err
		})
		b.pending(id)
		b.update(id, `{"a":{"action":"accept"}}`)
		if got := b.pending(id); got != "b" {
			t.Errorf("it asks for %q", got)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := b.get(id); got.Status != "completed" {
			t.Errorf("%+v", got)
		}
		left.want(t, "nobody answered it within 1m0s")
	})
}

// A question of a task is put to the client when the client first looks.
func TestPut(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		w := newTalk(t, "name", "name")
		id := b.begin(w.work)
		var looked []time.Time
		for _, key := range []string{"name", "name-2"} {
			synctest.Wait()
			time.Sleep(3 * time.Second) // nobody has seen it
			looked = append(looked, time.Now())
			b.pending(id)
			time.Sleep(3 * time.Second)
			b.pending(id) // once more changes nothing
			b.update(id, fmt.Sprintf(`{%q:{"action":"accept"}}`, key))
		}
		synctest.Wait()
		if len(w.put) != 2 || !w.put[0].Equal(looked[0]) || !w.put[1].Equal(looked[1]) {
			t.Errorf("put at %v, looked at %v", w.put, looked)
		}
		if (*Task)(nil).Asks(nil) {
			t.Error("a call without a task shows its questions")
		}
	})
}
