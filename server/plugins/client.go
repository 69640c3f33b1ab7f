package plugins

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/termtext"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// Bounds of a server's replies.
const (
	maxInstructions = 16 << 10 // bytes
	maxTools        = 256      // and prompts, and resources, and templates
	maxPages        = 32
	maxRequests     = 8 // of the server that wait for an answer
)

// A client speaks MCP with one server.
type client struct {
	wire          transport.BidirectionalInterface
	redact        sandbox.Redactor // nil changes nothing
	allow         func()           // called before each request
	changes       chan<- struct{}  // has room for one notice that a list has changed
	ids           atomic.Int64
	read, updated func(uri string)           // called for a resource that was read, if its changes can be told, or has changed; set before initialize
	asking        chan struct{}              // has room for the questions that wait
	subscribes    bool                       // it tells changes of resources; set by initialize
	offers        map[string]json.RawMessage // capabilities of the server; set by initialize

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
	var agreed struct {
		ProtocolVersion, Instructions string
		Capabilities                  map[string]json.RawMessage
	}
	if err := json.Unmarshal(c.redacted(raw), &agreed); err != nil || !mcp.IsValidProtocolVersion(agreed.ProtocolVersion) {
		return "", fmt.Errorf("initialize: it speaks no revision of MCP that is known here (%.40q)", agreed.ProtocolVersion)
	}
	c.offers = agreed.Capabilities
	var resources struct{ Subscribe bool }
	_ = json.Unmarshal(c.offers["resources"], &resources) // or it does not say so
	c.subscribes = resources.Subscribe
	if over, ok := c.wire.(transport.HTTPConnection); ok {
		over.SetProtocolVersion(agreed.ProtocolVersion)
	}
	return truncate.String(agreed.Instructions, maxInstructions), c.notify(ctx, "notifications/initialized", nil)
}

// hooks returns the events that the host of Conduit code has hooks for.
func (c *client) hooks() []string {
	var host map[string]struct{ Hooks []string }
	_ = json.Unmarshal(c.offers["experimental"], &host) // one that is damaged has none
	return host["skills-mcp"].Hooks
}

// lists returns the tools, prompts and resources of the server. One that refuses to list
// prompts or resources has none.
func (c *client) lists(ctx context.Context) (all listing, err error) {
	room := maxListing
	err = list(ctx, c, "tools", &room, &all.Tools)
	for i := range all.Tools {
		if t := &all.Tools[i]; len(t.InputSchema) == 0 || string(t.InputSchema) == "null" {
			t.InputSchema = json.RawMessage(`{"type":"object"}`)
		}
	}
	if err == nil && c.offers["prompts"] != nil {
		err = list(ctx, c, "prompts", &room, &all.Prompts)
	}
	for _, kind := range []string{"resources", "resources/templates"} {
		if err == nil && c.offers["resources"] != nil {
			err = list(ctx, c, kind, &room, &all.Resources)
		}
	}
	return all, err
}

