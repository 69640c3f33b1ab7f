package transport

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}}`

// modernMeta is the _meta of a modern request.
const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"modern","version":"2"},"progressToken":"m"}`

// bench is an MCP server with tools for tests.
type bench struct {
	*mcpserver.MCPServer
	started chan string   // the tag of every call of block, as it starts
	release chan struct{} // lets one call of block end
	causes  chan error    // why a call of block was cancelled
}

func newBench(opts ...mcpserver.ServerOption) *bench {
	opts = append([]mcpserver.ServerOption{mcpserver.WithToolCapabilities(true), mcpserver.WithLogging()}, opts...)
	b := &bench{
		MCPServer: mcpserver.NewMCPServer("test", "1", opts...),
		started:   make(chan string, 100),
		release:   make(chan struct{}),
		causes:    make(chan error, 100),
	}
	b.AddTools(
		mcpserver.ServerTool{Tool: mcp.NewTool("echo"), Handler: echo},
		mcpserver.ServerTool{Tool: mcp.NewTool("progress"), Handler: progress},
		mcpserver.ServerTool{Tool: mcp.NewTool("block"), Handler: b.block},
		mcpserver.ServerTool{Tool: mcp.NewTool("panic"), Handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			panic("secret")
		}},
	)
	return b
}

func (b *bench) backend() Backend { return Backend{Core: b.MCPServer} }

func echo(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	return mcp.NewToolResultText(r.GetString("tag", "")), nil
}

// progress sends as many progress messages as its argument n says, the last
// just before it returns.
func progress(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	for i := range r.GetInt("n", 1) {
		if err := sendProgress(ctx, r, i+1); err != nil {
			return nil, err
		}
	}
	return mcp.NewToolResultText("done"), nil
}

func sendProgress(ctx context.Context, r mcp.CallToolRequest, i int) error {
	return mcpserver.ServerFromContext(ctx).SendNotificationToClient(ctx, "notifications/progress", map[string]any{
		"progressToken": r.Params.Meta.ProgressToken,
		"progress":      i,
	})
}

// block reports its start, waits to be released or cancelled, tries to send
// progress and returns.
func (b *bench) block(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	b.started <- r.GetString("tag", "")
	select {
	case <-b.release:
	case <-ctx.Done():
		b.causes <- context.Cause(ctx)
	}
	if r.Params.Meta != nil {
		sendProgress(ctx, r, 1)
	}
	return mcp.NewToolResultText("released"), nil
}

// reply is any message of the server.
type reply struct {
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
	}
}

func (r reply) String() string {
	if r.Error != nil {
		return fmt.Sprintf("%s: error %d: %s", r.ID, r.Error.Code, r.Error.Message)
	}
	return fmt.Sprintf("%s: %s%s%s", r.ID, r.Method, r.Params, r.Result)
}

// client speaks to one run of ServeStdio over pipes without buffers.
type client struct {
	t      testing.TB
	in     *io.PipeWriter
	out    *io.PipeReader
	lines  *bufio.Reader
	cancel context.CancelCauseFunc
	result chan error // of ServeStdio
}

func dial(t testing.TB, b Backend, options *Options) *client {
	t.Helper()
	r, in := io.Pipe()
	out, w := io.Pipe()
	ctx, cancel := context.WithCancelCause(t.Context())
	c := &client{t, in, out, bufio.NewReaderSize(out, 16), cancel, make(chan error, 1)}
	go func() {
		c.result <- ServeStdio(ctx, b, r, w, options)
		w.Close()
	}()
	t.Cleanup(func() { in.Close(); out.Close(); cancel(nil) })
	return c
}

// greet does the handshake.
func (c *client) greet() *client {
	c.t.Helper()
	c.send(hello)
	if r := c.recv(); r.Error != nil {
		c.t.Fatalf("initialize: %v", r)
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *client) send(lines ...string) {
	c.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(c.in, line+"\n"); err != nil {
			c.t.Fatalf("send: %v", err)
		}
	}
}

// call sends tools/call with the arguments and more fields of params.
func (c *client) call(id, tool, arguments string, more ...string) {
	c.t.Helper()
	extra := ""
	for _, m := range more {
		extra += "," + m
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q,"arguments":%s%s}}`, id, tool, arguments, extra))
}

func (c *client) cancelCall(id, reason string) {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":%q}}`, id, reason))
}

// ping proves that everything sent before has been read, and that nothing was
// written but what the caller has taken.
func (c *client) ping() {
	c.t.Helper()
	c.send(`{"jsonrpc":"2.0","id":"ping","method":"ping"}`)
	c.want(`"ping": {}`)
}

func (c *client) recv() reply {
	c.t.Helper()
	r, err := c.next()
	if err != nil {
		c.t.Fatalf("receive: %v", err)
	}
	return r
}

func (c *client) next() (r reply, err error) {
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("%q: %w", line, err)
	}
	return r, nil
}

// want takes one message, whose String it compares.
func (c *client) want(s string) {
	c.t.Helper()
	if got := c.recv().String(); got != s {
		c.t.Fatalf("got %s\nwant %s", got, s)
	}
}

// wantEnd takes the end of the output and returns the result of Serve.
func (c *client) wantEnd() error {
	c.t.Helper()
	if r, err := c.next(); err != io.EOF {
		c.t.Fatalf("got %v, %v; want the end", r, err)
	}
	return <-c.result
}

// hangUp ends the input and wants nothing more in the output.
func (c *client) hangUp() {
	c.t.Helper()
	c.in.Close()
	if err := c.wantEnd(); err != nil {
		c.t.Fatalf("Serve: %v", err)
	}
}

func text(id, s string) string {
	return fmt.Sprintf(`%s: {"content":[{"type":"text","text":%q}]}`, id, s)
}

// stay is a tool that ignores its context until release is closed.
func stay(release <-chan struct{}) (mcp.Tool, mcpserver.ToolHandlerFunc) {
	return mcp.NewTool("stay"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-release
		return mcp.NewToolResultText("at last"), nil
	}
}
