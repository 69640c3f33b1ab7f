package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills/schema"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// Bounds of a server's replies.
const (
	maxInstructions = 16 << 10 // bytes
	maxTools        = 256
	maxPages        = 32
	maxRequests     = 8 // of the server that wait for an answer
)

// A client speaks MCP with one server.
type client struct {
	wire    transport.BidirectionalInterface
	redact  sandbox.Redactor // nil changes nothing
	allow   func()           // called before each request
	changes chan<- struct{}  // has room for one notice that the tools have changed
	ids     atomic.Int64
	asking  chan struct{} // has room for the questions that wait

	mu      sync.Mutex
	running map[int64]*running // calls by the number of their request
}

// newClient returns a client over a transport that is not started.
func newClient(wire transport.BidirectionalInterface, redact sandbox.Redactor, allow func(), changes chan<- struct{}) *client {
	c := &client{wire: wire, redact: redact, allow: allow, changes: changes, asking: make(chan struct{}, maxRequests), running: map[int64]*running{}}
	wire.SetNotificationHandler(c.notified)
	wire.SetRequestHandler(c.requested)
	return c
}

// A replyError is the error of a server's reply.
type replyError struct {
	code    int
	message string
}

// Error implements error.
func (e *replyError) Error() string {
	return fmt.Sprintf("it refuses: %s (%d)", truncate.String(termtext.Visible(e.message), 1000), e.code)
}

// request makes a request. The error is a [*replyError] where the server refuses it.
func (c *client) request(ctx context.Context, id int64, method string, params map[string]any) (json.RawMessage, error) {
	c.allow()
	reply, err := c.wire.SendRequest(ctx, transport.JSONRPCRequest{JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Method: method, Params: params})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	case reply.Error != nil:
		return nil, &replyError{reply.Error.Code, reply.Error.Message}
	}
	return reply.Result, nil
}

// redacted returns a reply that is kept, and that others see, without secrets.
func (c *client) redacted(raw json.RawMessage) json.RawMessage {
	if c.redact == nil {
		return raw
	}
	return json.RawMessage(c.redact.String(string(raw)))
}

// notify sends a notification.
func (c *client) notify(ctx context.Context, method string, params map[string]any) error {
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method, n.Params.AdditionalFields = method, params
	return c.wire.SendNotification(ctx, n)
}

// initialize agrees with the server on the protocol, and returns its instructions. The
// transport lasts as long as life.
func (c *client) initialize(ctx, life context.Context, version string) (instructions string, err error) {
	if err := c.wire.Start(life); err != nil {
		return "", err
	}
	raw, err := c.request(ctx, c.ids.Add(1), "initialize", map[string]any{
		"protocolVersion": mcp.ProtocolVersion20251125, // the newest that begins so
		"capabilities":    map[string]any{"elicitation": map[string]any{}},
		"clientInfo":      map[string]any{"name": "skills-mcp", "version": cmp.Or(version, "dev")},
	})
	if err != nil {
		return "", fmt.Errorf("initialize: %w", err)
	}
	var agreed struct{ ProtocolVersion, Instructions string }
	if err := json.Unmarshal(c.redacted(raw), &agreed); err != nil || !mcp.IsValidProtocolVersion(agreed.ProtocolVersion) {
		return "", fmt.Errorf("initialize: it speaks no revision of MCP that is known here (%.40q)", agreed.ProtocolVersion)
	}
	if over, ok := c.wire.(transport.HTTPConnection); ok {
		over.SetProtocolVersion(agreed.ProtocolVersion)
	}
	return truncate.String(agreed.Instructions, maxInstructions), c.notify(ctx, "notifications/initialized", nil)
}

// tools lists the tools of the server.
func (c *client) tools(ctx context.Context) (all []tool, err error) {
	size := 0
	params := map[string]any{}
	for page := 0; ; page++ {
		raw, err := c.request(ctx, c.ids.Add(1), "tools/list", params)
		if refused, ok := errors.AsType[*replyError](err); ok && refused.code == mcp.METHOD_NOT_FOUND {
			return nil, nil // it has none
		}
		var reply struct {
			Tools      []json.RawMessage `json:"tools"`
			NextCursor string            `json:"nextCursor"`
		}
		if err == nil {
			err = json.Unmarshal(c.redacted(raw), &reply)
		}
		if err != nil {
			return nil, fmt.Errorf("tools/list: %w", err)
		}
		for _, raw := range reply.Tools {
			var t tool
			_ = json.Unmarshal(raw, &t) // parts of another type are left out, and later a tool without a name
			if len(t.InputSchema) == 0 || string(t.InputSchema) == "null" {
				t.InputSchema = json.RawMessage(`{"type":"object"}`)
			}
			size += len(t.InputSchema) + len(t.OutputSchema) + len(t.Description)
			all = append(all, t)
		}
		if size > maxListing || len(all) > maxTools || page == maxPages {
			return nil, fmt.Errorf("tools/list: it has more than %d tools, or they take more than %s", maxTools, sandbox.Bytes(maxListing))
		}
		if params["cursor"] = reply.NextCursor; reply.NextCursor == "" {
			return all, nil
		}
	}
}

