package audit

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/run"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The log has each connection of a skill, and one warning for those that were refused.
func TestConnectionsAreLogged(t *testing.T) {
	var log bytes.Buffer
	recorder := Log{slog.New(slog.NewTextHandler(&log, nil))}
	p := &run.Proposal{Command: &sandbox.Command{Skill: "demo", RunID: "run-1"}}
	recorder.Record(t.Context(), run.Record{Proposal: p})
	recorder.Record(t.Context(), run.Record{Proposal: p, Outcome: &run.Outcome{Result: &sandbox.Result{Exit: sandbox.Exit{Connections: []sandbox.Connection{
		{Host: "api.example.com:443", Address: "93.184.216.34:443", Sent: 10, Got: 20},
		{Host: "evil.example.com:443", Refused: "not granted"},
		{Host: "evil.example.com:443", Refused: "not granted"},
	}}}}})
	text := log.String()
	if !strings.Contains(text, `msg="a skill connected" skill=demo run=run-1 host=api.example.com:443 address=93.184.216.34:443 refused="" sent=10 got=20`) {
		t.Errorf("log:\n%s", text)
	}
	if n := strings.Count(text, "level=WARN"); n != 1 || !strings.Contains(text, "count=2") {
		t.Errorf("%d warnings:\n%s", n, text)
	}
}
