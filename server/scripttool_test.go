package server

import (
	"encoding/json"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// The tool of a script names its skill, and so does a file that the script says
// nothing of.
func TestScriptToolsNameTheirSkill(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	b.files["p/skills/pdf/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: pdf\ndescription: Fills forms.\n---\nFill in order.\n")}
	b.files["p/skills/pdf/scripts/fill.py"] = &fstest.MapFile{Data: []byte(`#!/usr/bin/env python3
import argparse
p = argparse.ArgumentParser()
p.add_argument("--file")
p.add_argument("--template", type=open, help="The form.")
p.add_argument("--count", type=int)
a = p.parse_args()
print(open(a.file).read())
`)}
	b.publish()
	tools, _ := b.tools()
	var tool struct {
		Title, Description string
		InputSchema        struct {
			Properties map[string]struct{ Description string }
		}
	}
	if err := json.Unmarshal(tools["demo__pdf__fill"], &tool); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{"title": tool.Title, "description": tool.Description}
	for name, property := range tool.InputSchema.Properties {
		got[name] = property.Description
	}
	want := map[string]string{
		"title":       "Pdf: fill",
		"description": "Fill. Fills forms.\n\nA tool of the skill demo/pdf. Call load_skill with name \"demo/pdf\" before the first use.\n\nRelative paths are in the workspace, /workspace; files that it writes go to /out and are returned.",
		"file":        "A file or folder; the instructions of the skill demo/pdf tell of it (load_skill).",
		"template":    "The form.",
		"count":       "",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
