package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Every call sends progress as its last act. mcp-go's own transport writes
// nearly all of it after the results.
func TestProgressPrecedesItsResult(t *testing.T) {
	const calls, atOnce, each = 300, 8, 3
	c := dial(t, newBench().backend(), nil).greet()
	slots := make(chan struct{}, atOnce)
	go func() {
		for i := range calls {
			slots <- struct{}{}
			c.call(fmt.Sprint(i), "progress", fmt.Sprintf(`{"n":%d}`, each), fmt.Sprintf(`"_meta":{"progressToken":"t%d"}`, i))
		}
	}()
	seen, done := map[string]int{}, map[string]bool{}
	for len(done) < calls {
		r := c.recv()
		if r.Method == "" {
			id := string(r.ID)
			if seen["t"+id] != each {
				t.Errorf("call %s: %d of %d progress messages before its result", id, seen["t"+id], each)
			}
			done[id] = true
			<-slots
			continue
		}
		var p struct {
			ProgressToken string
			Progress      int
		}
		json.Unmarshal(r.Params, &p)
		if seen[p.ProgressToken]++; p.Progress != seen[p.ProgressToken] {
			t.Errorf("%s: progress %d came as number %d", p.ProgressToken, p.Progress, seen[p.ProgressToken])
		}
		if done[p.ProgressToken[1:]] {
			t.Errorf("%s: progress after the result", p.ProgressToken)
		}
	}
	c.hangUp()
}

// Between the last progress of a call and its result is the time that a client
// needs to read them apart, and nothing else waits for it.
func TestResultStaysBehindProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		c := dial(t, b.backend(), nil).greet()
		arrived := func(want string) time.Time {
			t.Helper()
			if got := c.recv().String(); !strings.HasPrefix(got, want) {
				t.Fatalf("got %s, want %s", got, want)
			}
			return time.Now()
		}
		const meta = `"_meta":{"progressToken":"t"}`
		c.call("1", "progress", `{}`, meta)
		sent := arrived(": notifications/progress")
		c.call("2", "echo", `{}`, meta) // sends none
		if d := arrived("2: ").Sub(sent); d != 0 {
			t.Errorf("another call took %s", d)
		}
		if d := arrived("1: ").Sub(sent); d != progressGap {
			t.Errorf("the result came after %s", d)
		}

		c.call("3", "progress", `{}`, meta)
		sent = arrived(": notifications/progress")
		c.cancelCall("3", "")
		c.ping()
		if d := time.Since(sent); d != 0 {
			t.Errorf("a cancellation took %s", d)
		}

		b.AddTool(mcp.NewTool("later"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			err := sendProgress(ctx, r, 1)
			time.Sleep(time.Second)
			return mcp.NewToolResultText("later"), err
		})
		arrived(": notifications/tools/list_changed")
		c.call("4", "later", `{}`, meta)
		sent = arrived(": notifications/progress")
		if d := arrived("4: ").Sub(sent); d != time.Second {
			t.Errorf("a result that is late anyway came after %s", d)
		}
		c.hangUp()
	})
}

// mcp-go drops what does not fit in the channel; here the handler waits.
func TestSlowClientSlowsTheHandlerDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newBench().backend(), nil).greet()
		c.call("1", "progress", `{"n":1000}`, `"_meta":{"progressToken":"t"}`)
		synctest.Wait() // the handler is as far ahead as it gets
		for i := range 1000 {
			c.want(fmt.Sprintf(`: notifications/progress{"progress":%d,"progressToken":"t"}`, i+1))
		}
		c.want(text("1", "done"))
		c.hangUp()
	})
}

// A client that cancels gets its handler back, even one that waits to send.
func TestCancelEndsTheWaitOfASender(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		ended := make(chan error, 1)
		b.AddTool(mcp.NewTool("flood"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			for {
				if err := sendProgress(ctx, r, 1); err != nil {
					ended <- err
					return nil, err
				}
			}
		})
		c := dial(t, b.backend(), nil).greet()
		c.call("1", "flood", `{}`, `"_meta":{"progressToken":"t"}`)
		synctest.Wait()
		c.cancelCall("1", "")
		if err := <-ended; err == nil {
			t.Error("the handler did not learn that its progress goes nowhere")
		}
		c.recv() // the message that was being written
		c.ping()
		c.hangUp()
	})
}

