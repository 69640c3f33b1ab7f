package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
)

// A ToolClient is a client that calls tools, and is asked, in one generation of the protocol:
// legacy clients get a request elicitation/create, modern ones the result input_required.
type ToolClient struct {
	*Wire
	Modern       bool
	capabilities string // JSON
	Cmd          *exec.Cmd
	Log          *lockedBuffer // what the server writes to stderr
	Received     *lockedBuffer // and to stdout
	Sent         int           // requests
	closed       bool
}

// A lockedBuffer holds what a process writes while it runs.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A ToolCall is one call of a tool. Its request goes out again with the answers of a
// modern client.
type ToolCall struct {
	Name string
	Args any
}

// A Reply is the answer to a call: a result, an error of the protocol, or a question.
type Reply struct {
	Message
	Call  ToolCall
	Asked *question // nil: the call has ended
}

// A question is one that the server asks the client's person.
type question struct {
	Message         string
	RequestedSchema json.RawMessage

	Id         json.RawMessage // of a legacy request
	Key, State string          // of a modern result
}

// greet initializes a legacy server.
func (c *ToolClient) greet() {
	c.t.Helper()
	if c.Modern {
		return
	}
	c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"t","version":"1"},"capabilities":%s}}`, c.capabilities))
	for string(c.Receive().ID) != "0" {
	}
	c.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// Call calls a tool until it has ended, or its question has come.
func (c *ToolClient) Call(tool string, args any) Reply {
	c.t.Helper()
	return c.Request(ToolCall{tool, args}, nil)
}

// Request sends a call. more are further parameters.
func (c *ToolClient) Request(call ToolCall, more map[string]any) Reply {
	c.t.Helper()
	c.Sent++
	params := map[string]any{"name": call.Name, "arguments": call.Args}
	maps.Copy(params, more)
	if c.Modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]string{"name": "t", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": json.RawMessage(c.capabilities),
		}
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.Sent, "method": "tools/call", "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	c.Send(string(line))
	return c.Next(call)
}

// Next returns what comes next for the last call.
func (c *ToolClient) Next(call ToolCall) Reply {
	c.t.Helper()
	for {
		r := Reply{Message: c.Receive(), Call: call}
		switch {
		case r.Method == "elicitation/create":
			r.Asked = &question{Id: r.ID}
			c.Decode(r.Params, r.Asked)
			return r
		case r.Method == "" && string(r.ID) == fmt.Sprint(c.Sent):
			for key, asked := range r.Result.InputRequests {
				r.Asked = &question{Key: key, State: r.Result.RequestState}
				c.Decode(asked.Params, r.Asked)
			}
			return r
		}
	}
}

func (c *ToolClient) Decode(data json.RawMessage, into any) {
	c.t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		c.t.Fatalf("%v in %s", err, data)
	}
}

// Answer answers a question with a result of elicitation/create, which is JSON.
func (c *ToolClient) Answer(r Reply, result string) Reply {
	c.t.Helper()
	if r.Asked == nil {
		c.t.Fatalf("nothing was asked: %s", r.Text())
	}
	if c.Modern {
		responses := map[string]json.RawMessage{r.Asked.Key: json.RawMessage(result)}
		return c.Request(r.Call, map[string]any{"inputResponses": responses, "requestState": r.Asked.State})
	}
	c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.Asked.Id, result))
	return c.Next(r.Call)
}

// Choose answers a question with the choice of its form that begins with a word.
func (c *ToolClient) Choose(r Reply, word string) Reply {
	c.t.Helper()
	return c.Answer(r, r.Choice(c, word))
}

// Choice returns the answer of choose.
func (r Reply) Choice(c *ToolClient, word string) string {
	c.t.Helper()
	if r.Asked == nil {
		c.t.Fatalf("nothing was asked: %s", r.Text())
	}
	var form struct {
		Properties map[string]struct {
			Enum  []string
			OneOf []struct{ Const string }
		}
	}
	c.Decode(r.Asked.RequestedSchema, &form)
	var seen []string
	for name, property := range form.Properties {
		for _, choice := range property.OneOf {
			property.Enum = append(property.Enum, choice.Const)
		}
		seen = append(seen, property.Enum...)
		if i := slices.IndexFunc(property.Enum, func(choice string) bool { return strings.HasPrefix(choice, word) }); i >= 0 {
			return fmt.Sprintf(`{"action":"accept","content":{%q:%q}}`, name, property.Enum[i])
		}
	}
	c.t.Fatalf("%q is not among the answers %q of %s", word, seen, r.Asked.RequestedSchema)
	return ""
}

// Text returns the texts of a result, or the error of the protocol.
func (r Reply) Text() string {
	if r.Error != nil {
		return fmt.Sprintf("error %d: %s", r.Error.Code, r.Error.Message)
	}
	var texts []string
	for _, content := range r.Result.Content {
		texts = append(texts, content.Text)
	}
	return strings.Join(texts, "\n")
}

// Succeeds fails the test unless the call has ended well with a text in its result.
func (c *ToolClient) Succeeds(r Reply, text string) {
	c.t.Helper()
	if r.Asked != nil {
		c.t.Fatalf("it asks again: %s", r.Asked.Message)
	}
	if r.Error != nil || r.Result.IsError || !strings.Contains(r.Text(), text) {
		c.t.Fatalf("%s, want %q", r.Text(), text)
	}
}

// Fails fails the test unless the call was refused with all of some texts.
func (c *ToolClient) Fails(r Reply, texts ...string) {
	c.t.Helper()
	if r.Asked != nil {
		c.t.Fatalf("it asks: %s", r.Asked.Message)
	}
	for _, text := range texts {
		if r.Error == nil && !r.Result.IsError || !strings.Contains(r.Text(), text) {
			c.t.Fatalf("%s, want the error %q", r.Text(), text)
		}
	}
}

// Close ends the server by the end of its input, and waits for it.
func (c *ToolClient) Close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	_ = c.in.(io.Closer).Close()
	return c.Cmd.Wait()
}

// RawJSON marks a text as JSON already.
func RawJSON(text string) json.RawMessage { return json.RawMessage(text) }
