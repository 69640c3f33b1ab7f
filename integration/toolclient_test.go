package integration

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

// A toolClient is a client that calls tools, and is asked, in one generation of the protocol:
// legacy clients get a request elicitation/create, modern ones the result input_required.
type toolClient struct {
	*wire
	modern       bool
	capabilities string // JSON
	cmd          *exec.Cmd
	log          *lockedBuffer // what the server writes to stderr
	sent         int           // requests
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

// A toolCall is one call of a tool. Its request goes out again with the answers of a
// modern client.
type toolCall struct {
	name string
	args any
}

// A reply is the answer to a call: a result, an error of the protocol, or a question.
type reply struct {
	message
	call  toolCall
	asked *question // nil: the call has ended
}

// A question is one that the server asks the client's person.
type question struct {
	Message         string
	RequestedSchema json.RawMessage

	id         json.RawMessage // of a legacy request
	key, state string          // of a modern result
}

// greet initializes a legacy server.
func (c *toolClient) greet() {
	c.t.Helper()
	if c.modern {
		return
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"t","version":"1"},"capabilities":%s}}`, c.capabilities))
	for string(c.receive().ID) != "0" {
	}
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// call calls a tool until it has ended, or its question has come.
func (c *toolClient) call(tool string, args any) reply {
	c.t.Helper()
	return c.request(toolCall{tool, args}, nil)
}

// request sends a call. more are further parameters.
func (c *toolClient) request(call toolCall, more map[string]any) reply {
	c.t.Helper()
	c.sent++
	params := map[string]any{"name": call.name, "arguments": call.args}
	maps.Copy(params, more)
	if c.modern {
		params["_meta"] = map[string]any{
			"io.modelcontextprotocol/protocolVersion":    "2026-07-28",
			"io.modelcontextprotocol/clientInfo":         map[string]string{"name": "t", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": json.RawMessage(c.capabilities),
		}
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.sent, "method": "tools/call", "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	c.send(string(line))
	return c.next(call)
}

// next returns what comes next for the last call.
func (c *toolClient) next(call toolCall) reply {
	c.t.Helper()
	for {
		r := reply{message: c.receive(), call: call}
		switch {
		case r.Method == "elicitation/create":
			r.asked = &question{id: r.ID}
			c.decode(r.Params, r.asked)
			return r
		case r.Method == "" && string(r.ID) == fmt.Sprint(c.sent):
			for key, asked := range r.Result.InputRequests {
				r.asked = &question{key: key, state: r.Result.RequestState}
				c.decode(asked.Params, r.asked)
			}
			return r
		}
	}
}

func (c *toolClient) decode(data json.RawMessage, into any) {
	c.t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		c.t.Fatalf("%v in %s", err, data)
	}
}

// answer answers a question with a result of elicitation/create, which is JSON.
func (c *toolClient) answer(r reply, result string) reply {
	c.t.Helper()
	if r.asked == nil {
		c.t.Fatalf("nothing was asked: %s", r.text())
	}
	if c.modern {
		responses := map[string]json.RawMessage{r.asked.key: json.RawMessage(result)}
		return c.request(r.call, map[string]any{"inputResponses": responses, "requestState": r.asked.state})
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.asked.id, result))
	return c.next(r.call)
}

// choose answers a question with the choice of its form that begins with a word.
func (c *toolClient) choose(r reply, word string) reply {
	c.t.Helper()
	return c.answer(r, r.choice(c, word))
}

// choice returns the answer of choose.
func (r reply) choice(c *toolClient, word string) string {
	c.t.Helper()
	if r.asked == nil {
		c.t.Fatalf("nothing was asked: %s", r.text())
	}
	var form struct {
		Properties map[string]struct {
			Enum  []string
			OneOf []struct{ Const string }
		}
	}
	c.decode(r.asked.RequestedSchema, &form)
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
	c.t.Fatalf("%q is not among the answers %q of %s", word, seen, r.asked.RequestedSchema)
	return ""
}

// text returns the texts of a result, or the error of the protocol.
func (r reply) text() string {
	if r.Error != nil {
		return fmt.Sprintf("error %d: %s", r.Error.Code, r.Error.Message)
	}
	var texts []string
	for _, content := range r.Result.Content {
		texts = append(texts, content.Text)
	}
	return strings.Join(texts, "\n")
}

// succeeds fails the test unless the call has ended well with a text in its result.
func (c *toolClient) succeeds(r reply, text string) {
	c.t.Helper()
	if r.asked != nil {
		c.t.Fatalf("it asks again: %s", r.asked.Message)
	}
	if r.Error != nil || r.Result.IsError || !strings.Contains(r.text(), text) {
		c.t.Fatalf("%s, want %q", r.text(), text)
	}
}

// fails fails the test unless the call was refused with all of some texts.
func (c *toolClient) fails(r reply, texts ...string) {
	c.t.Helper()
	if r.asked != nil {
		c.t.Fatalf("it asks: %s", r.asked.Message)
	}
	for _, text := range texts {
		if r.Error == nil && !r.Result.IsError || !strings.Contains(r.text(), text) {
			c.t.Fatalf("%s, want the error %q", r.text(), text)
		}
	}
}

// close ends the server by the end of its input, and waits for it.
func (c *toolClient) close() error {
	if c.closed {
		return nil
	}
	c.closed = true
	_ = c.in.(io.Closer).Close()
	return c.cmd.Wait()
}

// rawJSON marks a text as JSON already.
func rawJSON(text string) json.RawMessage { return json.RawMessage(text) }
