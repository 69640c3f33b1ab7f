package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

func TestCancelRunning(t *testing.T) {
	b := newBench()
	c := dial(t, b.backend(), nil).greet()
	c.call("1", "block", `{}`, `"_meta":{"progressToken":"t"}`)
	<-b.started
	c.cancelCall("1", "no longer needed")
	cause, ok := errors.AsType[*CancelledError](<-b.causes)
	if !ok || cause.Reason != "no longer needed" || !errors.Is(cause, context.Canceled) {
		t.Errorf("cause %v", cause)
	}
	c.ping()
	c.hangUp() // neither progress nor a result
}

// mcp-go's transport reads nothing while its queue is full or the client does
// not take a reply.
func TestCancelIsReadWhileRepliesWait(t *testing.T) {
	b := newBench()
	c := dial(t, b.backend(), nil).greet()
	c.call("1", "block", `{}`)
	<-b.started
	const pings = maxReplies / 2
	for i := range pings {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d","method":"ping"}`, i))
	}
	c.cancelCall("1", "")
	<-b.causes
	for i := range pings {
		c.want(fmt.Sprintf(`"%d": {}`, i))
	}
	c.hangUp()
}

// The id is free and the slot given back.
func TestCancelFreesTheSlot(t *testing.T) {
	b := newBench()
	c := dial(t, b.backend(), &Options{bounds: bounds{calls: 1}}).greet()
	c.call("1", "block", `{}`)
	<-b.started
	c.cancelCall("1", "")
	c.call("1", "echo", `{"tag":"again"}`)
	c.want(text("1", "again"))
	c.hangUp()
}

func TestCancelQueued(t *testing.T) {
	b := newBench()
	c := dial(t, b.backend(), &Options{bounds: bounds{calls: 1}}).greet()
	c.call("1", "block", `{"tag":"first"}`)
	c.call(`"t\u0077o"`, "block", `{"tag":"second"}`)
	c.call("3", "echo", `{"tag":"third"}`)
	c.cancelCall(`"two"`, "") // the same string
	c.ping()
	b.release <- struct{}{}
	c.want(text("1", "released"))
	c.want(text("3", "third"))
	c.hangUp()
	close(b.started)
	for tag := range b.started {
		if tag != "first" {
			t.Errorf("%s was started", tag)
		}
	}
}

func TestCancelUnknown(t *testing.T) {
	c := dial(t, newBench().backend(), nil).greet()
	c.cancelCall("77", "")
	c.cancelCall("null", "")
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":[]}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	c.ping()
	c.hangUp()
}

func TestInitializeCannotBeCancelled(t *testing.T) {
	c := dial(t, newBench().backend(), nil)
	go func() {
		c.send(hello)
		c.cancelCall("0", "")
		c.in.Close()
	}()
	if r := c.recv(); string(r.ID) != "0" || r.Error != nil {
		t.Errorf("got %v", r)
	}
	if err := c.wantEnd(); err != nil {
		t.Error(err)
	}
}

// Both ids are the same float64, which is what mcp-go's table of running
// requests is keyed by.
func TestCancelDistinguishesLargeIDs(t *testing.T) {
	b := newBench()
	c := dial(t, b.backend(), nil).greet()
	c.call("9007199254740992", "block", `{"tag":"even"}`)
	<-b.started
	c.call("9007199254740993", "block", `{"tag":"odd"}`)
	<-b.started
	c.cancelCall("9007199254740993", "odd")
	<-b.causes
	b.release <- struct{}{}
	c.want(text("9007199254740992", "released"))
	c.hangUp()
}

func TestIDsAreEchoed(t *testing.T) {
	c := dial(t, newBench().backend(), nil).greet()
	for _, id := range []string{"9007199254740993", "-1", "1.50", "123456789012345678901234567890", `"9"`, `"<a\u0062>"`, `"7f3e-1"`} {
		c.call(id, "echo", `{"tag":"x"}`)
		c.want(text(id, "x"))
		c.call(id, "nonesuch", `{}`)
		if r := c.recv(); string(r.ID) != id || r.Error == nil {
			t.Errorf("error of %s: %v", id, r)
		}
	}
	c.hangUp()
}

func TestProgressTokensAreEchoed(t *testing.T) {
	c := dial(t, newBench().backend(), nil).greet()
	for i, token := range []string{"9007199254740993", "1e2", "7", `"9007199254740993"`, "1000000000000000000000001"} {
		c.call(fmt.Sprint(i), "progress", `{}`, `"_meta":{"progressToken":`+token+`}`)
		c.want(`: notifications/progress{"progress":1,"progressToken":` + token + `}`)
		c.recv()
	}
	c.hangUp()
}

