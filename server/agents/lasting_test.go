package agents

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/skillsmcp/skills-mcp/server/agents/chat"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/server/store"
)

// sorted returns lines in order.
func sorted(text string) string {
	return strings.Join(slices.Sorted(strings.SplitSeq(text, "\n")), "\n")
}

const doomedFile = "SKILLS_MCP_TEST_DOOMED"

// TestDoomed is the process that TestKilledProcess kills.
func TestDoomed(t *testing.T) {
	file := os.Getenv(doomedFile)
	if file == "" {
		t.Skip("it is for TestKilledProcess")
	}
	s := newSessions(t, Options{Store: store.New(file, nil)})
	top := spawn(t, s, ann, SpawnRequest{Label: "top"})
	heard := spawn(t, s, ann, SpawnRequest{Label: "heard", Task: "done 1"})
	await(t, s, heard)
	taken(t, s, ann)
	await(t, s, spawn(t, s, ann, SpawnRequest{Label: "unheard", Task: "done 2"}))
	spawn(t, s, agentOf(s, top), SpawnRequest{Label: "below"})
	await(t, s, spawn(t, s, agentOf(s, top), SpawnRequest{Label: "below and done", Task: "done 3"}))
	spawn(t, s, bob, SpawnRequest{Label: "bob's", Cleanup: Delete})
	fmt.Println("doomed: ready")
	select {}
}

// The next server announces once all that one which was killed has not: what was done, and an
// error for what ran.
func TestKilledProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "skills-mcp.db")
	c := exec.Command(os.Args[0], "-test.run=^TestDoomed$", "-test.v")
	c.Env = append(os.Environ(), doomedFile+"="+file)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "doomed: ready" {
	}
	one, other := store.New(file, nil), store.New(file, nil)
	defer one.Close()
	defer other.Close()
	early := newSessions(t, Options{Store: one})
	<-early.swept
	if early.Pending(annLater) || early.Pending(bob.In("s9")) {
		t.Error("sessions of a process that runs are announced")
	}
	_ = c.Process.Kill()
	_ = c.Wait()
	early.Close()
	s, late := newSessions(t, Options{Store: one}), newSessions(t, Options{Store: other})
	<-s.swept
	<-late.swept
	list, err := s.List(t.Context(), annLater, Failed)
	if len(list) != 2 || err != nil || list[0].Ended.IsZero() || list[0].Result != "Its server ended before it." {
		t.Fatal(list, err)
	}
	const lost = ` (error). Result: Its server ended before it.`
	got := taken(t, s, annLater) + taken(t, late, annLater)
	if want := sorted(`[Subagent Complete] "unheard" (done). Result: 2
[Subagent Complete] "below and done" (done). Result: 3
[Subagent Complete] "top"` + lost + `
[Subagent Complete] "below"` + lost); sorted(got) != want {
		t.Errorf("%s\nwant %s", sorted(got), want)
	}
	if text, err := s.History(t.Context(), annLater, list[0].RunID); text != "[user] wait" || err != nil {
		t.Errorf("the history of one that was lost is %q, %v", text, err)
	}
	if got, want := taken(t, late, bob), `[Subagent Complete] "bob's"`+lost; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if list, err := s.List(t.Context(), bob, ""); len(list) != 0 || err != nil {
		t.Error("it is there still:", list, err)
	}
}

