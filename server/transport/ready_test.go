package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// unready returns a backend that is not ready, and a function that makes it ready. A
// list before that is an error.
func unready(t *testing.T) (b *bench, backend Backend, open func()) {
	ready := make(chan struct{})
	hooks := &mcpserver.Hooks{}
	hooks.AddBeforeListTools(func(context.Context, any, *mcp.ListToolsRequest) {
		if !isClosed(ready) {
			t.Error("tools were listed too early")
		}
	})
	b = newBench(mcpserver.WithHooks(hooks))
	backend = b.backend()
	backend.Lists, backend.Calls = ready, ready
	return b, backend, func() { close(ready) }
}

const list = `{"jsonrpc":"2.0","id":%s,"method":"tools/list","params":{%s}}`

// A client of either protocol connects at once. Its lists wait, and no notice comes of
// changes before them.
func TestStdioBeforeReady(t *testing.T) {
	for name, meta := range map[string]string{"legacy": "", "modern": modernMeta} {
		t.Run(name, func(t *testing.T) {
			b, backend, open := unready(t)
			c := dial(t, backend, nil).greet()
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{%s}}`, modernMeta))
			if got := c.recv(); got.Error != nil {
				t.Errorf("server/discover: %v", got)
			}
			c.send(fmt.Sprintf(list, "1", meta), fmt.Sprintf(list, "2", meta))
			c.call("3", "echo", `{"tag":"x"}`)
			c.ping() // and nothing else has come
			c.cancelCall("2", "impatient")
			b.AddTool(mcp.NewTool("first"), echo)
			c.ping()
			open()
			var got []string
			for range 2 { // in any order
				got = append(got, c.recv().String())
			}
			if all := strings.Join(got, "\n"); !strings.Contains(all, `1: {`) || !strings.Contains(all, `"first"`) || !strings.Contains(all, text("3", "x")) {
				t.Errorf("got %s", all)
			}
			b.AddTool(mcp.NewTool("second"), echo)
			c.want(": notifications/tools/list_changed")
			c.hangUp()
		})
	}
}

// A subscription begins when there is something that can change.
func TestListenBeforeReady(t *testing.T) {
	b, backend, open := unready(t)
	c := dial(t, backend, nil)
	listen(c, "1", `{"toolsListChanged":true}`)
	c.ping()
	b.AddTool(mcp.NewTool("first"), echo)
	open()
	c.want(fmt.Sprintf(`: notifications/subscriptions/acknowledged{`+tag+`,"notifications":{"toolsListChanged":true}}`, "1"))
	b.AddTool(mcp.NewTool("second"), echo)
	c.want(fmt.Sprintf(`: notifications/tools/list_changed{`+tag+`}`, "1"))
	c.cancelCall("1", "enough")
	c.hangUp()
}

func TestHTTPBeforeReady(t *testing.T) {
	_, backend, open := unready(t)
	s := serveHTTP(t, backend, nil)
	for _, v := range []*visitor{s.legacy("{}"), s.modern()} { // which has initialized
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			response, err := http.DefaultClient.Do(v.message(ctx, `"gone"`, "tools/list", "{}"))
			if err == nil {
				response.Body.Close()
			}
			gone <- err
		}()
		cancel()
		if err := <-gone; !errors.Is(err, context.Canceled) {
			t.Errorf("a client that has left: %v", err)
		}
		v.ask("ping", "{}").next()
	}
	if answer := s.modern().ask("server/discover", "{}"); answer.status != http.StatusOK {
		t.Errorf("server/discover: status %d", answer.status)
	}
	all := make(chan *replies)
	visitors := []*visitor{s.legacy("{}"), s.modern()}
	for _, v := range visitors {
		go func() { all <- v.ask("tools/list", "{}") }()
	}
	open()
	for range visitors {
		if m, err := (<-all).next(); err != nil || m.Error != nil || !strings.Contains(string(m.Result), `"echo"`) {
			t.Errorf("%v, %v", m, err)
		}
	}
}

// The end of the input lets requests wait for the lists, as long as that takes, and the
// end of the server does not.
func TestEndBeforeReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, backend, open := unready(t)
		c := dial(t, backend, nil).greet()
		c.hangUp() // at once

		c = dial(t, backend, nil).greet()
		c.send(fmt.Sprintf(list, "1", ""))
		c.ping()
		c.in.Close()
		time.Sleep(time.Minute)
		begin := time.Now()
		c.cancel(errors.New("over"))
		c.want("1: error -32603: not started: over")
		if err := c.wantEnd(); err == nil || err.Error() != "over" || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}

		c = dial(t, backend, nil).greet()
		c.send(fmt.Sprintf(list, "1", ""))
		c.ping()
		c.in.Close()
		time.Sleep(time.Minute)
		open()
		if got := c.recv(); got.Error != nil || !strings.Contains(string(got.Result), `"echo"`) {
			t.Errorf("got %v", got)
		}
		if err := c.wantEnd(); err != nil {
			t.Error(err)
		}
	})
}
