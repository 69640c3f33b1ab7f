package transport

import (
	"context"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

// Modern requests have a session each, and yet one caller: the stream, which is
// also the session that ends with it.
func TestOneCallerForAStream(t *testing.T) {
	hooks, ended := &mcpserver.Hooks{}, make(chan string, 2)
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) { ended <- session.SessionID() })
	b := newBench(mcpserver.WithHooks(hooks))
	sessions, callers := map[string]bool{}, map[string]bool{}
	seen := make(chan struct{})
	b.AddTool(mcp.NewTool("who"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		session := mcpserver.ClientSessionFromContext(ctx)
		sessions[session.SessionID()], callers[session.(interface{ Caller() string }).Caller()] = true, true
		seen <- struct{}{}
		return mcp.NewToolResultText("ok"), nil
	})
	c := dial(t, b.backend(), nil).greet()
	for _, meta := range []string{modernMeta, modernMeta, `"_meta":{}`} {
		c.call("1", "who", `{}`, meta)
		<-seen
		c.recv()
	}
	c.hangUp()
	if len(sessions) != 3 || len(callers) != 1 || !callers[<-ended] {
		t.Errorf("sessions %v, callers %v", sessions, callers)
	}
}
