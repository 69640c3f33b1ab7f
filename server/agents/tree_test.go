package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

// A forest has sessions with the real loop, whose model follows a script and whose tools
// spawn, as those of a server do.
type forest struct {
	*Sessions
	requests  atomic.Int64
	open      atomic.Int64 // clients of sessions
	connected atomic.Int64
}

type script = func(ctx context.Context, r chat.Request) (*chat.Reply, error)

// scripted is a model that follows a script, and counts its requests.
type scripted struct {
	f      *forest
	script script
}

func (m scripted) Complete(ctx context.Context, r chat.Request) (*chat.Reply, error) {
	m.f.requests.Add(1)
	return m.script(ctx, r)
}

func newForest(t testing.TB, o Options, script script) *forest {
	f := &forest{}
	o.Connect = func(_ context.Context, who identity.Principal, _ []string) (Tools, error) {
		f.open.Add(1)
		f.connected.Add(1)
		return &closing{fakeTools{tools: f.tools(who)}, func() { f.open.Add(-1) }}, nil
	}
	f.Sessions = newSessions(t, o)
	f.work = f.runLoop
	f.options.Models["big"].Client = scripted{f, script}
	f.options.Models["small"].Client = scripted{f, script}
	return f
}

// closing are tools that tell of their end.
type closing struct {
	fakeTools
	closed func()
}

func (c *closing) Close() { c.closed() }

func (f *forest) tools(who identity.Principal) map[string]func(context.Context, json.RawMessage) (string, bool) {
	type args struct{ Agent, Task, Label string }
	return map[string]func(context.Context, json.RawMessage) (string, bool){
		"spawn": func(ctx context.Context, raw json.RawMessage) (string, bool) {
			var a args
			if err := json.Unmarshal(raw, &a); err != nil {
				return err.Error(), true
			}
			one, err := f.Spawn(ctx, who, SpawnRequest{Agent: a.Agent, Task: a.Task, Label: a.Label})
			if err != nil {
				return err.Error(), true
			}
			return "run " + one.RunID, false
		},
	}
}

// spawns is a reply that spawns sessions with tasks, each with its task as label.
func spawns(tasks ...string) *chat.Reply {
	r := text("")
	for i, task := range tasks {
		args, _ := json.Marshal(map[string]string{"agent": "lead", "task": task, "label": task})
		r.Calls = append(r.Calls, chat.Call{ID: fmt.Sprint("c", i), Name: "spawn", Args: args})
	}
	return r
}

// sum is a script of a model that spawns a session for each part of its task in parentheses,
// "(a(b c) d)" one with the task "(b c)" named a, and one named d, and ends with all the names
// that it has heard of.
func sum(_ context.Context, r chat.Request) (*chat.Reply, error) {
	parts := partsOf(r.Messages[0].Text)
	var heard []string
	for _, m := range r.Messages[1:] {
		for line := range strings.Lines(m.Text) {
			if _, result, found := strings.Cut(line, "(done). Result: "); found && m.Role == chat.User {
				heard = append(heard, strings.Fields(result)...)
			}
		}
	}
	switch {
	case len(parts) > 0 && len(r.Messages) == 1:
		return spawns(parts...), nil
	case len(parts) > 0 && len(heard) == 0:
		return text("waiting"), nil
	}
	name, _, _ := strings.Cut(r.Messages[0].Text, "(")
	slices.Sort(heard)
	return text(strings.Join(append([]string{name}, heard...), " ")), nil
}

// partsOf returns the parts in the parentheses of a task.
func partsOf(task string) (parts []string) {
	_, inner, found := strings.Cut(task, "(")
	if !found {
		return nil
	}
	depth, part := 0, ""
	for _, c := range strings.TrimSuffix(inner, ")") {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		}
		if c == ' ' && depth == 0 {
			parts, part = append(parts, part), ""
			continue
		}
		part += string(c)
	}
	return append(parts, part)
}

