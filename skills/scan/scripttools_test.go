package scan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/truncate"
)

// scriptsOf renders the tools of a skill: name, command, schema.
func scriptsOf(skill *skills.Skill) string {
	var b strings.Builder
	for _, tool := range skill.Tools {
		fmt.Fprintf(&b, "%s: %s %s %s\n", tool.Name, tool.Entry.Interpreter[0], tool.Entry.Script, shown(tool.Entry.Schema().Properties))
	}
	return b.String()
}

const (
	argparsed = "#!/usr/bin/env python3\n'''Make a report.'''\nimport argparse\np = argparse.ArgumentParser()\np.add_argument('--top', type=int)\np.parse_args()\n"
	getopts   = "#!/bin/bash\n# Greets.\nwhile getopts 'n:' o; do case $o in n) name=$OPTARG;; esac; done\n"
	tooled    = "from langchain_core.tools import tool\n\n@tool\ndef add(a: int, b: int = 1) -> int:\n    '''Adds.'''\n    return a + b\n"
)

// The scripts of a skill that declares nothing to run are its tools.
func TestScriptTools(t *testing.T) {
	words := shown(skills.RawArgv{}.Schema().Properties)
	for name, test := range map[string]struct {
		front string
		files map[string]string
		want  string
	}{
		"argparse":               {"", map[string]string{"scripts/report.py": argparsed}, `demo__report: python3 scripts/report.py {"top":{"type":"integer"}}`},
		"getopts":                {"", map[string]string{"greet.sh": getopts}, `demo__greet: bash greet.sh {"name":{"type":"string"}}`},
		"CRLF":                   {"", map[string]string{"greet.sh": strings.ReplaceAll(getopts, "\n", "\r\n")}, `demo__greet: bash greet.sh {"name":{"type":"string"}}`},
		"unknown":                {"", map[string]string{"a.rb": "#!/usr/bin/env ruby\n"}, "demo__a: ruby a.rb " + words},
		"no script":              {"", map[string]string{"data.csv": "1,2", "lib.py": "X = 1\n"}, ""},
		"declared":               {"script: a.sh", map[string]string{"a.sh": "#!/bin/sh\n", "b.sh": "#!/bin/sh\n"}, ""},
		"unreadable restriction": {"class: what", map[string]string{"a.sh": "#!/bin/sh\n"}, ""},
		"LangChain":              {"skill_type: langchain_tool", map[string]string{"tools.py": tooled, "other.py": "X = 1\n"}, `demo__add: python3 tools.py {"a":{"type":"integer"},"b":{"type":"integer","default":1}}`},
		"LangChain, classes": {"skill_type: langchain_tool", map[string]string{"tools.py": "from langchain_core.tools import tool, BaseTool\nclass Add(BaseTool):\n    name: str = 'add'\n    description: str = 'Adds.'\n    def _run(self, a: int): ...\nclass Ask(BaseTool):\n    key: str\n    def _run(self): ...\n"},
			`demo__add: python3 tools.py {"a":{"type":"integer"}}`},
		"LangChain, inline": {"skill_type: langchain_tool", nil, `demo__add: python3 SKILL.md {"a":{"type":"integer"}}`},
		"LangChain, by entry point": {"skill_type: langchain_tool\nentry_points: {run: tools.py}", map[string]string{"tools.py": tooled},
			"demo__run: python3 tools.py {}"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"demo/SKILL.md": "---\nname: demo\ndescription: d\n" + test.front + "\n---\nRead this.\n\n```python\n@tool\ndef add(a: int): ...\n```\n"}
			for name, content := range test.files {
				files["demo/"+name] = content
			}
			skill, err := scanFiles(t, files).Lookup("demo")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, strings.TrimSpace(scriptsOf(skill))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What a script's own parser reads is what it is passed.
func TestInferredPasses(t *testing.T) {
	for script, test := range map[string]struct {
		source, interpreter string
		args                map[string]any
		want, fails         string
	}{
		"a.py": {argparsed, "python3", map[string]any{"top": 3.0}, "--top=3", ""},
		"b.py": {argparsed, "python3", map[string]any{"top": "x"}, "", "top"},
		"c.sh": {getopts, "bash", map[string]any{"name": "Ann"}, "-n Ann", ""},
		"d.sh": {"#!/bin/sh\nexec cat \"$@\"\n", "sh", map[string]any{"args": []any{"-x", "y"}}, "-x y", ""},
	} {
		skill := &skills.Skill{Files: fstest.MapFS{script: {Data: []byte(test.source)}}, Entry: &skills.Entry{Script: script, Interpreter: []string{test.interpreter}}}
		skill.Entry.SetUndeclared()
		infer.Arguments(skill, nil)
		infer.Bind(skill)
		passed, err := skill.Entry.Pass(test.args)
		switch got := strings.Join(passed.Argv, " "); {
		case test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)):
			t.Errorf("%s: %q, %v; want an error that names %s", script, got, err, test.fails)
		case test.fails == "" && (err != nil || got != test.want):
			t.Errorf("%s: %q, %v; want %q", script, got, err, test.want)
		}
	}
	gone := &skills.Skill{Files: fstest.MapFS{}, Entry: &skills.Entry{Script: "gone.sh", Interpreter: []string{"bash"}}}
	gone.Entry.SetUndeclared()
	infer.Arguments(gone, nil)
	if _, ok := gone.Entry.Args.(skills.RawArgv); !ok || gone.Entry.Unread != nil {
		t.Error("a script that cannot be read has arguments of its own")
	}
}

// shown renders a value as JSON, shortened.
func shown(value any) string {
	data, _ := json.Marshal(value)
	return truncate.String(string(data), 80)
}