// list appends the items of a kind that the server lists. They use up the room, in bytes.
func list[T any](ctx context.Context, c *client, kind string, room *int, all *[]T) error {
	params, most := map[string]any{}, len(*all)+maxTools
	for page := 0; ; page++ {
		raw, err := c.request(ctx, c.ids.Add(1), kind+"/list", params)
		if refused, ok := errors.AsType[*replyError](err); ok && (refused.code == mcp.METHOD_NOT_FOUND || kind != "tools") {
			return nil // it has none
		}
		var reply struct {
			Tools, Prompts, Resources, ResourceTemplates []json.RawMessage
			NextCursor                                   string
		}
		if err == nil {
			err = json.Unmarshal(c.redacted(raw), &reply)
		}
		if err != nil {
			return fmt.Errorf("%s/list: %w", kind, err)
		}
		for _, raw := range slices.Concat(reply.Tools, reply.Prompts, reply.Resources, reply.ResourceTemplates) {
			var item T
			_ = json.Unmarshal(raw, &item) // parts of another type are left out, and later a tool without a name
			if raw, err = json.Marshal(item); err == nil && len(*all) <= most {
				if *room -= len(raw); *room < 0 {
					break
				}
				*all = append(*all, item)
			}
		}
		if *room < 0 || len(*all) > most || page == maxPages {
			if kind != "tools" {
				return nil // the others are not listed here
			}
			return fmt.Errorf("%s/list: it has more than %d, or they take more than %s", kind, maxTools, sandbox.Bytes(maxListing))
		}
		if params["cursor"] = reply.NextCursor; reply.NextCursor == "" {
			return nil
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

// call makes a call. The command has the arguments on its standard input. The error is that
// of ctx, or of the transport; with that of ctx the number of the request is returned.
func (c *client) call(ctx context.Context, cmd *sandbox.Command, skill *skills.Skill) (*result, int64, error) {
	r := &running{cmd: cmd, input: json.NewDecoder(cmd.Stdin)}
	var args json.RawMessage
	if err := r.input.Decode(&args); err != nil {
		return nil, 0, fmt.Errorf("read the arguments: %w", err)
	}
	id := c.ids.Add(1)
	c.mu.Lock()
	c.running[id] = r
	c.mu.Unlock()
	to := skill.Entry.Server
	params := map[string]any{"name": to.Tool, "arguments": args, "_meta": map[string]any{"progressToken": id}}
	var given struct{ URI string }
	if to.Method == skills.ReadResource {
		_ = json.Unmarshal(args, &given) // they were checked
		params = map[string]any{"uri": given.URI, "_meta": params["_meta"]}
	}
	if to.Method == skills.RunHooks {
		params = map[string]any{"event": to.Tool, "call": args}
	}
	raw, err := c.request(ctx, id, to.Method, params)
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
	if given.URI != "" && c.subscribes {
		c.read(given.URI)
	}
	if to.Method == skills.RunHooks {
		return textResult(false, "%s", raw), id, nil
	}
	answer, err := newResult(raw, skill)
	if err != nil {
		answer = textResult(true, "the MCP server gives an invalid result: %v", err)
	}
	return answer, id, nil
}

// newResult returns the answer of a server to the call of a skill.
func newResult(raw json.RawMessage, skill *skills.Skill) (*result, error) {
	var reply struct {
		result
		Description string
		Messages    []struct {
			Role    mcp.Role
			Content json.RawMessage
		}
		Contents []json.RawMessage
	}
	if err := json.Unmarshal(raw, &reply); err != nil {
		return nil, err
	}
	answer := reply.result
	switch skill.Entry.Server.Method {
	case skills.GetPrompt:
		roles := []mcp.Role{}
		for _, m := range reply.Messages {
			answer.Content, roles = append(answer.Content, m.Content), append(roles, m.Role)
		}
		answer.Structured, _ = json.Marshal(map[string]any{"prompt": map[string]any{"description": reply.Description, "roles": roles}}) // texts can be encoded
	case skills.ReadResource:
		for _, resource := range reply.Contents {
			answer.Content = append(answer.Content, fmt.Appendf(nil, `{"type":"resource","resource":%s}`, resource))
		}
	default:
		if answer.repeats() {
			answer.Content = nil
		}
	}
	for i, content := range answer.Content {
		answer.Content[i] = readable(content, skill)
	}
	return &answer, nil
}

// readable returns a content with the URI that its resource has here.
func readable(content json.RawMessage, skill *skills.Skill) json.RawMessage {
	var item, resource map[string]json.RawMessage
	var kind struct{ Type string }
	if json.Unmarshal(content, &kind) != nil || kind.Type != mcp.ContentTypeResource && kind.Type != mcp.ContentTypeLink || json.Unmarshal(content, &item) != nil {
		return content
	}
	at := item
	if kind.Type == mcp.ContentTypeResource && json.Unmarshal(item["resource"], &resource) == nil {
		at = resource
	}
	var uri string
	if json.Unmarshal(at["uri"], &uri) != nil {
		return content
	}
	at["uri"], _ = json.Marshal(skill.ServerURI(uri)) // texts of JSON can be encoded
	if resource != nil {
		item["resource"], _ = json.Marshal(resource)
	}
	content, _ = json.Marshal(item)
	return content
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
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationPromptsListChanged, mcp.MethodNotificationResourcesListChanged:
		select {
		case c.changes <- struct{}{}:
		default:
		}
	case mcp.MethodNotificationResourceUpdated:
		if uri, ok := given["uri"].(string); ok {
			c.updated(uri)
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
