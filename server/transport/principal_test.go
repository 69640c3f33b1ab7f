package transport

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"github.com/skillsmcp/skills-mcp/server/identity"
)

func principalIn(session mcpserver.ClientSession) identity.Principal {
	return session.(interface{ Principal() identity.Principal }).Principal()
}

// Modern requests have a session each, and yet one owner: the stream, which is
// also the session that ends with it.
func TestOneOwnerForAStream(t *testing.T) {
	hooks, ended := &mcpserver.Hooks{}, make(chan string, 2)
	hooks.AddOnUnregisterSession(func(_ context.Context, session mcpserver.ClientSession) { ended <- session.SessionID() })
	b := newBench(mcpserver.WithHooks(hooks))
	sessions, owners := map[string]bool{}, map[identity.Key]bool{}
	seen := make(chan struct{})
	b.AddTool(mcp.NewTool("who"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		session := mcpserver.ClientSessionFromContext(ctx)
		sessions[session.SessionID()], owners[principalIn(session).Key()] = true, true
		seen <- struct{}{}
		return mcp.NewToolResultText("ok"), nil
	})
	c := dial(t, b.backend(), nil).greet()
	for _, meta := range []string{modernMeta, modernMeta, `"_meta":{}`} {
		c.call("1", "who", `{}`, meta)
		<-seen
		c.recv()
	}
	c.hangUp()
	if len(sessions) != 3 || len(owners) != 1 || !owners[identity.Principal{Session: <-ended}.Key()] {
		t.Errorf("sessions %v, owners %v", sessions, owners)
	}
}

// Modern clients over HTTP with one token are one principal, whose clients are told
// apart by their connections and programs.
func TestSharesOfAPrincipal(t *testing.T) {
	b := newBench()
	var owner identity.Key
	var group, connection string
	b.AddTool(mcp.NewTool("who"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		session := mcpserver.ClientSessionFromContext(ctx)
		owner = principalIn(session).Key()
		group, connection = session.(interface{ Share() (string, string) }).Share()
		return mcp.NewToolResultText("ok"), nil
	})
	h := NewHTTP(b.backend(), nil)
	defer h.Close()
	ask := func(from, program string) {
		body := strings.Replace(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"who",`+modernMeta+`}}`, `"modern"`, `"`+program+`"`, 1)
		r := httptest.NewRequest("POST", "http://localhost"+Path, strings.NewReader(body))
		r.RemoteAddr = from
		for name, value := range map[string]string{"Content-Type": "application/json", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "who"} {
			r.Header.Set(name, value)
		}
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	ask("192.0.2.1:1", "a")
	firstOwner, firstGroup, firstConnection := owner, group, connection
	for _, test := range []struct {
		from, program     string
		group, connection bool // is another
	}{
		{"192.0.2.1:1", "a", false, false},
		{"192.0.2.1:2", "a", false, true},
		{"192.0.2.2:1", "a", true, true},
		{"192.0.2.1:1", "b", true, false},
	} {
		ask(test.from, test.program)
		if owner != firstOwner || (group != firstGroup) != test.group || (connection != firstConnection) != test.connection {
			t.Errorf("%+v: %q %q %q", test, owner, group, connection)
		}
	}
	ask("192.0.2.1:1", strings.Repeat("long", 1000))
	if len(group) > 300 {
		t.Errorf("%d bytes are kept of what a client calls itself", len(group))
	}
}
