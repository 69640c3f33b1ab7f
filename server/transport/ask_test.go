package transport

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// asking is a server whose tool ask asks the client its argument method.
func asking() *bench {
	b := newBench()
	b.AddTool(mcp.NewTool("ask"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := Request(ctx, r.GetString("method", ""), map[string]any{"message": "?"})
		if errors.Is(err, context.Canceled) {
			b.causes <- err
		}
		if err != nil {
			return mcp.NewToolResultText(err.Error()), nil
		}
		return mcp.NewToolResultText(string(result)), nil
	})
	return b
}

func TestRequest(t *testing.T) {
	able := strings.Replace(hello, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1)
	t.Run("answers", func(t *testing.T) {
		c := dial(t, asking().backend(), nil)
		c.send(able)
		c.recv()
		c.call("1", "ask", `{"method":"elicitation/create"}`)
		c.want(`"ask-1": elicitation/create{"message":"?"}`)
		c.ping()                                                                                     // the reading goes on
		c.send(`{"jsonrpc":"2.0","id":"ask-7","result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{}}`) // nobody asked
		c.send(`{"jsonrpc":"2.0","id":"ask-1","result":{"action":"accept"}}`)
		c.want(text("1", `{"action":"accept"}`))
		c.call("2", "ask", `{"method":"elicitation/create"}`)
		c.recv()
		c.send(`{"jsonrpc":"2.0","id":"ask-2","error":{"code":-1,"message":"no"}}`)
		c.want(text("2", `the client answered with error -1: no`))
		c.hangUp()
	})
	t.Run("cannot", func(t *testing.T) {
		c := dial(t, asking().backend(), nil)
		c.send(able)
		c.recv()
		for _, method := range []string{"sampling/createMessage", "roots/list", "tools/list"} {
			c.call("1", "ask", fmt.Sprintf(`{"method":%q}`, method))
			c.want(text("1", `the client takes no such request`))
		}
		modern := strings.Replace(modernMeta, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1)
		c.call("2", "ask", `{"method":"elicitation/create"}`, modern)
		if r := c.recv(); !strings.Contains(r.String(), "the client takes no such request") {
			t.Errorf("a modern client: %v", r)
		}
		c.hangUp()
	})
	t.Run("cancelled", func(t *testing.T) {
		b := asking()
		c := dial(t, b.backend(), nil)
		c.send(able)
		c.recv()
		c.call("1", "ask", `{"method":"elicitation/create"}`)
		c.recv()
		c.cancelCall("1", "never mind")
		if err := <-b.causes; err.Error() != "cancelled by the client: never mind" {
			t.Error(err)
		}
		c.send(`{"jsonrpc":"2.0","id":"ask-1","result":{}}`) // too late
		c.ping()
		c.hangUp()
	})
}