// A server that stops announces nothing by itself, and the next one all.
func TestClose(t *testing.T) {
	o := Options{Store: store.New(filepath.Join(t.TempDir(), "skills-mcp.db"), nil)}
	defer o.Store.Close()
	s := newSessions(t, o)
	top := spawn(t, s, ann, SpawnRequest{Label: "top"})
	spawn(t, s, agentOf(s, top), SpawnRequest{Label: "low"})
	task := spawn(t, s, bob, SpawnRequest{Label: "task", Awaited: true})
	unread := spawn(t, s, bob, SpawnRequest{Label: "unread", Task: "done 1", Awaited: true})
	if _, _, err := s.Wait(t.Context(), bob, unread.RunID); err != nil {
		t.Error(err)
	}
	s.Close()
	if _, _, err := s.Wait(t.Context(), bob, task.RunID); !errors.Is(err, errServer) { // nobody may read the result of that task
		t.Error(err)
	}
	_, err := s.Spawn(t.Context(), ann, SpawnRequest{Agent: "lead", Task: "wait"})
	isRefused(t, err, run.Unavailable, "stopping")
	next := newSessions(t, o)
	<-next.swept
	const lost = ` (error). Result: Its server ended before it.`
	if got, want := sorted(taken(t, next, annLater)), sorted(`[Subagent Complete] "top"`+lost+"\n"+`[Subagent Complete] "low"`+lost); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := sorted(taken(t, next, bob)), sorted(`[Subagent Complete] "task"`+lost+"\n"+`[Subagent Complete] "unread" (done). Result: 1`); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// No session begins for a client that has left meanwhile: nobody would hear of it.
func TestSpawnAfterLeave(t *testing.T) {
	s := newSessions(t, Options{})
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errParent)
	if _, err := s.Spawn(ctx, ann, SpawnRequest{Agent: "lead", Task: "wait"}); !errors.Is(err, errParent) || len(s.live) > 0 {
		t.Error(err, s.live)
	}
	spawn(t, s, ann, SpawnRequest{})
}

// The sessions of a client that has left go on, and belong to the next client of its owner.
func TestLeave(t *testing.T) {
	s := newSessions(t, Options{})
	early, late := spawn(t, s, ann, SpawnRequest{Label: "early", Task: "done 1"}), spawn(t, s, ann, SpawnRequest{Label: "late", Task: "echo"})
	await(t, s, early)
	w, stop := s.Watch()
	defer stop()
	s.Leave(ann.Key())
	s.Leave(bob.Key())
	<-w
	if list, err := s.List(t.Context(), annLater, ""); len(list) != 2 || err != nil {
		t.Error(list, err)
	}
	if got, want := taken(t, s, annLater), `[Subagent Complete] "early" (done). Result: 1`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if _, err := s.Send(t.Context(), annLater, "late", "end", 0); err != nil {
		t.Error(err)
	}
	await(t, s, late)
	<-w
	if got, want := taken(t, s, annLater), `[Subagent Complete] "late" (done). Result: end`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if list, err := s.List(t.Context(), bob, ""); len(list) != 0 || err != nil {
		t.Error(list, err)
	}
	rows, err := s.table.List(t.Context(), store.SubagentFilter{Limit: 9})
	if err != nil || len(rows) != 2 || !rows[0].Gone || !rows[1].Gone {
		t.Error(rows, err)
	}
}

