package server

import (
	"strings"
	"testing"
	"testing/fstest"
)

// The description of a tool that takes files says where they are.
func TestDescriptionsSayWhereFilesAre(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	const python = "#!/usr/bin/env python3\nimport argparse\np = argparse.ArgumentParser()\np.add_argument('ARG')\np.parse_args()\nif __name__ == '__main__':\n    pass\n"
	const looked, named = "Relative paths are in the workspace, /workspace; files that it writes go to /out and are returned.", "name files of the workspace as /workspace/NAME, and write to /out/NAME"
	for name, skill := range map[string]struct{ fields, script, want string }{
		"reads":    {"", strings.ReplaceAll(python, "ARG", "input_file"), looked},
		"greets":   {"", strings.ReplaceAll(python, "ARG", "greeting"), ""},
		"unread":   {"", "#!/bin/sh\neval \"$@\"\n", named},
		"declared": {"script: run\nparams: {path: {type: string, format: path}}\n", "echo", looked},
		"exact":    {"script: run\nparams: {input_file: string, count: integer}\n", "echo", named},
		"neither":  {"script: run\nparams: {text: string, output_format: string}\n", "echo", ""},
		"chosen":   {"script: run\nparams: {file: {type: string, enum: [a, b]}}\n", "echo", ""},
	} {
		b.files["p/skills/"+name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: d\n" + skill.fields + "---\n")}
		file := "run"
		if strings.Contains(skill.script, "python3") {
			file = "run.py"
		}
		b.files["p/skills/"+name+"/"+file] = &fstest.MapFile{Data: []byte(skill.script)}
		b.publish()
		tools, _ := b.tools()
		tool := string(tools["demo__"+name+"__run"])
		if skill.fields != "" {
			tool = string(tools["demo__"+name])
		}
		if tool == "" || strings.Contains(tool, "/workspace") != (skill.want != "") || !strings.Contains(tool, skill.want) {
			t.Errorf("%s: %s", name, tool)
		}
		delete(b.files, "p/skills/"+name+"/SKILL.md")
	}
}
