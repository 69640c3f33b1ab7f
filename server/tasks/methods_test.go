package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

// Who may ask for a task, and how.
func TestRequests(t *testing.T) {
	run(t, nil, func(t *testing.T, b *bench) {
		id := b.begin(waits)
		mine := fmt.Sprintf(`{"taskId":%q}`, id)
		modern := as(t.Context(), "ann", Extension)
		const unknown = "error -32602: there is no such task"
		for _, test := range []struct {
			name, params, want string
			ctx                context.Context
		}{
			{"its owner", mine, `{"taskId":`, modern},
			{"another principal", mine, unknown, as(t.Context(), "bob", Extension)},
			{"an unknown one", `{"taskId":"x"}`, unknown, modern},
			{"none", `{}`, "error -32602: the params need a taskId", modern},
			{"no params", ``, "error -32602: the params need a taskId", modern},
			{"an id that is no text", `{"taskId":1}`, "error -32602: the params need a taskId", modern},
			{"answers that are no object", strings.TrimSuffix(mine, "}") + `,"inputResponses":[1]}`, "error -32602: the params need a taskId", modern},
			{"who knows no tasks", mine, "error -32021: the client has to declare the extension io.modelcontextprotocol/tasks", as(t.Context(), "ann", "x")},
			{"a legacy client", mine, "error -32601", identity.NewContext(t.Context(), identity.Principal{ID: "ann"})},
		} {
			result, err := b.Methods(ownerOf)["tasks/get"].Handle(test.ctx, json.RawMessage(test.params))
			if got := outcome(t, result, err); !strings.HasPrefix(got, test.want) {
				t.Errorf("%s: %s, want %s", test.name, got, test.want)
			}
		}
	})
}

// The error says what is missing in the words of capabilities.
func TestUndeclared(t *testing.T) {
	got, err := json.Marshal(Undeclared().Data)
	if err != nil || string(got) != `{"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}` {
		t.Errorf("%s, %v", got, err)
	}
}

// Only what a modern request itself declares counts.
func TestDeclared(t *testing.T) {
	legacy := mcpserver.WithRequestProtocolInfo(t.Context(), &mcpserver.RequestProtocolInfo{})
	for name, test := range map[string]struct {
		ctx  context.Context
		want bool
	}{
		"declared": {as(t.Context(), "", Extension), true},
		"another":  {as(t.Context(), "", "x"), false},
		"legacy":   {legacy, false},
		"nothing":  {t.Context(), false},
	} {
		if got := Declared(test.ctx); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