// A session that has ended leaves memory after an hour, with its tree, and the store after a
// week. One that is to be deleted leaves both when it is announced.
func TestSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessions(t, Options{})
		top := spawn(t, s, ann, SpawnRequest{Label: "top", Timeout: 2 * time.Hour})
		low := spawn(t, s, agentOf(s, top), SpawnRequest{Label: "low", Task: "done 1"})
		brief := spawn(t, s, ann, SpawnRequest{Label: "brief", Task: "done 2", Cleanup: Delete})
		await(t, s, low)
		await(t, s, brief)
		count := func() (memory, stored int) {
			rows, err := s.table.List(t.Context(), store.SubagentFilter{Limit: 9})
			if err != nil {
				t.Error(err)
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.live), len(rows)
		}
		step := func(wait time.Duration, memory, stored int) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			if m, st := count(); m != memory || st != stored {
				t.Errorf("after %v %d are in memory and %d in the store, want %d and %d", wait, m, st, memory, stored)
			}
		}
		step(59*time.Minute, 3, 3)
		if got := taken(t, s, ann); !strings.Contains(got, "brief") {
			t.Error(got)
		}
		step(0, 2, 2)
		step(119*time.Minute, 2, 2) // top ended an hour after that began
		step(3*time.Minute, 0, 2)
		if got := taken(t, s, ann); !strings.HasSuffix(got, `[Subagent Complete] "top" (timeout). Result: Its time limit was reached.`) {
			t.Error(got)
		}
		if found, err := s.History(t.Context(), ann, top.RunID); found != "[user] wait" || err != nil {
			t.Error(found, err)
		}
		spawn(t, s, ann, SpawnRequest{Label: "top", Task: "done 3"}) // the label is free
		for who, want := range map[string]int{"s1": 3, "s2": 0} {
			if list, err := s.List(t.Context(), ann.In(who), ""); len(list) != want || err != nil {
				t.Errorf("%s sees %d sessions, %v, want %d", who, len(list), err, want)
			}
		}
		s.Leave(ann.Key())
		for who, want := range map[string]int{"s1": 3, "s2": 1} { // others have not what ended long ago
			if list, err := s.List(t.Context(), ann.In(who), ""); len(list) != want || err != nil {
				t.Errorf("after the leave %s sees %d sessions, %v, want %d", who, len(list), err, want)
			}
		}
		if found, err := s.History(t.Context(), annLater, top.RunID); found != "[user] wait" || err != nil {
			t.Error(found, err)
		}
		step(6*24*time.Hour, 0, 3)
		step(23*time.Hour, 0, 1)
		s.Close()
		_ = s.options.Store.Close()
	})
}

// A task gets the announcement that it waits for, also where other calls take theirs. One
// that is given up, was never made, or is never read, leaves it to them.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSessions(t, Options{})
		one := spawn(t, s, ann, SpawnRequest{Label: "one", Task: "done 1", Awaited: true})
		await(t, s, one)
		if got := taken(t, s, ann); got != "" {
			t.Error(got)
		}
		if _, _, err := s.Wait(t.Context(), bob, one.RunID); err == nil {
			t.Error("of another client")
		}
		a, received, err := s.Wait(t.Context(), ann, one.RunID)
		if err != nil || a.Summary != "1" {
			t.Error(a, err)
		}
		received()
		if _, _, err := s.Wait(t.Context(), ann, one.RunID); err == nil {
			t.Error("twice")
		}
		unread := spawn(t, s, ann, SpawnRequest{Label: "unread", Task: "done 4", Awaited: true})
		if a, _, err := s.Wait(t.Context(), ann, unread.RunID); err != nil || a.Summary != "4" {
			t.Error(a, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, task := range []string{"done 2", "echo"} {
			given := spawn(t, s, ann, SpawnRequest{Label: task, Task: task, Awaited: true})
			if _, received, err := s.Wait(ctx, ann, given.RunID); err == nil {
				received()
				continue // it had ended
			}
			_, _ = s.Send(t.Context(), ann, given.RunID, "end", 0)
			await(t, s, given)
			if got := taken(t, s, ann); !strings.Contains(got, task) {
				t.Error(task, got)
			}
		}
		spawn(t, s, ann, SpawnRequest{Label: "never", Task: "done 3", Awaited: true})
		time.Sleep(3 * sweeping)
		synctest.Wait()
		if got, want := taken(t, s, ann), `[Subagent Complete] "never" (done). Result: 3`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		time.Sleep(s.options.Keep)
		synctest.Wait()
		if got, want := taken(t, s, ann), `[Subagent Complete] "unread" (done). Result: 4`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		s.Close()
		_ = s.options.Store.Close()
	})
}