// A result is a server's answer to a call, as scripts print it.
type result struct {
	Content    []json.RawMessage `json:"content,omitempty"`
	Structured json.RawMessage   `json:"structuredContent,omitempty"`
	IsError    bool              `json:"isError,omitempty"`
}

// textResult returns a result of one text.
func textResult(failed bool, format string, args ...any) *result {
	content, _ := json.Marshal(fmt.Sprintf(format, args...)) // a text can be encoded
	return &result{Content: []json.RawMessage{content}, IsError: failed}
}

// call calls a tool. The command has the arguments on its standard input. The error is that
// of ctx, or of the transport; with that of ctx the number of the request is returned.
func (c *client) call(ctx context.Context, cmd *sandbox.Command, tool string) (*result, int64, error) {
	r := &running{cmd: cmd, input: json.NewDecoder(cmd.Stdin)}
	var args json.RawMessage
	if err := r.input.Decode(&args); err != nil {
		return nil, 0, fmt.Errorf("read the arguments: %w", err)
	}
	id := c.ids.Add(1)
	c.mu.Lock()
	c.running[id] = r
	c.mu.Unlock()
	raw, err := c.request(ctx, id, string(mcp.MethodToolsCall), map[string]any{"name": tool, "arguments": args, "_meta": map[string]any{"progressToken": id}})
	c.mu.Lock()
	delete(c.running, id)
	c.mu.Unlock()
	r.close()
	if refused, ok := errors.AsType[*replyError](err); ok {
		return textResult(true, "the MCP server answers: %v", refused), id, nil
	}
	if err != nil {
		return nil, id, err
	}
	answer := &result{}
	if err := json.Unmarshal(raw, answer); err != nil {
		answer = textResult(true, "the MCP server gives an invalid result: %v", err)
	}
	if answer.repeats() {
		answer.Content = nil
	}
	return answer, id, nil
}

// repeats reports whether the content is one text with the structure, as MCP advises for old
// clients. Clients get a structure from here if the content adds nothing to it.
func (r *result) repeats() bool {
	var text struct {
		Text        string
		Annotations json.RawMessage
	}
	if len(r.Content) != 1 || json.Unmarshal(r.Content[0], &text) != nil || text.Annotations != nil {
		return false
	}
	said, err := schema.Decode([]byte(text.Text))
	structure, fault := schema.Decode(r.Structured)
	return err == nil && fault == nil && reflect.DeepEqual(said, structure)
}

// answers cancels a call that is not waited for any more, and reports whether the server
// answers another request then.
func (c *client) answers(ctx context.Context, cancelled int64) bool {
	_ = c.notify(ctx, "notifications/cancelled", map[string]any{"requestId": cancelled, "reason": "nobody waits for the answer"})
	_, err := c.request(ctx, c.ids.Add(1), "ping", nil)
	_, refused := errors.AsType[*replyError](err)
	return err == nil || refused
}

// each calls say with each call that runs.
func (c *client) each(say func(*running)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.running {
		say(r)
	}
}

// notified handles a notification of the server. It does not wait.
func (c *client) notified(n mcp.JSONRPCNotification) {
	given := n.Params.AdditionalFields
	switch n.Method {
	case mcp.MethodNotificationToolsListChanged:
		select {
		case c.changes <- struct{}{}:
		default:
		}
	case "notifications/progress":
		c.mu.Lock()
		defer c.mu.Unlock()
		if r := c.running[int64(number(given["progressToken"]))]; r != nil {
			r.say(progressLine(number(given["progress"]), number(given["total"]), given["message"]))
		}
	case "notifications/message":
		text, ok := given["data"].(string)
		if !ok {
			encoded, _ := json.Marshal(given["data"]) // it was decoded from JSON
			text = string(encoded)
		}
		c.each(func(r *running) { r.say(fmt.Sprintf("[%v] %s", given["level"], text)) })
	}
}

// requested answers a request of the server. A question goes to the person of the call that
// began last, who is the same for all calls.
func (c *client) requested(_ context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	refuse := func(code int, why string) (*transport.JSONRPCResponse, error) {
		return transport.NewJSONRPCErrorResponse(request.ID, code, why, nil), nil
	}
	switch request.Method {
	case "ping":
		return transport.NewJSONRPCResultResponse(request.ID, json.RawMessage("{}")), nil
	case string(mcp.MethodElicitationCreate):
	default:
		return refuse(mcp.METHOD_NOT_FOUND, "a plugin's server may ask the person, by elicitation/create, and nothing else: "+request.Method+" is not offered")
	}
	select {
	case c.asking <- struct{}{}:
		defer func() { <-c.asking }()
	default:
		return refuse(mcp.INVALID_REQUEST, fmt.Sprintf("more than %d questions wait for an answer", maxRequests))
	}
	c.mu.Lock()
	latest := int64(0)
	for id := range c.running {
		latest = max(latest, id)
	}
	last := c.running[latest]
	c.mu.Unlock()
	if last == nil {
		return refuse(mcp.INVALID_REQUEST, "no call runs whose person could be asked")
	}
	answer, err := last.question(request.Params)
	if err != nil {
		return refuse(mcp.INVALID_REQUEST, err.Error())
	}
	return transport.NewJSONRPCResultResponse(request.ID, answer), nil
}
