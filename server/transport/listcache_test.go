package transport

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// The answer to tools/list is made once for each state of the tools, and each
// client's way of asking.
func TestRemembered(t *testing.T) {
	var state, made atomic.Uint64
	hooks := &mcpserver.Hooks{}
	hooks.AddBeforeAny(func(_ context.Context, _ any, method mcp.MCPMethod, _ any) {
		if method == mcp.MethodToolsList {
			made.Add(1)
		}
	})
	b := newBench(mcpserver.WithHooks(hooks))
	c := dial(t, Backend{Core: b.MCPServer, State: state.Load}, nil).greet()
	read := func() string {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line
	}
	for _, step := range []struct {
		name    string
		do      func()
		id      string
		params  string
		made    uint64 // answers that were made for this request
		holds   string
		without string
	}{
		{"first", nil, "1", "", 1, `"name":"echo"`, `"name":"new"`},
		{"again", nil, `"a\u0062"`, "", 0, `"name":"echo"`, `"name":"new"`},
		{"large id", nil, "9007199254740993", "", 0, `"name":"echo"`, ""},
		{"other words", nil, "3", `,"params":{}`, 1, `"name":"echo"`, ""},
		{"modern", nil, "4", `,"params":{` + modernMeta + `}`, 1, `"resultType"`, ""},
		{"modern again", nil, "5", `,"params":{` + modernMeta + `}`, 0, `"resultType"`, ""},
		{"legacy after it", nil, "6", "", 0, `"name":"echo"`, `"resultType"`},
		{"an error", nil, "7", `,"params":{"cursor":"!"}`, 1, `"error"`, ""},
		{"an error again", nil, "8", `,"params":{"cursor":"!"}`, 1, `"error"`, ""},
		{"while tools change", func() {
			state.Add(1)
			b.AddTool(mcp.NewTool("new"), echo)
		}, "9", "", 1, `"name":"new"`, ""},
		{"still", nil, "10", "", 1, `"name":"new"`, ""},
		{"after it", func() { state.Add(1) }, "11", "", 1, `"name":"new"`, ""},
		{"after it again", nil, "12", "", 0, `"name":"new"`, ""},
	} {
		if step.do != nil {
			step.do()
		}
		before := made.Load()
		c.send(`{"jsonrpc":"2.0","id":` + step.id + `,"method":"tools/list"` + step.params + `}`)
		line := read()
		for strings.Contains(line, "list_changed") {
			line = read()
		}
		if !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":`+step.id+`,`) || !strings.Contains(line, step.holds) || step.without != "" && strings.Contains(line, step.without) {
			t.Errorf("%s: %s", step.name, line)
		}
		if got := made.Load() - before; got != step.made {
			t.Errorf("%s: %d answers were made, want %d", step.name, got, step.made)
		}
	}
	c.in.Close()
	for r, err := c.next(); err == nil; r, err = c.next() { // the notice of "new" may come late
		if r.Method != mcp.MethodNotificationToolsListChanged {
			t.Errorf("at the end came %v", r)
		}
	}
	if err := <-c.result; err != nil {
		t.Error(err)
	}
}
