package tasks

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/server/replica"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// sharing returns the tasks of another server of a store, and the function that has the other
// servers take it for ended.
func sharing(t *testing.T, file string) (b *bench, leave func()) {
	t.Helper()
	s := store.New(file, nil)
	set := replica.New(s, "http://127.0.0.1:1", nil, nil)
	if err := set.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	b = &bench{New(&Options{Replicas: set}), t}
	leave = sync.OnceFunc(set.Close)
	t.Cleanup(func() {
		b.Close()
		leave()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return b, leave
}

// A task is found at another server, by its owner alone. When its server is gone it fails, at
// all servers and once, also where it ends later.
func TestTaskOfAnother(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	a, leave := sharing(t, file)
	b, _ := sharing(t, file)
	c, _ := sharing(t, file)
	release := make(chan struct{})
	id := a.begin(func(context.Context, *Task) (*mcp.CallToolResult, error) { <-release; return says("late"), nil })
	named := fmt.Sprintf(`{"taskId":%q}`, id)
	const none, away = "error -32602: there is no such task", "error -32603: the server of this task cannot be reached"
	for _, test := range []struct{ name, method, want string }{
		{"ann", "tasks/get", `"status":"working"`}, {"ann", "tasks/cancel", away}, {"ann", "tasks/update", away},
		{"bob", "tasks/get", none}, {"bob", "tasks/cancel", none},
	} {
		if got := b.ask(test.name, test.method, named); !strings.Contains(got, test.want) {
			t.Errorf("%s %s: %s", test.name, test.method, got)
		}
	}
	leave()
	answers := make([]string, 16)
	var all sync.WaitGroup
	for i := range answers {
		all.Go(func() { answers[i] = []*bench{b, c}[i%2].ask("ann", "tasks/get", named) })
	}
	all.Wait()
	for _, got := range answers {
		if got != answers[0] || !strings.Contains(got, `"status":"failed"`) || !strings.Contains(got, "it may have run") {
			t.Errorf("%s\nand %s", got, answers[0])
		}
	}
	if got := b.ask("bob", "tasks/get", named); !strings.Contains(got, none) {
		t.Error(got)
	}
	task := a.find(owner("ann"), id)
	close(release)
	<-task.Done()
	if got := a.get(id); got.Status != "failed" || !strings.Contains(got.StatusMessage, "it may have run") {
		t.Errorf("%+v", got)
	}
}

// The result of a task outlives its server, but one that is too long.
func TestResultOfAnother(t *testing.T) {
	file := filepath.Join(t.TempDir(), "state.db")
	a, leave := sharing(t, file)
	b, _ := sharing(t, file)
	ids := map[string]string{}
	for name, text := range map[string]string{"short": "done", "long": strings.Repeat("x", maxShared)} {
		read := false
		ids[name] = a.begin(func(_ context.Context, task *Task) (*mcp.CallToolResult, error) {
			task.OnRead(func() { read = true })
			return says(text), nil
		})
		<-a.find(owner("ann"), ids[name]).Done()
		if read != (name == "short") { // others can give it
			t.Errorf("%s: read: %t", name, read)
		}
	}
	leave()
	if got := b.get(ids["short"]); got.Status != "completed" || !strings.Contains(string(got.Result), "done") {
		t.Errorf("%+v", got)
	}
	if got := b.get(ids["long"]); got.Status != "failed" {
		t.Errorf("%s", got.Status)
	}
	if got := b.ask("ann", "tasks/cancel", fmt.Sprintf(`{"taskId":%q}`, ids["short"])); got != "{}" {
		t.Error(got)
	}
}