func TestNothingAfterTheResult(t *testing.T) {
	b := newBench()
	returned, late := make(chan struct{}), make(chan error)
	b.AddTool(mcp.NewTool("stray"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		go func() {
			<-returned
			for range 20 {
				late <- sendProgress(ctx, r, 1)
			}
		}()
		return mcp.NewToolResultText("early"), sendProgress(ctx, r, 0)
	})
	c := dial(t, b.backend(), nil).greet()
	c.call("1", "stray", `{}`, `"_meta":{"progressToken":"t"}`)
	c.want(`: notifications/progress{"progress":0,"progressToken":"t"}`)
	c.want(text("1", "early"))
	close(returned)
	for range 20 {
		if err := <-late; err == nil {
			t.Error("late progress was accepted")
		}
	}
	c.ping()
	c.hangUp()
}

func TestLogMessagesKeepTheLevelOfTheClient(t *testing.T) {
	b := newBench()
	b.AddTool(mcp.NewTool("log"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		err := b.SendLogMessageToClient(ctx, mcp.NewLoggingMessageNotification(mcp.LoggingLevelInfo, "skill", "<hi>"))
		return mcp.NewToolResultText("logged"), err
	})
	c := dial(t, b.backend(), nil).greet()
	c.call("1", "log", `{}`)
	c.want(text("1", "logged")) // not asked for info
	c.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}`)
	c.want(`2: {}`)
	c.call("3", "log", `{}`)
	if r := c.recv(); r.Method != "notifications/message" {
		t.Errorf("got %v, want a log message", r)
	}
	c.want(text("3", "logged"))
	c.hangUp()
}

func TestChangeNoticesGoToThoseWhoInitialized(t *testing.T) {
	hooks, sessions := &mcpserver.Hooks{}, 0
	hooks.AddOnRegisterSession(func(context.Context, mcpserver.ClientSession) { sessions++ })
	hooks.AddOnUnregisterSession(func(context.Context, mcpserver.ClientSession) { sessions-- })
	b := newBench(mcpserver.WithHooks(hooks))
	c := dial(t, b.backend(), nil)
	change := func() {
		b.AddTool(mcp.NewTool("new"), echo)
	}
	c.ping()
	change()
	c.ping() // nothing yet
	c.greet()
	c.ping()
	change()
	c.want(": notifications/tools/list_changed")
	c.hangUp()
	if sessions != 0 {
		t.Errorf("%d sessions are left", sessions)
	}
}

// A broadcast is sent from wherever the catalog changes; mcp-go would drop what
// a client that does not read has no room for.
func TestBroadcastsNeitherBlockNorLoseTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		c := dial(t, b.backend(), nil).greet()
		for i := range 3 * maxNotices {
			b.AddTool(mcp.NewTool(fmt.Sprint("tool", i)), echo)
			b.SendNotificationToAllClients("notifications/resources/updated", map[string]any{"uri": i})
		}
		b.SendNotificationToAllClients("notifications/prompts/list_changed", nil)
		synctest.Wait()
		got, n := map[string]string{}, 0
		c.send(`{"jsonrpc":"2.0","id":"end","method":"ping"}`)
		go c.in.Close()
		for {
			r, err := c.next()
			if err != nil {
				break
			}
			got[r.Method], n = string(r.Params), n+1
		}
		if n > maxNotices+3 {
			t.Errorf("%d messages were kept for a client that did not read", n)
		}
		for _, method := range []string{"notifications/tools/list_changed", "notifications/prompts/list_changed"} {
			if _, ok := got[method]; !ok {
				t.Errorf("%s was lost", method)
			}
		}
		if want := fmt.Sprintf(`{"uri":%d}`, 3*maxNotices-1); got["notifications/resources/updated"] != want {
			t.Errorf("the last update is %s, want %s", got["notifications/resources/updated"], want)
		}
	})
}

// Edits that never pause are told once a second for each kind and each subscription, and
// the last one always, also where the client hangs up.
func TestEqualNoticesHaveAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench()
		c := dial(t, b.backend(), nil).greet()
		listen(c, "7", `{"toolsListChanged":true}`)
		c.recv()
		began, told := time.Now(), map[string][]time.Duration{}
		go func() {
			for range 25 { // 2.4 s
				b.SendNotificationToAllClients("notifications/resources/updated", map[string]any{"uri": "a"})
				b.SendNotificationToAllClients("notifications/resources/updated", map[string]any{"uri": "b"})
				b.SendNotificationToAllClients("notifications/tools/list_changed", nil)
				b.SendNotificationToAllClients("notifications/other", nil)
				time.Sleep(100 * time.Millisecond)
			}
			c.in.Close()
		}()
		for r, err := c.next(); err == nil; r, err = c.next() {
			told[r.Method+string(r.Params)] = append(told[r.Method+string(r.Params)], time.Since(began))
		}
		want := fmt.Sprint([]time.Duration{0, time.Second, 2 * time.Second, 2500 * time.Millisecond})
		for _, kind := range []string{`resources/updated{"uri":"a"}`, `resources/updated{"uri":"b"}`, "tools/list_changed", "tools/list_changed{" + fmt.Sprintf(tag, "7") + "}"} {
			if got := fmt.Sprint(told["notifications/"+kind]); got != want {
				t.Errorf("%s was told after %s, want %s", kind, got, want)
			}
		}
		if n := len(told["notifications/other"]); n != 25 {
			t.Errorf("%d of 25 notices that are of no change", n)
		}
	})
}

// mcp-go initialises the session of every modern request. If that were the
// client's, it would from then on get notices it has not subscribed to.
func TestModernRequests(t *testing.T) {
	b := newBench()
	sessions := make(chan mcpserver.ClientSession, 10)
	b.AddTool(mcp.NewTool("who"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		s := mcpserver.ClientSessionFromContext(ctx)
		sessions <- s
		return mcp.NewToolResultText(s.(mcpserver.SessionWithClientInfo).GetClientInfo().Name), nil
	})
	c := dial(t, b.backend(), nil)
	for id, method := range []string{"server/discover", "tools/list"} {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, method, modernMeta))
		var result struct{ ResultType string }
		if r := c.recv(); r.Error != nil || json.Unmarshal(r.Result, &result) != nil || result.ResultType != "complete" {
			t.Errorf("%s: %v", method, r)
		}
	}
	c.call("3", "progress", `{}`, modernMeta)
	c.want(`: notifications/progress{"progress":1,"progressToken":"m"}`)
	c.recv()
	c.call("4", "who", `{}`, modernMeta)
	c.recv()
	c.call("5", "who", `{}`, modernMeta)
	c.recv()
	if a, b := <-sessions, <-sessions; a.SessionID() == b.SessionID() {
		t.Error("two modern requests share a session")
	}
	b.AddTool(mcp.NewTool("new"), echo) // no notice
	c.ping()
	c.greet()
	c.call("6", "who", `{}`)
	c.want(text("6", "tester"))
	c.hangUp()
}

type panicking struct{}

func (panicking) MarshalJSON() ([]byte, error) { panic("secret") }

// The encoding happens in the goroutine of the mailbox, where nothing of
// mcp-go or of the handler would recover.
func TestPanicInANotification(t *testing.T) {
	b := newBench()
	b.AddTool(mcp.NewTool("bad"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		b.SendNotificationToClient(ctx, "notifications/x", map[string]any{"v": panicking{}})
		b.SendNotificationToAllClients("notifications/x", map[string]any{"v": panicking{}})
		return mcp.NewToolResultText("survived"), nil
	})
	c := dial(t, b.backend(), nil).greet()
	c.call("1", "bad", `{}`)
	c.want(text("1", "survived"))
	c.hangUp()
}