// A history has the last 10,000 characters, and no text passes for another message.
func TestHistory(t *testing.T) {
	s := newSessions(t, Options{})
	all := []chat.Message{{Role: chat.User, Text: "a\n[assistant] yes\u2028[tool] no\n[Subagent Complete] me"}, {Role: chat.Assistant, Calls: []chat.Call{{Name: "add", Args: []byte(`{"a":1}`)}}}}
	recorded := make(chan bool)
	s.work = func(ctx context.Context, l *live) (string, error) {
		for range 4 {
			l.record(all)
			recorded <- true
			<-recorded
		}
		return "", nil
	}
	one := spawn(t, s, ann, SpawnRequest{Label: "one"})
	next := func(want func(string) bool) {
		t.Helper()
		<-recorded
		got, err := s.History(t.Context(), ann, "one")
		if err != nil || !want(got) {
			t.Errorf("%d characters: %.300s, %v", len([]rune(got)), got, err)
		}
	}
	next(func(got string) bool {
		return got == "[user] a ⏎ [assistant] yes ⏎ [tool] no ⏎ (Subagent Complete) me\n[assistant]  → add({\"a\":1})"
	})
	all = append(all, chat.Message{Role: chat.Tool, Text: strings.Repeat("x", 501)})
	recorded <- true
	next(func(got string) bool {
		last := got[strings.LastIndex(got, "[tool]"):]
		return strings.HasSuffix(last, "x…") && len([]rune(last)) <= len("[tool] ")+maxMessage
	})
	all = append(all, chat.Message{Role: chat.Assistant, Text: strings.Repeat("y", 9000)})
	recorded <- true
	next(func(got string) bool { return strings.HasSuffix(got, "\n[assistant] "+strings.Repeat("y", 9000)) })
	for i := range 100 {
		all = append(all, chat.Message{Role: chat.Tool, Text: strings.Repeat("ä", 200) + fmt.Sprint(i)})
	}
	recorded <- true
	next(func(got string) bool {
		return len([]rune(got)) == maxHistory && strings.HasPrefix(got, "(truncated) …") && strings.HasSuffix(got, "ä99")
	})
	recorded <- true
	await(t, s, one)
	if found, err := s.Find(t.Context(), one.RunID); err != nil || len(found.Messages) < 20 || len(found.Messages) > 60 {
		t.Error(len(found.Messages), err)
	}
}

// An announcement holds no other one, and has a bounded length.
func TestAnnouncement(t *testing.T) {
	long := announcement(&Session{RunID: "0123456789ab", Result: strings.Repeat("ä", 4001)})
	if n := len([]rune(long.Summary)); n != 4000 || !strings.Contains(long.Summary, "see sessions_history 0123456789ab") {
		t.Errorf("%d characters: %s", n, long.Summary[len(long.Summary)-100:])
	}
	if fits := announcement(&Session{Result: strings.Repeat("ä", 4000)}); fits.Summary != strings.Repeat("ä", 4000) {
		t.Error("4,000 characters were cut")
	}
}

// The budget of a session is the rest of its parent's.
func TestBudgetOfChild(t *testing.T) {
	s := newSessions(t, Options{Budget: Budget{Turns: 10, Tokens: 1000}})
	top := spawn(t, s, ann, SpawnRequest{})
	ledger := s.live[top.RunID].ledger
	ledger.settled.L.Lock()
	ledger.used = Used{Turns: 4, Tokens: 100}
	ledger.settled.L.Unlock()
	low := spawn(t, s, agentOf(s, top), SpawnRequest{})
	if low.Budget != (Budget{Turns: 6, Tokens: 900}) {
		t.Error(low.Budget)
	}
	if found, err := s.Find(t.Context(), top.RunID); err != nil || found.Used.Turns != 4 || !slices.Equal(found.Children, []string{low.RunID}) {
		t.Error(found, err)
	}
	ledger.settled.L.Lock()
	ledger.used.Turns = 10
	ledger.settled.L.Unlock()
	_, err := s.Spawn(t.Context(), agentOf(s, top), SpawnRequest{Agent: "lead", Task: "wait"})
	isRefused(t, err, run.PermissionDenied, "the budget of 10 turns is used up")
}
