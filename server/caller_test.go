package server

import (
	"testing"
)

// member is one of several sessions of a caller.
type member struct {
	client
	caller string
}

func (m *member) Caller() string { return m.caller }

// One session of several is not its caller: its end ends nothing of theirs.
func TestLeave(t *testing.T) {
	driver := &keeper{}
	b := newBenchWith(t, driver, allTools)
	first, second := &member{client{id: "1"}, "ann"}, &member{client{id: "2"}, "ann"}
	if err := b.MCP().RegisterSession(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	id := b.as(first, "open_sandbox", `{}`)["container_id"].(string)
	run := `{"language": "bash", "code": "true", "container_id": "` + id + `"}`
	b.MCP().UnregisterSession(t.Context(), "1")
	if got := code(b.as(second, "run_code", run)); got != nil {
		t.Errorf("from the other session: %v", got)
	}
	b.leave("ann")
	if got := code(b.as(second, "run_code", run)); got != "NOT_FOUND" {
		t.Errorf("after the caller left: %v", got)
	}
}