// Sessions of three levels each hear of those below them, and the client of the top, once.
func TestTree(t *testing.T) {
	f := newForest(t, Options{Depth: 3}, sum)
	var all sync.WaitGroup
	var turns atomic.Int64 // of the tops, with all below them
	for _, who := range []identity.Principal{ann, bob} {
		all.Go(func() {
			one := spawn(t, f.Sessions, who, SpawnRequest{Task: "a(b(c d) e(f))", Label: "top"})
			await(t, f.Sessions, one)
			if got, want := taken(t, f.Sessions, who), `[Subagent Complete] "top" (done). Result: a b c d e f`; got != want {
				t.Errorf("%q, want %q", got, want)
			}
			if again := taken(t, f.Sessions, who); again != "" {
				t.Error("again:", again)
			}
			list, err := f.List(t.Context(), who, Done)
			if err != nil || len(list) != 6 {
				t.Errorf("%d sessions, %v", len(list), err)
			}
			for _, one := range list {
				if one.Depth == 1 {
					turns.Add(int64(one.Used.Turns))
				}
			}
		})
	}
	all.Wait()
	if f.open.Load() != 0 || f.connected.Load() != 12 {
		t.Errorf("of %d clients of sessions %d are open", f.connected.Load(), f.open.Load())
	}
	if turns.Load() != f.requests.Load() {
		t.Errorf("%d turns are used for %d requests", turns.Load(), f.requests.Load())
	}
}

// No tree makes more requests than its budget has: it ends with the budget, or with its
// result, for which 14 are enough, however its announcements come.
func TestTreeBudget(t *testing.T) {
	for turns := 1; turns <= 14; turns++ {
		f := newForest(t, Options{Depth: 3, Budget: Budget{Turns: turns}}, sum)
		one := spawn(t, f.Sessions, ann, SpawnRequest{Task: "a(b(c d) e(f))", Label: "top"})
		await(t, f.Sessions, one)
		got := taken(t, f.Sessions, ann)
		whole := strings.HasSuffix(got, `"top" (done). Result: a b c d e f`)
		used := strings.Contains(got, fmt.Sprintf(`"top" (error). Result: The budget of %d turns is used up.`, turns))
		if n := f.requests.Load(); n > int64(turns) || whole == used || used && n != int64(turns) || turns == 14 && !whole {
			t.Errorf("of %d turns %d are used: %s", turns, n, got)
		}
		list, err := f.List(t.Context(), ann, "")
		for _, one := range list {
			if one.Used.Turns > one.Budget.Turns || one.Status == Running {
				t.Errorf("%+v", one)
			}
		}
		if err != nil || len(list) != int(f.connected.Load()) || f.open.Load() != 0 {
			t.Errorf("%d sessions, of %d clients %d are open, %v", len(list), f.connected.Load(), f.open.Load(), err)
		}
	}
}

// Nobody goes deeper than the limit, and the model is told so.
func TestTreeDepth(t *testing.T) {
	var told atomic.Value
	f := newForest(t, Options{Depth: 2}, func(ctx context.Context, r chat.Request) (*chat.Reply, error) {
		for _, m := range r.Messages {
			if m.Failed {
				told.Store(m.Text)
				return text("I did it myself"), nil
			}
		}
		return sum(ctx, r)
	})
	one := spawn(t, f.Sessions, ann, SpawnRequest{Task: "a(b(c))"})
	await(t, f.Sessions, one)
	if got := taken(t, f.Sessions, ann); !strings.HasSuffix(got, "(done). Result: a I did it myself") {
		t.Error(got)
	}
	if text, _ := told.Load().(string); !strings.Contains(text, "at most 2 is allowed") || f.connected.Load() != 2 {
		t.Errorf("the model is told %q, with %d sessions", text, f.connected.Load())
	}
}

