package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/rpc"
)

// Methods that mcp-go does not know are answered like its own, in both
// generations.
func TestMethods(t *testing.T) {
	answer := func(result any, err error, cacheable bool) rpc.Method {
		return rpc.Method{Cacheable: cacheable, Handle: func(context.Context, json.RawMessage) (any, error) { return result, err }}
	}
	b := newBench().backend()
	b.Info = mcp.Implementation{Name: "s", Version: "1"}
	b.Methods = map[string]rpc.Method{
		"x/list":   answer(map[string]any{"xs": []int{9007199254740993}}, nil, true),
		"x/task":   answer(map[string]any{"resultType": "task", "_meta": map[string]any{"a": 1}}, nil, false),
		"x/refuse": answer(nil, &rpc.Error{Code: -32602, Message: "no such x", Data: map[string]any{"x": 1}}, false),
		"x/fail":   answer(nil, errors.New("broken"), false),
		"x/odd":    answer(func() {}, nil, false),
		"x/panic":  {Handle: func(context.Context, json.RawMessage) (any, error) { panic("secret") }},
		"x/version": {Handle: func(ctx context.Context, _ json.RawMessage) (any, error) {
			return map[string]any{"v": mcpserver.RequestProtocolVersion(ctx), "modern": mcpserver.IsModernRequest(ctx)}, nil
		}},
	}
	const info = `"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}`
	for _, test := range []struct{ method, params, want string }{
		{"x/list", `{}`, `{"xs":[9007199254740993]}`},
		{"x/list", `{` + modernMeta + `}`, `{"_meta":{` + info + `},"cacheScope":"private","resultType":"complete","ttlMs":5000,"xs":[9007199254740993]}`},
		{"x/task", `{` + modernMeta + `}`, `{"_meta":{"a":1,` + info + `},"resultType":"task"}`},
		{"x/refuse", `{}`, `error -32602: no such x`},
		{"x/fail", `{}`, `error -32603: broken`},
		{"x/odd", `{}`, `error -32603: internal error: the result cannot be encoded`},
		{"x/odd", `{` + modernMeta + `}`, `error -32603: internal error: the result cannot be encoded`},
		{"x/panic", `{}`, `error -32603: internal error`},
		{"x/version", `{}`, `{"modern":false,"v":"2025-11-25"}`},
		{"x/version", `{` + modernMeta + `}`, `{"_meta":{` + info + `},"modern":true,"resultType":"complete","v":"2026-07-28"}`},
		{"x/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01","io.modelcontextprotocol/clientCapabilities":{}}}`, `error -32022: unsupported protocol version: "2031-01-01" (supported: ` + fmt.Sprint(mcp.ValidProtocolVersions) + `)`},
		{"x/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, `error -32602: missing or invalid _meta field io.modelcontextprotocol/clientCapabilities`},
	} {
		t.Run(test.method, func(t *testing.T) {
			c := dial(t, b, nil).greet()
			c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, test.method, test.params))
			c.want("1: " + test.want)
			c.hangUp()
		})
	}
}

// mcp-go has one code for all errors of handlers.
func TestErrorsOfHandlers(t *testing.T) {
	hooks := &mcpserver.Hooks{}
	hooks.AddOnError(OnError)
	b := newBench(mcpserver.WithHooks(hooks))
	b.AddTool(mcp.NewTool("refuse"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("call: %w", &rpc.Error{Code: -32021, Message: "needs elicitation"})
	})
	c := dial(t, b.backend(), nil).greet()
	c.call("1", "refuse", `{}`)
	c.want("1: error -32021: needs elicitation")
	c.hangUp()
}

// TestErrorsOfRequests wants the protocol's codes and words for invalid requests, the
// same from every transport.
func TestErrorsOfRequests(t *testing.T) {
	hooks := &mcpserver.Hooks{}
	hooks.AddOnError(OnError)
	b := newBench(mcpserver.WithHooks(hooks), mcpserver.WithResourceCapabilities(true, true), mcpserver.WithPromptCapabilities(true), mcpserver.WithCompletions())
	c := dial(t, b.backend(), nil).greet()
	for i := range maxSubscriptions {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"a:%d"}}`, i))
		c.want("1: {}")
	}
	meta := func(old, new string) string { return strings.Replace("{"+modernMeta+"}", old, new, 1) }
	version := func(v string) string { return meta(`"2026-07-28"`, v) }
	for _, test := range []struct{ method, params, want string }{
		{"tools/list", version(`"1900-01-01"`), `error -32022: unsupported protocol version: "1900-01-01"`},
		{"tools/list", version(`"2031-01-01"`), `error -32022: unsupported protocol version: "2031-01-01"`},
		{"tools/list", version(`7`), `error -32602: _meta's io.modelcontextprotocol/protocolVersion must be a string`},
		{"tools/list", version(`"2025-06-18"`), `{`},
		{"tools/list", meta(`"progressToken"`, `"io.modelcontextprotocol/logLevel":"loud","progressToken"`), `error -32602: _meta's io.modelcontextprotocol/logLevel must be one of`},
		{"tools/list", meta(`"progressToken"`, `"io.modelcontextprotocol/logLevel":7,"progressToken"`), `error -32602: _meta's io.modelcontextprotocol/logLevel must be one of`},
		{"tools/list", meta(`"progressToken"`, `"io.modelcontextprotocol/logLevel":"notice","progressToken"`), `{`},
		{"logging/setLevel", `{"level":"loud"}`, `error -32602: invalid logging level 'loud'`},
		{"logging/setLevel", `{"level":{}}`, `error -32602: the params are not those of logging/setLevel`},
		{"tools/call", `{"name":7}`, `error -32602: the params are not those of tools/call`},
		{"tools/call", `{"name":"echo","_meta":[]}`, `error -32602: the params are not those of tools/call`},
		{"tools/call", `"echo"`, `error -32602: the params are not those of tools/call`},
		{"tools/list", `{"cursor":{}}`, `error -32602: the params are not those of tools/list`},
		{"prompts/get", `{"name":"x","arguments":{"a":1}}`, `error -32602: the params are not those of prompts/get`},
		{"completion/complete", `{"argument":{"name":"a","value":""}}`, `error -32602: the params are not those of completion/complete`},
		{"resources/subscribe", `{"uri":"a:many"}`, `error -32603: there are 1024 subscriptions already`},
		{"resources/subscribe", `{"uri":"a:` + strings.Repeat("x", maxSubscribed) + `"}`, `error -32602: the URI is longer than`},
	} {
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, test.method, test.params))
		if got := c.recv().String(); !strings.HasPrefix(got, "1: "+test.want) {
			t.Errorf("%s %.100s: %s\nwant %s", test.method, test.params, got, test.want)
		}
	}
	c.hangUp()
}

