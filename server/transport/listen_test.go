package transport

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
)

const tag = `"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`

func listen(c *client, id, notifications string) {
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"subscriptions/listen","params":{"notifications":%s,%s}}`, id, notifications, modernMeta))
}

// A modern client gets the notices it listens for, each with the name of the
// subscription as it was sent, after the acknowledgement; and none that it has
// cancelled.
func TestListen(t *testing.T) {
	b := newBench(mcpserver.WithPromptCapabilities(true))
	c := dial(t, b.backend(), nil)
	const large = "9007199254740993" // which mcp-go makes ...992
	listen(c, large, `{"toolsListChanged":true}`)
	c.want(fmt.Sprintf(`: notifications/subscriptions/acknowledged{`+tag+`,"notifications":{"toolsListChanged":true}}`, large))
	listen(c, `"b"`, `{"toolsListChanged":true,"promptsListChanged":true}`)
	c.want(fmt.Sprintf(`: notifications/subscriptions/acknowledged{`+tag+`,"notifications":{"toolsListChanged":true,"promptsListChanged":true}}`, `"b"`))

	b.AddPrompt(mcp.NewPrompt("p"), nil)
	c.want(fmt.Sprintf(`: notifications/prompts/list_changed{`+tag+`}`, `"b"`))
	c.cancelCall(large, "enough")
	c.ping()
	b.AddTool(mcp.NewTool("new"), echo)
	c.want(fmt.Sprintf(`: notifications/tools/list_changed{`+tag+`}`, `"b"`))
	listen(c, `"b"`, `{"toolsListChanged":true}`)
	c.want(`"b": error -32600: a request with this id is already in flight`)
	b.SendNotificationToAllClients("notifications/x", nil) // nobody asked for it
	c.ping()
	c.in.Close()
	c.want(`"b": {"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"test","version":"1"},"io.modelcontextprotocol/subscriptionId":"b"},"resultType":"complete"}`)
	if err := c.wantEnd(); err != nil {
		t.Error(err)
	}
}

// Listening takes no place of a call, holds up no end, and has its own bound.
func TestListensAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := dial(t, newBench().backend(), &Options{bounds: bounds{calls: 1, queue: 1}})
		for i := range 64 {
			listen(c, fmt.Sprint(i), `{"toolsListChanged":true}`)
			c.recv()
		}
		listen(c, "99", `{"toolsListChanged":true}`)
		c.want("99: error -32603: too many requests in flight")
		c.call("1000", "echo", `{"tag":"x"}`)
		c.want(text("1000", "x"))
		begin := time.Now()
		c.in.Close()
		for range 64 {
			if r := c.recv(); r.Error != nil {
				t.Error(r)
			}
		}
		if err := c.wantEnd(); err != nil || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// A slow listener does not hold up what is published, and learns of each kind of
// change once.
func TestSlowListener(t *testing.T) {
	b := newBench()
	c := dial(t, b.backend(), nil)
	listen(c, "1", `{"toolsListChanged":true}`)
	c.recv()
	for i := range 1000 {
		b.AddTool(mcp.NewTool(fmt.Sprint("new", i)), echo)
	}
	c.cancelCall("1", "")
	seen := 0
	c.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	for r := c.recv(); r.Method != ""; r = c.recv() {
		seen++
	}
	if seen == 0 || seen > 2 { // one may have been on its way before the rest
		t.Errorf("%d notices", seen)
	}
	c.hangUp()
}

// Messages that come before the acknowledgement wait for it.
func TestNothingBeforeTheAcknowledgement(t *testing.T) {
	var got []string
	e := edge{log: newEdge(newBench().backend(), Options{}).log}
	h := &subscriptionFeed{id: []byte("1"), announce: func(n notice) { got = append(got, n.method) }, encode: e.encodeNotification}
	for _, method := range []string{"notifications/a", "notifications/subscriptions/acknowledged", "notifications/b"} {
		n := mcp.JSONRPCNotification{JSONRPC: "2.0"}
		n.Method = method
		h.deliver(n)
	}
	if want := "[notifications/subscriptions/acknowledged notifications/a notifications/b]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// A subscription to nothing is acknowledged, and over.
func TestListenToNothing(t *testing.T) {
	for range 100 { // the two have raced
		c := dial(t, newBench().backend(), nil)
		listen(c, "1", `{}`)
		c.want(fmt.Sprintf(`: notifications/subscriptions/acknowledged{`+tag+`,"notifications":{}}`, "1"))
		if r := c.recv(); string(r.ID) != "1" || r.Result == nil {
			t.Fatal(r)
		}
		c.hangUp()
	}
}