func TestDuplicateID(t *testing.T) {
	b := newBench()
	c := dial(t, b.backend(), nil).greet()
	c.call("1", "block", `{}`)
	<-b.started
	c.call("1", "block", `{}`)
	c.want("1: error -32600: a request with this id is already in flight")
	c.send(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	c.want("1: error -32600: a request with this id is already in flight")
	b.release <- struct{}{}
	c.want(text("1", "released"))
	c.call("1", "echo", `{"tag":"free again"}`)
	c.want(text("1", "free again"))
	c.hangUp()
}

func TestBusy(t *testing.T) {
	b := newBench()
	c := dial(t, b.backend(), &Options{bounds: bounds{calls: 2, queue: 1}}).greet()
	c.call("1", "block", `{}`)
	c.call("2", "block", `{}`)
	c.call("3", "echo", `{"tag":"queued"}`)
	c.call("4", "echo", `{}`)
	c.want("4: error -32603: too many requests in flight")
	c.ping()
	c.cancelCall("3", "") // which makes room
	c.call("3", "echo", `{"tag":"queued"}`)
	c.ping()
	b.release <- struct{}{}
	c.recv()
	c.want(text("3", "queued"))
	b.release <- struct{}{}
	c.recv()
	c.hangUp()
}

// Small messages are bounded by their number, large ones by their size.
func TestBusyByBytes(t *testing.T) {
	const maxLine, size = 1000, 900
	b := newBench()
	c := dial(t, b.backend(), &Options{bounds: bounds{calls: 100, message: maxLine}}).greet()
	fits := 8 * maxLine / size
	for i := range 20 {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"block"}}`, 10+i)
		c.send(line + strings.Repeat(" ", size-len(line)))
		if i >= fits {
			c.want(fmt.Sprintf("%d: error -32603: too many requests in flight", 10+i))
		}
	}
	close(b.release)
	for range fits {
		c.recv()
	}
	c.call("1", "echo", `{"tag":"room again"}`)
	c.want(text("1", "room again"))
	c.hangUp()
}

func TestQueueIsInOrder(t *testing.T) {
	b := newBench()
	c := dial(t, b.backend(), &Options{bounds: bounds{calls: 1}}).greet()
	c.call("0", "block", `{}`)
	for i := range 50 {
		c.call(fmt.Sprint(i+1), "echo", `{"tag":"x"}`)
	}
	b.release <- struct{}{}
	c.recv()
	for i := range 50 {
		c.want(text(fmt.Sprint(i+1), "x"))
	}
	c.hangUp()
}

// Without a bound a client that does not read its replies costs a goroutine
// and a reply for each request it sends.
func TestClientThatDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newBench().backend(), nil).greet()
		before := runtime.NumGoroutine()
		var sent atomic.Int64
		go func() {
			for i := 0; ; i++ {
				for _, method := range []string{"tools/list", "ping", "tools/call"} {
					line := fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s%d","method":%q,"params":{"name":"progress","_meta":{"progressToken":1}}}`, method, i, method)
					if _, err := io.WriteString(c.in, line+"\n"); err != nil {
						return
					}
					sent.Add(1)
				}
			}
		}()
		synctest.Wait()
		if n := runtime.NumGoroutine() - before; n > 2*64+10 {
			t.Errorf("%d goroutines", n)
		}
		if n := sent.Load(); n > 1000 {
			t.Errorf("%d requests were read", n)
		}
		c.cancel(errors.New("enough"))
		if err := <-c.result; err == nil || err.Error() != "enough" {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestPanicCostsOneRequest(t *testing.T) {
	var log bytes.Buffer
	c := dial(t, newBench().backend(), &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}).greet()
	c.call("1", "panic", `{}`)
	c.want("1: error -32603: internal error")
	c.ping()
	c.hangUp()
	if s := log.String(); !strings.Contains(s, "secret") || !strings.Contains(s, "harness_test.go") {
		t.Errorf("no panic and stack in the log: %s", s)
	}
}

func TestPanicInANotificationHandler(t *testing.T) {
	b := newBench()
	b.AddNotificationHandler("notifications/x", func(context.Context, mcp.JSONRPCNotification) { panic("secret") })
	c := dial(t, b.backend(), nil).greet()
	c.send(`{"jsonrpc":"2.0","method":"notifications/x"}`)
	c.ping()
	c.hangUp()
}

// mcp-go's transport answers nothing at all.
func TestUnencodableResult(t *testing.T) {
	b := newBench()
	b.AddTool(mcp.Tool{Name: "broken", RawInputSchema: []byte("{")}, echo)
	c := dial(t, b.backend(), nil).greet()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	c.want("1: error -32603: internal error: the result cannot be encoded")
	c.hangUp()
}

