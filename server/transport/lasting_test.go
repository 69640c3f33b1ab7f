package transport

import (
	"fmt"
	"strings"
	"testing"

	mcpserver "github.com/mark3labs/mcp-go/server"
)

// What stays in memory after its answer is bounded, however long messages may be.
func TestWhatIsKeptIsBounded(t *testing.T) {
	c := dial(t, newBench(mcpserver.WithResourceCapabilities(true, true)).backend(), nil)
	long := strings.Repeat("x", maxLasting)
	c.send(strings.Replace(hello, "tester", long, 1))
	c.want(fmt.Sprintf("0: error -32600: initialize is longer than %d bytes", maxLasting))
	listen(c, "1", `{"resourceSubscriptions":["`+long+`"]}`)
	c.want(fmt.Sprintf("1: error -32600: subscriptions/listen is longer than %d bytes", maxLasting))
	c.call("2", "echo", `{"tag":"x","more":"`+long+`"}`)
	c.want(text("2", "x"))
	c.send(`{"jsonrpc":"2.0","id":3,"method":"resources/subscribe","params":{"uri":"skill://` + long[:maxSubscribed] + `"}}`)
	if r := c.recv(); r.Error == nil || !strings.Contains(r.Error.Message, "longer than") {
		t.Error(r)
	}
	c.hangUp()
}
