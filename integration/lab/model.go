package lab

import (
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/skillsmcp/skills-mcp/integration/modelserver"
	"github.com/skillsmcp/skills-mcp/server/agents/chat"
)

// A modelRule is a reply of the model of a script.
type modelRule struct {
	Last  string // a part of the conversation's last message, for which the rule is
	Text  string
	Calls []chat.Call
}

// model starts the endpoint of a model, whose replies are rules in a file, one a line: the
// first that fits replies. It adds the configuration in the other file to that of the script,
// with the endpoint's address in place of ENDPOINT.
func model(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: model RULES CONFIGURATION")
	}
	var rules []modelRule
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		var rule modelRule
		ts.Check(json.Unmarshal([]byte(line), &rule))
		rules = append(rules, rule)
	}
	endpoint := httptest.NewServer(modelserver.New(func(_ context.Context, r *modelserver.Request) modelserver.Reply {
		for _, rule := range rules {
			if strings.Contains(r.Last(), rule.Last) {
				return modelserver.Reply{Text: rule.Text, Calls: rule.Calls}
			}
		}
		return modelserver.Reply{Text: "No rule is for: " + r.Last()}
	}))
	ts.Defer(endpoint.Close)
	file, err := os.OpenFile(ts.Getenv("SKILLS_MCP_CONFIG"), os.O_APPEND|os.O_WRONLY, 0)
	ts.Check(err)
	_, err = file.WriteString(strings.ReplaceAll(ts.ReadFile(args[1]), "ENDPOINT", endpoint.URL+"/v1"))
	ts.Check(err)
	ts.Check(file.Close())
}