// A tool's handler may answer with a result of another type, which mcp-go has no
// way to say.
func TestOtherResults(t *testing.T) {
	hooks := &mcpserver.Hooks{}
	hooks.AddOnError(OnError)
	b := newBench(mcpserver.WithHooks(hooks))
	b.AddTool(mcp.NewTool("later"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, fmt.Errorf("call: %w", &rpc.Other{Result: map[string]any{"resultType": "task", "taskId": "t"}})
	})
	backend := b.backend()
	backend.Info = mcp.Implementation{Name: "s", Version: "1"}
	c := dial(t, backend, nil)
	c.call("1", "later", `{}`, modernMeta)
	c.want(`1: {"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}},"resultType":"task","taskId":"t"}`)
	c.hangUp()
}

// Over HTTP a header repeats what a request is about, also for methods that
// mcp-go does not know.
func TestNamedMethods(t *testing.T) {
	b := newBench().backend()
	b.Methods = map[string]rpc.Method{"x/get": {Named: "xId", Handle: func(context.Context, json.RawMessage) (any, error) {
		return struct{}{}, nil
	}}}
	s := serveHTTP(t, b, nil)
	const fine, mismatch = "200", "400 error -32020"
	for _, test := range []struct{ header, params, want string }{
		{"7", `{"xId":"7"}`, fine},
		{"=?base64?Nw==?=", `{"xId":"7"}`, fine},
		{"8", `{"xId":"7"}`, mismatch},
		{"", `{"xId":"7"}`, mismatch},
		{"=?base64?!?=", `{"xId":"7"}`, mismatch},
		{"", `{}`, fine}, // the method's to refuse
		{"7", `{"xId":7}`, fine},
	} {
		v := s.modern()
		request := v.message(t.Context(), "1", "x/get", test.params)
		request.Header.Set("Mcp-Name", test.header)
		answer := v.read(v.do(request))
		got := fmt.Sprint(answer.status)
		if m, err := answer.next(); err != nil || m.Error != nil {
			got, _, _ = strings.Cut(got+" "+strings.TrimPrefix(m.String(), "1: "), ": ")
		}
		if got != test.want {
			t.Errorf("%q for %s: %s, want %s", test.header, test.params, got, test.want)
		}
	}
}
