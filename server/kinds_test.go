package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mark3labs/mcp-go/mcp"
)

// A skill with several tools, and one of ongrid's, as a client sees them.
func TestKinds(t *testing.T) {
	b := newBench(t, ends(0, "done", ""))
	b.files = fstest.MapFS{
		"p/plugin.json": {Data: []byte(`{"name": "demo"}`)},
		"p/skills/many/SKILL.md": {Data: []byte("---\nname: many\ndescription: Does many things.\ndisplay_name: Many Things\nexecution_timeout: 5\n" +
			"entry_points: {raw: run.sh}\n---\nFirst this.\n")},
		"p/skills/many/tools.yaml": {Data: []byte("tools:\n- {name: add, script: calc.py, function: add, description: Adds., params: {a: {type: integer, required: true}}}\n" +
			"- {name: drop, script: run.sh, class: dangerous}\n- {name: gone, script: gone.sh}\n")},
		"p/skills/many/run.sh":     {Data: []byte("exec cat \"$@\"")},
		"p/skills/many/calc.py":    {Data: []byte("def add(a): pass\n")},
		"p/skills/disk/skill.json": {Data: []byte(`{"name": "disk", "description": "Disks.", "entry": "run", "schema": {"properties": {"path": {"type": ["string", "null"]}}}}`)},
		"p/skills/disk/run":        {Data: []byte("#!/bin/sh\n"), Mode: 0o755},
	}
	b.publish()
	var all strings.Builder
	var list struct{ Tools []mcp.Tool }
	if err := json.Unmarshal([]byte(b.ask("tools/list", "{}")), &list); err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if strings.HasPrefix(tool.Name, "demo__") {
			text, err := json.Marshal(tool)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "%s\n", indent(t, string(text)))
		}
	}
	for _, call := range []struct{ tool, args string }{
		{"list_skills", `{}`},
		{"search_skills", `{"query": "adds"}`},
		{"get_skill", `{"name": "many"}`},
		{"get_skill", `{"name": "many__raw"}`},
		{"load_skill", `{"name": "many__add"}`},
		{"demo__many", `{}`},
		{"demo__many__raw", `{"args": ["a"]}`},
		{"demo__many__raw", `{"a": 1}`},
		{"demo__many__add", `{"a": 1}`},
		{"run_skill", `{"name": "demo/many__drop"}`},
		{"run_skill", `{"name": "demo/many__gone"}`},
		{"demo__disk", `{}`},
		{"list_plugins", `{}`},
		{"reload_skills", `{}`},
	} {
		a := b.call(call.tool, call.args)
		fmt.Fprintf(&all, "== %s %s\nerror: %t\n", call.tool, call.args, a.IsError)
		if !strings.HasPrefix(call.tool, "demo__many__") && call.tool != "demo__disk" && call.tool != "load_skill" && call.tool != "demo__many" && len(a.StructuredContent) > 0 {
			all.WriteString(indent(t, string(a.StructuredContent)))
			continue
		}
		text, base, _ := strings.Cut(a.text(), "Base directory for this skill: ")
		if base != "" { // which is a folder of this test
			_, text, _ = strings.Cut(base, "\n\n")
		}
		fmt.Fprintf(&all, "%s\n", text)
	}
	golden(t, "kinds.txt", all.String())
}