func TestMalformedMessages(t *testing.T) {
	c := dial(t, newBench().backend(), &Options{bounds: bounds{message: 2000}}).greet()
	for _, test := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":1,`, ": error -32700: not valid JSON: unexpected end of JSON input"},
		{`nonsense`, ": error -32700: not valid JSON: invalid character 'o' in literal null (expecting 'u')"},
		{` [{"jsonrpc":"2.0","id":1,"method":"ping"}]`, ": error -32600: batches are not supported: send one message a line"},
		{`7`, ": error -32600: not a JSON-RPC message"},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, "1: error -32600: not a JSON-RPC message"},
		{`{"id":1,"method":"ping"}`, `1: error -32600: "jsonrpc" must be "2.0"`},
		{`{"jsonrpc":"2.0","id":1}`, "1: error -32600: neither a request, a notification nor a response"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, "1: error -32600: both a request and a response"},
		{`{"jsonrpc":"2.0","id":null,"method":"ping"}`, ": error -32600: the id must be a short string or a number"},
		{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, ": error -32600: the id must be a short string or a number"},
		{`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", maxID) + `","method":"ping"}`, ": error -32600: the id must be a short string or a number"},
		{strings.Repeat("x", 2001), ": error -32600: message longer than 2000 bytes"},
		{strings.Repeat("x", 1<<20), ": error -32600: message longer than 2000 bytes"},
		{`{"jsonrpc":"2.0","id":1,"method":"nonesuch"}`, "1: error -32601: Method nonesuch not found"},
	} {
		c.send(test.line)
		c.want(test.want)
		c.ping()
	}
	c.hangUp()
}

func TestBlankLinesAndLineEnds(t *testing.T) {
	c := dial(t, newBench().backend(), nil)
	go func() {
		io.WriteString(c.in, "\n\r\n  \t\n"+`{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\r\n")
		io.WriteString(c.in, `{"jsonrpc":"2.0","id":2,"method":"ping"}`) // no end
		c.in.Close()
	}()
	c.want("1: {}")
	c.want("2: {}")
	if err := c.wantEnd(); err != nil {
		t.Error(err)
	}
}

// mcp-go answers an error response as an unknown method.
func TestResponsesAreNotAnswered(t *testing.T) {
	c := dial(t, newBench().backend(), nil).greet()
	c.send(
		`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}`,
		`{"jsonrpc":"2.0","id":1,"result":null}`,
	)
	c.ping()
	c.hangUp()
}

// A client may send its first requests together with initialize, and have
// something to read yet when it does.
func TestInitializeIsAnsweredFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newBench().backend(), nil)
		c.send(`{"jsonrpc":"2.0","id":"early","method":"ping"}`)
		synctest.Wait() // in the writing
		go c.send(hello, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		synctest.Wait()
		for _, id := range []string{`"early"`, "0", "1"} {
			if r := c.recv(); string(r.ID) != id {
				t.Errorf("got %v, want the answer to %s", r, id)
			}
		}
		c.hangUp()
	})
}

// A notice sent between mcp-go's Initialize and the writing of the reply.
func TestNoNoticeBeforeTheReplyToInitialize(t *testing.T) {
	var b *bench
	hooks := &mcpserver.Hooks{}
	hooks.AddAfterInitialize(func(context.Context, any, *mcp.InitializeRequest, *mcp.InitializeResult) {
		b.AddTool(mcp.NewTool("new"), echo)
	})
	b = newBench(mcpserver.WithHooks(hooks))
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, b.backend(), nil)
		c.send(hello)
		synctest.Wait()
		if r := c.recv(); string(r.ID) != "0" {
			t.Errorf("first came %v", r)
		}
		c.ping()
		c.hangUp()
	})
}

// A resource that is not there has a code of its own, in each generation.
func TestResourceNotFound(t *testing.T) {
	b := newBench()
	b.AddResourceTemplate(mcp.NewResourceTemplate("x://{name}", "x"), func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
		if r.Params.URI == "x://broken" {
			return nil, errors.New("broken")
		}
		return nil, fmt.Errorf("no %s: %w", r.Params.URI, mcpserver.ErrResourceNotFound)
	})
	c := dial(t, b.backend(), nil).greet()
	read := func(uri, more string) {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":%q%s}}`, uri, more))
	}
	read("x://gone", "")
	c.want("1: error -32002: no x://gone: resource not found")
	read("x://gone", ","+modernMeta)
	c.want("1: error -32602: no x://gone: resource not found")
	read("x://broken", "")
	c.want("1: error -32603: broken")
	c.hangUp()
}