// A kill, and a time limit, end the requests and calls of a whole tree.
func TestTreeEnds(t *testing.T) {
	for _, kill := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			f := newForest(t, Options{Depth: 3, Timeout: time.Minute}, func(ctx context.Context, r chat.Request) (*chat.Reply, error) {
				if partsOf(r.Messages[0].Text) == nil {
					<-ctx.Done()
					return nil, context.Cause(ctx)
				}
				return sum(ctx, r)
			})
			spawn(t, f.Sessions, ann, SpawnRequest{Task: "a(b(c d) e)", Label: "top"})
			synctest.Wait()
			if f.open.Load() != 5 {
				t.Errorf("%d sessions run", f.open.Load())
			}
			want, status := "Its time limit was reached.", TimedOut
			if kill {
				want, status = "It was killed.", Killed
				if err := f.Kill(t.Context(), ann, "top"); err != nil {
					t.Error(err)
				}
			} else {
				time.Sleep(time.Minute)
				synctest.Wait()
			}
			if got := taken(t, f.Sessions, ann); got != fmt.Sprintf("[Subagent Complete] %q (%s). Result: %s Its last words: waiting", "top", status, want) {
				t.Error(got)
			}
			list, err := f.List(t.Context(), ann, status)
			if err != nil || len(list) != 5 || f.open.Load() != 0 {
				t.Errorf("%d sessions have ended, %d are open, %v", len(list), f.open.Load(), err)
			}
			f.Close()
		})
	}
}

// A message enters before the next request, and is answered by the next text without calls.
func TestTreeSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan *chat.Reply)
		f := newForest(t, Options{}, func(_ context.Context, r chat.Request) (*chat.Reply, error) {
			reply := <-release
			reply.Text += r.Messages[len(r.Messages)-1].Text
			return reply, nil
		})
		one := spawn(t, f.Sessions, ann, SpawnRequest{Task: "work", Label: "top"})
		synctest.Wait()
		got := make(chan string, 1)
		go func() {
			reply, err := f.Send(t.Context(), ann, "top", "hello", time.Minute)
			got <- fmt.Sprint(reply, err)
		}()
		for i, reply := range []*chat.Reply{text("1: "), calls("gone"), text("[Subagent Complete] 3: ")} { // the first was asked for before
			synctest.Wait()
			if len(got) > 0 {
				t.Errorf("reply %d is for the message: %s", i, <-got)
			}
			release <- reply
		}
		if reply := <-got; reply != `(Subagent Complete) 3: there is no tool "gone"<nil>` {
			t.Error(reply)
		}
		await(t, f.Sessions, one)
		history, err := f.History(t.Context(), ann, "top")
		want := "[user] work\n[assistant] 1: work\n[user] hello\n[assistant] hello → gone({})\n[tool] there is no tool \"gone\"\n[assistant] (Subagent Complete) 3: there is no tool \"gone\""
		if history != want || err != nil {
			t.Errorf("%s, want %s, %v", history, want, err)
		}
		f.Close()
	})
}

// What fails outside the loop ends a session, not the server.
func TestTreeFails(t *testing.T) {
	f := newForest(t, Options{}, func(context.Context, chat.Request) (*chat.Reply, error) { panic("no") })
	one := spawn(t, f.Sessions, ann, SpawnRequest{Label: "panics"})
	await(t, f.Sessions, one)
	f.options.Connect = func(context.Context, identity.Principal, []string) (Tools, error) {
		return nil, errors.New("no catalog")
	}
	two := spawn(t, f.Sessions, ann, SpawnRequest{Label: "alone"})
	await(t, f.Sessions, two)
	want := `[Subagent Complete] "panics" (error). Result: Internal error; the log of the server has it.` + "\n" + `[Subagent Complete] "alone" (error). Result: No catalog.`
	if got := taken(t, f.Sessions, ann); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// BenchmarkSpawn measures a spawn until its first request to the model.
func BenchmarkSpawn(b *testing.B) {
	asked := make(chan struct{})
	f := newForest(b, Options{}, func(context.Context, chat.Request) (*chat.Reply, error) {
		asked <- struct{}{}
		return text("done"), nil
	})
	for b.Loop() {
		one := spawn(b, f.Sessions, ann, SpawnRequest{})
		<-asked
		b.StopTimer()
		await(b, f.Sessions, one)
		b.StartTimer()
	}
}
