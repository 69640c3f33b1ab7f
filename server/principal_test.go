package server

import (
	"context"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/identity"
)

// member is one of several sessions of a principal.
type member struct {
	client
	name string
}

func (m *member) Principal() identity.Principal { return identity.Principal{ID: m.name} }

func (m *member) Share() (group, connection string) { return "program", m.id }

// Slots are counted for each client of a principal, however it runs a skill.
func TestTenantReachesTheSandbox(t *testing.T) {
	var got sandbox.Tenant
	b := newBenchWith(t, &script{func(ctx context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		got = cmd.Tenant
		return ends(0, `{"a": 1}`, "").Run(ctx, cmd)
	}}, Options{RunCode: true})
	for _, call := range []struct{ tool, args string }{
		{"demo__run", `{"target": "x"}`},
		{"run_skill", `{"name": "run", "params": {"target": "x"}}`},
		{"run_code", `{"language": "bash", "code": "true"}`},
	} {
		got = sandbox.Tenant{}
		b.as(&member{client{id: "7"}, "ann"}, call.tool, call.args)
		if want := (sandbox.Tenant{ID: string(identity.Principal{ID: "ann"}.Key()), Group: "program", Connection: "7"}); got != want {
			t.Errorf("%s: %+v", call.tool, got)
		}
	}
}

// One session of several is not its principal: its end ends nothing of theirs.
func TestLeave(t *testing.T) {
	driver := &keeper{}
	b := newBenchWith(t, driver, allTools)
	first, second := &member{client{id: "1"}, "ann"}, &member{client{id: "2"}, "ann"}
	if err := b.core.RegisterSession(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	id := b.as(first, "open_sandbox", `{}`)["container_id"].(string)
	run := `{"language": "bash", "code": "true", "container_id": "` + id + `"}`
	b.core.UnregisterSession(t.Context(), "1")
	if got := code(b.as(second, "run_code", run)); got != nil {
		t.Errorf("from the other session: %v", got)
	}
	b.invoke.leave(identity.Principal{ID: "ann"}.Key())
	if got := code(b.as(second, "run_code", run)); got != "NOT_FOUND" {
		t.Errorf("after the principal left: %v", got)
	}
}
