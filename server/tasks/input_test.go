package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// asks is a result that asks for input by these keys.
func asks(state string, keys ...string) *mcp.CallToolResult {
	requests := mcp.InputRequests{}
	for _, key := range keys {
		requests[key] = mcp.NewElicitationInputRequest(mcp.ElicitationParams{Message: key})
	}
	return &mcp.CallToolResult{
		Result:               mcp.Result{ResultType: mcp.ResultTypeInputRequired},
		MultiRoundTripResult: mcp.MultiRoundTripResult{InputRequests: requests, RequestState: state},
	}
}

// A talk is work that asks what its rounds say, and notes what it was called with.
type talk struct {
	rounds []*mcp.CallToolResult
	called []string
}

func (w *talk) work(ctx context.Context, _ *Task, round mcp.MultiRoundTripParams) (*mcp.CallToolResult, error) {
	answers, _ := json.Marshal(round.InputResponses)
	w.called = append(w.called, fmt.Sprintf("%s %s", round.RequestState, answers))
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	next := w.rounds[0]
	w.rounds = w.rounds[1:]
	return next, nil
}

func (w *talk) want(t *testing.T, called ...string) {
	t.Helper()
	synctest.Wait()
	if !slices.Equal(w.called, called) {
		t.Errorf("the work was called with %q, want %q", w.called, called)
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
		w := &talk{rounds: []*mcp.CallToolResult{asks("one", "name", "ok"), says("done")}}
		id := b.begin(w.work)
		steps := []struct{ answers, pending string }{
			{`{}`, "name ok"},
			{`{"other":1}`, "name ok"},
			{`{"ok":{"action":"accept"}}`, "name"},
			{`{"ok":{"action":"decline"}}`, "name"},
			{`{"name":{"action":"cancel"},"x":1}`, ""},
		}
		for _, step := range steps {
			b.update(id, step.answers)
			if got := b.pending(id); got != step.pending {
				t.Errorf("after %s it asks for %q, want %q", step.answers, got, step.pending)
			}
		}
		if got := b.get(id); got.Status != "completed" {
			t.Errorf("%+v", got)
		}
		b.update(id, `{"name":1}`)
		w.want(t, " null", `one {"name":{"action":"cancel"},"ok":{"action":"accept"}}`)
	})
}

// A key is one question in all the life of a task, also where the work asks again
// by the same.
func TestKeysAreNotUsedTwice(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		w := &talk{rounds: []*mcp.CallToolResult{asks("one", "a", "a-2"), asks("two", "a"), asks("three", "a"), says("done")}}
		id := b.begin(w.work)
		b.update(id, `{"a":1,"a-2":2}`)
		second := b.pending(id)
		b.update(id, fmt.Sprintf(`{%q:3}`, second))
		third := b.pending(id)
		b.update(id, fmt.Sprintf(`{%q:4}`, third))
		if second != "a-3" || third != "a-4" {
			t.Errorf("it asks for %q, then for %q", second, third)
		}
		w.want(t, " null", `one {"a":1,"a-2":2}`, `two {"a":3}`, `three {"a":4}`)
	})
}

// What is asked before there is a task is asked by the result, and the state that
// comes back reaches the work.
func TestInputBeforeTheTask(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		w := &talk{rounds: []*mcp.CallToolResult{asks("one", "name"), says("done")}}
		c := Call{Owner: owner("ann"), Patience: time.Second}
		result, err := b.Do(t.Context(), c, w.work)
		if err != nil || !result.NeedsInput() {
			t.Fatalf("%v, %v", result, err)
		}
		c.Round = mcp.MultiRoundTripParams{RequestState: "one"}
		result, err = b.Do(t.Context(), c, w.work)
		if err != nil || result.NeedsInput() {
			t.Fatalf("%v, %v", result, err)
		}
		w.want(t, " null", "one null")
	})
}

// A task that is cancelled while it asks has its work give up, and one whose
// question nobody answers goes on without an answer.
func TestNoInput(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		cancelled := &talk{rounds: []*mcp.CallToolResult{asks("one", "name")}}
		id := b.begin(cancelled.work)
		synctest.Wait()
		b.ask("ann", "tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id))
		synctest.Wait()
		if got := b.get(id); got.Status != "cancelled" || len(got.InputRequests) > 0 {
			t.Errorf("%+v", got)
		}
		cancelled.want(t, " null", "one {}")

		left := &talk{rounds: []*mcp.CallToolResult{asks("one", "a", "b"), says("too late")}}
		gone := make(chan struct{})
		id = b.begin(func(ctx context.Context, task *Task, round mcp.MultiRoundTripParams) (*mcp.CallToolResult, error) {
			task.Until(gone)
			return left.work(ctx, task, round)
		})
		b.update(id, `{"a":1}`)
		if got := b.pending(id); got != "b" {
			t.Errorf("it asks for %q", got)
		}
		close(gone)
		synctest.Wait()
		if got := b.get(id); got.Status != "completed" {
			t.Errorf("%+v", got)
		}
		left.want(t, " null", `one {"a":1}`)
	})
}

// A question of a task is put to the client when the client first looks.
func TestPut(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		var put []time.Time
		rounds := []*mcp.CallToolResult{asks("one", "name"), asks("two", "name"), says("done")}
		id := b.begin(func(_ context.Context, task *Task, _ mcp.MultiRoundTripParams) (*mcp.CallToolResult, error) {
			put = append(put, task.Put())
			next := rounds[0]
			rounds = rounds[1:]
			return next, nil
		})
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
		if len(put) != 3 || !put[0].IsZero() || !put[1].Equal(looked[0]) || !put[2].Equal(looked[1]) {
			t.Errorf("put at %v, looked at %v", put, looked)
		}
		if (*Task)(nil).Put() != (time.Time{}) {
			t.Error("a call without a task has a time")
		}
	})
}
