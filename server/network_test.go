package server

import (
	"context"
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/sandbox/egress"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/result"
	"github.com/skillsmcp/skills-mcp/server/run"
)

// A tool says that it reaches the world where its skill would be granted network, and
// is not read-only then.
func TestOpenWorld(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	granted, err := egress.ParseRule("api.example.com:443")
	if err != nil {
		t.Fatal(err)
	}
	b.invoke.executor = run.New(nil, b.options.Snapshots, policy.New(&policy.Options{Hosts: []egress.Rule{granted}}), nil)
	for name, fields := range map[string]string{
		"granted": "class: mutating\nsandbox: {network: ['api.example.com:443']}",
		"refused": "class: mutating\nsandbox: {network: ['10.1.2.3:22']}",
		"meek":    "sandbox: {network: ['api.example.com:443']}",
		"silent":  "class: mutating",
	} {
		b.files["p/skills/"+name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: d\nscript: run.sh\n" + fields + "\n---\n")}
		b.files["p/skills/"+name+"/run.sh"] = &fstest.MapFile{Data: []byte("echo")}
	}
	if !b.publish() {
		t.Error("the tools have not changed")
	}
	var list struct {
		Tools []struct {
			Name        string
			Annotations struct{ OpenWorldHint, ReadOnlyHint bool }
		}
	}
	if err := json.Unmarshal([]byte(b.ask("tools/list", "{}")), &list); err != nil {
		t.Fatal(err)
	}
	open := map[string]bool{}
	for _, tool := range list.Tools {
		open[tool.Name] = tool.Annotations.OpenWorldHint
		if tool.Annotations.ReadOnlyHint && tool.Annotations.OpenWorldHint {
			t.Errorf("%s: read-only", tool.Name)
		}
	}
	for name, want := range map[string]bool{"demo__granted": true, "demo__refused": false, "demo__meek": true, "demo__silent": false} {
		if got, there := open[name]; got != want || !there {
			t.Errorf("%s: open world %t, want %t (listed: %t)", name, got, want, there)
		}
	}
}

// A result names the connections of its run.
func TestConnectionsInResult(t *testing.T) {
	made := []sandbox.Connection{
		{Host: "api.example.com:443", Address: "93.184.216.34:443", Sent: 10, Got: 20},
		{Host: "evil.example.com:443", Refused: "not granted"},
	}
	b := newBench(t, &script{func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		return &sandbox.Exit{Sandbox: "script", Connections: made}, nil
	}})
	var got result.Run
	a := b.call("run_skill", `{"name": "run", "params": {"target": "x"}}`)
	if err := json.Unmarshal(a.StructuredContent, &got); err != nil {
		t.Fatalf("%v in %s", err, a.StructuredContent)
	}
	if diff := cmp.Diff(made, got.Connections); diff != "" {
		t.Error(diff)
	}
	const most = 50
	for range most {
		made = append(made, sandbox.Connection{Host: "api.example.com:443", Sent: 1, Got: 2})
	}
	a = b.call("run_skill", `{"name": "run", "params": {"target": "x"}}`)
	if err := json.Unmarshal(a.StructuredContent, &got); err != nil {
		t.Fatalf("%v in %s", err, a.StructuredContent)
	}
	last := sandbox.Connection{Host: "(2 more; the log names them)", Sent: 2, Got: 4}
	if n := len(got.Connections); n != most+1 || got.Connections[n-1] != last {
		t.Errorf("%d connections, the last %+v", n, got.Connections[n-1])
	}
}
