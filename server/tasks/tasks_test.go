package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// takes is work that takes a time and ends so.
func takes(d time.Duration, result *mcp.CallToolResult, err error) Work {
	return func(ctx context.Context, _ *Task) (*mcp.CallToolResult, error) {
		select {
		case <-time.After(d):
			return result, err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// A call that ends soon is answered as ever, and is no task.
func TestSoon(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		refused := &rpc.Error{Code: -32602, Message: "no"}
		for _, want := range []ending{{result: says("done")}, {err: refused}} {
			result, err := b.Do(t.Context(), Call{Patience: 5 * time.Second}, takes(4*time.Second, want.result, want.err))
			if result != want.result || err != want.err {
				t.Errorf("got %v, %v", result, err)
			}
		}
		if n := len(b.calls.All()); n != 0 {
			t.Errorf("%d tasks are kept", n)
		}
	})
}

// A call that takes long is a task, with all that its client has to know.
func TestLong(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		ctx, gone := context.WithCancel(t.Context())
		_, err := b.Do(ctx, Call{Owner: owner("ann"), Patience: 5 * time.Second}, func(ctx context.Context, task *Task) (*mcp.CallToolResult, error) {
			task.Say("half done")
			return takes(9*time.Second, says("done"), nil)(ctx, task)
		})
		gone() // a request that is answered ends
		want := seen{
			ResultType: "task", Status: "working", StatusMessage: "half done", TTLMs: 3600000, PollIntervalMs: 1000,
			CreatedAt: "2000-01-01T00:00:00Z", LastUpdatedAt: "2000-01-01T00:00:00Z",
		}
		got := b.task(err)
		want.TaskID = got.TaskID
		if diff := different(got, want); diff != "" {
			t.Error("the handle", diff)
		}
		want.ResultType = "" // the transport's
		if diff := different(b.get(got.TaskID), want); diff != "" {
			t.Error("while it works", diff)
		}
		time.Sleep(5 * time.Second)
		synctest.Wait()
		done := b.get(got.TaskID)
		want.Status, want.StatusMessage, want.LastUpdatedAt, want.TTLMs = "completed", "", "2000-01-01T00:00:09Z", 3609000
		want.Result = []byte(`{"content":[{"type":"text","text":"done"}],"resultType":"complete"}`)
		if diff := different(done, want); diff != "" {
			t.Error("at its end", diff)
		}
	})
}

func different(got, want seen) string {
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		return fmt.Sprintf("is\n%s\nwant\n%s", g, w)
	}
	return ""
}

// How a task ends.
func TestEndings(t *testing.T) {
	failing := says("no")
	failing.IsError = true
	for name, test := range map[string]struct {
		work            Work
		status, message string
		shows           string // the result or the error has that
	}{
		"a tool's error is a result": {takes(1, failing, nil), "completed", "", `"isError":true`},
		"an error of the protocol":   {takes(1, nil, &rpc.Error{Code: -32602, Message: "no such", Data: 1}), "failed", "no such", "{-32602 no such 1}"},
		"any other error":            {takes(1, nil, errors.New("broken")), "failed", "broken", "{-32603 broken <nil>}"},
		"nothing at all":             {takes(1, nil, nil), "failed", "the call has no result", "-32603"},
		"a panic": {func(context.Context, *Task) (*mcp.CallToolResult, error) {
			panic("secret")
		}, "failed", "internal error; the log of the server has it", "{-32603 internal error; the log of the server has it <nil>}"},
		"what cannot be encoded": {takes(1, &mcp.CallToolResult{StructuredContent: func() {}}, nil), "failed", "json:", "-32603"},
		"too large a result":     {takes(1, says(strings.Repeat("x", 2000)), nil), "failed", "the result is larger than", "-32603"},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, &Options{Bytes: 1000}, func(t *testing.T, b *bench) {
				id := b.begin(test.work)
				time.Sleep(time.Second)
				got := b.get(id)
				shown := string(got.Result)
				if got.Error != nil {
					shown += fmt.Sprint(*got.Error)
				}
				if got.Status != test.status || !strings.HasPrefix(got.StatusMessage, test.message) || !strings.Contains(shown, test.shows) {
					t.Errorf("%s (%s): %s", got.Status, got.StatusMessage, shown)
				}
			})
		})
	}
}

// Who cancels a task ends its work, and is answered alike before and after.
func TestCancel(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		ended := false
		id := b.begin(func(ctx context.Context, task *Task) (*mcp.CallToolResult, error) {
			defer func() { ended = true }()
			<-ctx.Done()
			time.Sleep(time.Second) // its sandbox goes
			return nil, context.Cause(ctx)
		})
		cancel := func() string { return b.ask("ann", "tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, id)) }
		if got := cancel(); got != "{}" {
			t.Error(got)
		}
		if got := b.get(id); got.Status != "working" {
			t.Errorf("%s, and the work goes on", got.Status)
		}
		time.Sleep(2 * time.Second)
		if got := b.get(id); got.Status != "cancelled" || got.Error != nil || got.Result != nil || !ended {
			t.Errorf("%+v, ended %t", got, ended)
		}
		if got := cancel(); got != "{}" {
			t.Error(got)
		}
		done := b.begin(takes(1, says("done"), nil))
		time.Sleep(time.Second)
		b.ask("ann", "tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, done))
		if got := b.get(done); got.Status != "completed" {
			t.Errorf("one that has ended is %s", got.Status)
		}
	})
}

// A request that is cancelled before there is a task ends the call.
func TestCancelOfTheRequest(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("enough")) })
		result, err := b.Do(ctx, Call{Patience: 5 * time.Second}, waits)
		if err != nil || result.Content[0].(mcp.TextContent).Text != "stopped: enough" {
			t.Errorf("got %v, %v", result, err)
		}
	})
}

// The end of a store, or of a principal, ends the tasks.
func TestEndOfAll(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		var causes []string
		note := func(ctx context.Context, task *Task) (*mcp.CallToolResult, error) {
			<-ctx.Done()
			causes = append(causes, context.Cause(ctx).Error())
			return says("stopped"), nil
		}
		id := b.begin(note)
		b.beginAs("bob", note)
		b.Leave(owner("ann"))
		synctest.Wait()
		if got := b.ask("ann", "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)); !strings.HasPrefix(got, "error -32602") {
			t.Error(got)
		}
		b.Close()
		if want := fmt.Sprint([]string{errLeft.Error(), sandbox.ErrClosed.Error()}); fmt.Sprint(causes) != want {
			t.Errorf("the causes are %q, want %s", causes, want)
		}
		if _, err := b.Do(t.Context(), Call{}, waits); !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
		if all := b.calls.All(); len(all) != 1 || b.bytes() != len(all[0].result) {
			t.Errorf("%d bytes are counted of %d tasks", b.bytes(), len(all))
		}
	})
}

// A drain waits for calls, and ends the tasks whose work goes on without them.
func TestDrain(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		_, err := b.Do(t.Context(), Call{Owner: owner("ann"), Detached: true}, takes(time.Hour, says("late"), nil))
		detached, call, began := b.task(err).TaskID, b.begin(takes(5*time.Second, says("done"), nil)), time.Now()
		b.Drain(t.Context())
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("it took %s", took)
		}
		if got := b.get(detached); got.Status != "failed" || got.StatusMessage != errStopping.Error() {
			t.Errorf("%+v", got)
		}
		if got := b.get(call); got.Status != "completed" {
			t.Errorf("%+v", got)
		}
	})
}
