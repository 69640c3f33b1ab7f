package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/integration/modelserver"
	"github.com/skillsmcp/skills-mcp/server/agents/chat"
)

// The loop against an endpoint of each API.
func TestEndpoint(t *testing.T) {
	type reply = modelserver.Reply
	call := func(name, args string) chat.Call { return chat.Call{Name: name, Args: json.RawMessage(args)} }
	usage := func(in, out int) *chat.Usage { return &chat.Usage{Input: in, Output: out} }
	for name, test := range map[string]struct {
		script   func(r *modelserver.Request) reply
		budget   Budget
		window   int
		requests int
		result   string // or a part of the error
		used     Used   // tokens are not compared where they are 0
	}{
		"text": {
			script:   func(*modelserver.Request) reply { return reply{Text: "7 pages", Usage: usage(100, 5)} },
			requests: 1, result: "7 pages", used: Used{Turns: 1, Tokens: 105},
		},
		"calls": {
			script: func(r *modelserver.Request) reply {
				if r.N == 1 {
					return reply{Text: "I count.", Calls: []chat.Call{call("count", ""), call("echo", `{"a": 1}`), call("count", "{}")}, Usage: usage(100, 20)}
				}
				var got []string
				for _, m := range r.Results() {
					got = append(got, m.Text)
				}
				return reply{Text: strings.Join(got, ","), Usage: usage(150, 5)}
			},
			requests: 2, result: `7,{"a": 1},7`, used: Used{Turns: 2, Tokens: 275},
		},
		"nonsense": {
			script: func(r *modelserver.Request) reply {
				if r.N == 1 {
					return reply{Calls: []chat.Call{call("no such tool!", "{}"), call("echo", "[1]"), call("echo", `{"a`)}}
				}
				var got []string
				for _, m := range r.Results() {
					got = append(got, m.Text)
				}
				return reply{Text: strings.Join(got, "; ")}
			},
			requests: 2, result: `there is no tool "no such tool!"; the arguments have to be a JSON object, not [1]; the arguments have to be a JSON object, not {"a`,
			used: Used{Turns: 2},
		},
		"cut": {
			script: func(r *modelserver.Request) reply {
				if r.N == 1 {
					return reply{Text: "7 pa", Cut: true}
				}
				return reply{Text: "ges"}
			},
			requests: 2, result: "7 pages", used: Used{Turns: 2},
		},
		"endless": {
			script: func(*modelserver.Request) reply {
				return reply{Calls: []chat.Call{call("count", "{}")}, Usage: usage(90, 10)}
			},
			budget:   Budget{Turns: 4},
			requests: 4, result: "the budget of 4 turns is used up", used: Used{Turns: 4, Tokens: 400},
		},
		"tokens": {
			script: func(*modelserver.Request) reply {
				return reply{Calls: []chat.Call{call("count", "{}")}, Usage: usage(900, 100)}
			},
			budget:   Budget{Tokens: 3200},
			requests: 3, result: "the budget of 3200 tokens is used up", used: Used{Turns: 3, Tokens: 3000},
		},
		"refused": {
			script:   func(*modelserver.Request) reply { return reply{Fault: modelserver.Refused, Text: "no such model"} },
			requests: 1, result: "no such model", used: Used{Turns: 1},
		},
		"window full": {
			script: func(r *modelserver.Request) reply {
				switch {
				case r.System == summarise:
					return reply{Text: "It was 7."}
				case r.N < 4:
					return reply{Calls: []chat.Call{call("count", "{}")}}
				case r.N == 4:
					return reply{Fault: modelserver.WindowFull}
				}
				return reply{Text: fmt.Sprint(len(r.Messages), strings.Contains(r.Messages[0].Text, "It was 7."))}
			},
			requests: 6, result: "3 true", used: Used{Turns: 6},
		},
		"always full": {
			script:   func(*modelserver.Request) reply { return reply{Fault: modelserver.WindowFull} },
			requests: 2, result: "maximum", used: Used{Turns: 2},
		},
		"instructions without room": {
			script:   func(*modelserver.Request) reply { return reply{Text: "no"} },
			window:   100,
			requests: 0, result: "the conversation does not fit the window of the model fake; raise it in agents.models, or give the agent fewer tools",
		},
		"nearly full": {
			script: func(r *modelserver.Request) reply {
				switch {
				case r.System == summarise:
					return reply{Text: "It was 7.", Usage: usage(50, 5)}
				case r.N < 4:
					return reply{Calls: []chat.Call{call("count", "{}")}, Usage: usage(2700*r.N, 5)}
				}
				return reply{Text: fmt.Sprint(len(r.Messages)), Usage: usage(70, 5)}
			},
			window: 10_000, requests: 5, result: "3", used: Used{Turns: 5, Tokens: 6*2700 + 3*5 + 55 + 75},
		},
	} {
		for _, api := range []chat.API{chat.OpenAI, chat.Anthropic} {
			t.Run(fmt.Sprint(name, " ", api), func(t *testing.T) {
				server := modelserver.Start(t, func(_ context.Context, r *modelserver.Request) reply { return test.script(r) })
				transport := &http.Transport{}
				defer transport.CloseIdleConnections()
				client := chat.New(chat.Options{URL: server.URL, API: api, Model: "m", HTTP: &http.Client{Transport: transport}})
				l, _ := newLoop(nil)
				l.model = &Model{Name: "fake", Client: client, Window: test.window}
				l.ledger = newLedger(nil, test.budget)
				l.tools.(*fakeTools).tools["echo"] = func(_ context.Context, args json.RawMessage) (string, bool) { return string(args), false }
				result, err := l.run(t.Context())
				if err != nil {
					result = err.Error()
				}
				if !strings.Contains(result, test.result) || server.Count() != test.requests {
					t.Errorf("run is %q, %v, after %d requests; want %q after %d", result, err, server.Count(), test.result, test.requests)
				}
				used := l.ledger.spent()
				if test.used.Tokens == 0 {
					used.Tokens = 0
				}
				if used != test.used {
					t.Errorf("used is %+v, want %+v", used, test.used)
				}
				if server.Count() == 0 {
					return
				}
				if r := server.Requests()[0]; r.System != l.System || !slices.Equal(r.Tools, []string{"count", "echo"}) || r.MaxTokens != defaultReply && test.budget.Tokens == 0 {
					t.Errorf("the first request is %+v", r)
				}
			})
		}
	}
}
