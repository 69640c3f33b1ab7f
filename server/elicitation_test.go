package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

// asker is a client of the modern protocol.
type asker struct {
	client
	name         string
	capabilities mcp.ClientCapabilities
}

func (a *asker) Principal() identity.Principal {
	return identity.Principal{Kind: identity.Model, ID: a.name}
}
func (a *asker) GetClientInfo() mcp.Implementation              { return mcp.Implementation{} }
func (a *asker) SetClientInfo(mcp.Implementation)               {}
func (a *asker) GetClientCapabilities() mcp.ClientCapabilities  { return a.capabilities }
func (a *asker) SetClientCapabilities(c mcp.ClientCapabilities) { a.capabilities = c }

func newAsker(name string) *asker {
	return &asker{client: client{id: name + "-session", in: make(chan mcp.JSONRPCNotification, 100)}, name: name}
}

// asksOnce is a command that prints a line, asks a question, and prints the answer.
func asksOnce() *script {
	return &script{func(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		_, _ = io.WriteString(cmd.Stderr, "before\n")
		_, _ = io.WriteString(cmd.Stdout, `{"mcp":{"ask":"Sure?"}}`+"\n")
		answered := make(chan string, 1)
		go func() {
			line, _ := bufio.NewReader(cmd.Stdin).ReadString('\n')
			answered <- line
		}()
		select {
		case line := <-answered:
			_, _ = io.WriteString(cmd.Stderr, "after\n")
			_, _ = io.WriteString(cmd.Stdout, "got "+line)
			return &sandbox.Exit{Sandbox: "script"}, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}}
}

// newAskingBench serves one skill, which asks.
func newAskingBench(t *testing.T) *bench {
	t.Helper()
	return newAskingBenchWith(t, asksOnce())
}

func newAskingBenchWith(t *testing.T, driver sandbox.Driver) *bench {
	t.Helper()
	b := newBench(t, driver)
	b.files = fstest.MapFS{
		"p/plugin.json":          {Data: []byte(`{"name": "demo", "version": "1.0"}`)},
		"p/skills/sure/SKILL.md": {Data: []byte("---\nname: sure\ndescription: Asks.\nscript: run.sh\nasks: person\nparams: {a: string}\nresources: [{uri: 'sure://one', name: one}]\n---\n")},
		"p/skills/sure/run.sh":   {Data: []byte("echo")},
	}
	b.publish()
	return b
}

// asked is a modern client's reply.
type asked struct {
	Result struct {
		ResultType    string
		RequestState  string
		InputRequests map[string]struct{ Params json.RawMessage }
		IsError       bool
		Content       []struct{ Text string }
	}
	Error *struct {
		Code    int
		Message string
	}
}

func (b *bench) tool(a *asker, token, name, args, state, responses string) (reply asked) {
	b.t.Helper()
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s,"requestState":%q,"inputResponses":%s,"_meta":{
		"progressToken":%q,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`,
		name, args, state, responses, token)
	encoded, err := json.Marshal(b.core.HandleMessage(b.core.WithContext(b.t.Context(), a), json.RawMessage(line)))
	if err == nil {
		err = json.Unmarshal(encoded, &reply)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return reply
}

// said are the progress messages that have come, with their tokens.
func (a *asker) said() (all []string) {
	for len(a.in) > 0 {
		n := <-a.in
		all = append(all, fmt.Sprintf("%v %v", n.Params.AdditionalFields["progressToken"], n.Params.AdditionalFields["message"]))
	}
	return all
}

// TestAskingTools has a skill's tool, and run_skill, ask a client, which gets the
// progress of each request with the token of that one.
func TestAskingTools(t *testing.T) {
	for tool, args := range map[string]string{"demo__sure": `{}`, "run_skill": `{"name":"demo/sure"}`} {
		t.Run(tool, func(t *testing.T) {
			b, me, you := newAskingBench(t), newAsker("me"), newAsker("you")
			first := b.tool(me, "one", tool, args, "", `{}`)
			request := string(first.Result.InputRequests["ask-1"].Params)
			if first.Result.ResultType != "input_required" || !strings.Contains(request, "Skill demo/sure asks: Sure?") {
				t.Fatalf("%+v %+v", first, first.Error)
			}
			if said := me.said(); !slices.Equal(said, []string{"one before"}) {
				t.Errorf("said %q", said)
			}
			state := first.Result.RequestState
			const yes = `{"ask-1":{"action":"accept","content":{"answer":"yes"}}}`
			if stolen := b.tool(you, "x", tool, args, state, yes); stolen.Error == nil || !strings.Contains(stolen.Error.Message, "requestState is not valid for this request") {
				t.Errorf("another's state: %+v", stolen)
			}
			second := b.tool(me, "two", tool, args, state, yes)
			if second.Error != nil || second.Result.IsError || !strings.Contains(second.Result.Content[0].Text, "accept") {
				t.Errorf("%+v %+v", second, second.Error)
			}
			if said := me.said(); !slices.Equal(said, []string{"two after"}) {
				t.Errorf("said %q", said)
			}
			if late := b.tool(me, "x", tool, args, state, yes); !late.Result.IsError || !strings.HasPrefix(late.Result.Content[0].Text, "TIMEOUT: the run that asked has ended") {
				t.Errorf("too late: %+v %+v", late, late.Error)
			}
		})
	}
}

// TestAskingEnds ends the runs of callers who leave, and all with the server.
func TestAskingEnds(t *testing.T) {
	b, me, you := newAskingBench(t), newAsker("me"), newAsker("you")
	mine := b.tool(me, "x", "demo__sure", `{}`, "", `{}`).Result.RequestState
	yours := b.tool(you, "x", "demo__sure", `{}`, "", `{}`).Result.RequestState
	const yes = `{"ask-1":{"action":"accept","content":{"answer":"yes"}}}`
	b.invoke.leave(me.Principal().Key())
	if r := b.tool(me, "x", "demo__sure", `{}`, mine, yes); !r.Result.IsError {
		t.Errorf("after leaving: %+v %+v", r, r.Error)
	}
	b.Close()
	if r := b.tool(you, "x", "demo__sure", `{}`, yours, yes); !r.Result.IsError {
		t.Errorf("after the end: %+v %+v", r, r.Error)
	}
	if r := b.tool(you, "x", "demo__sure", `{}`, "", `{}`); !r.Result.IsError || !strings.Contains(r.Result.Content[0].Text, "UNAVAILABLE: the server is stopping") {
		t.Errorf("a new call: %+v %+v", r, r.Error)
	}
}

// TestAskingPrompts has the prompt of a skill ask, bound to its arguments.
func TestAskingPrompts(t *testing.T) {
	b, me := newAskingBench(t), newAsker("me")
	get := func(args, state, responses string) (messages, problem string, reply asked) {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"demo__sure","arguments":%s,"requestState":%q,"inputResponses":%s,"_meta":{
			"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`,
			args, state, responses)
		encoded, err := json.Marshal(b.core.HandleMessage(b.core.WithContext(t.Context(), me), json.RawMessage(line)))
		if err == nil {
			err = json.Unmarshal(encoded, &reply)
		}
		if err != nil {
			t.Fatal(err)
		}
		if reply.Error != nil {
			problem = reply.Error.Message
		}
		return string(encoded), problem, reply
	}
	_, problem, first := get(`{}`, "", `{}`)
	if first.Result.ResultType != "input_required" || len(first.Result.InputRequests) != 1 {
		t.Fatalf("%+v %s", first, problem)
	}
	const yes = `{"ask-1":{"action":"accept","content":{"answer":"yes"}}}`
	if _, problem, _ := get(`{"a":"b"}`, first.Result.RequestState, yes); !strings.Contains(problem, "requestState is not valid for this request") {
		t.Errorf("other arguments: %q", problem)
	}
	if stolen := b.tool(me, "x", "demo__sure", `{}`, first.Result.RequestState, yes); stolen.Error == nil {
		t.Errorf("a tool with a prompt's state: %+v", stolen)
	}
	if messages, _, _ := get(`{}`, first.Result.RequestState, yes); !strings.Contains(messages, `"role":"user"`) || !strings.Contains(messages, "accept") {
		t.Errorf("messages %s", messages)
	}
}

// TestAskingResources has a resource whose skill asks be told that nobody can be.
func TestAskingResources(t *testing.T) {
	b, me := newAskingBench(t), newAsker("me")
	line := `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"sure://one","_meta":{
		"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}}}`
	encoded, err := json.Marshal(b.core.HandleMessage(b.core.WithContext(t.Context(), me), json.RawMessage(line)))
	if err != nil || !strings.Contains(string(encoded), "nobody can be asked in the answer to such a request") {
		t.Errorf("%s, %v", encoded, err)
	}
}

// A panic behind the desk costs one call, not the server: no transport is around
// it to recover.
func TestPanicWhileAsking(t *testing.T) {
	b := newAskingBenchWith(t, &script{func(context.Context, *sandbox.Command) (*sandbox.Exit, error) { panic("secret") }})
	reply := b.tool(newAsker("one"), "t", "demo__sure", `{}`, "", `{}`)
	if !reply.Result.IsError || reply.Result.Content[0].Text != "INTERNAL_ERROR: internal error" {
		t.Errorf("%+v", reply)
	}
}
