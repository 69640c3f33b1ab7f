package scan

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// A value that begins with a dash comes as the script reads it.
func TestValuesWithADash(t *testing.T) {
	for name, test := range map[string]struct{ file, source, want string }{
		"a loop of a shell":          {"run.sh", "while [ $# -gt 0 ]; do case \"$1\" in --n) n=$2; shift 2;; -t|--t) t=$2; shift 2;; esac; done", "--n -5 --t -x"},
		"a loop that wants an =":     {"run.sh", "for a; do case $a in --n=*) n=${a#*=};; --t=*) t=${a#*=};; esac; done", "--n=-5 --t=-x"},
		"a shell script":             {"run.sh", "echo \"$@\"", "--n -5 --t=-x"},
		"argparse":                   {"run.py", "import argparse\n", "--n=-5 --t=-x"},
		"click":                      {"run.py", "from click import option\n", "--n=-5 --t=-x"},
		"no parser that is known":    {"run.py", "import sys\nargs = sys.argv\n", "--n -5 --t=-x"},
		"parseArgs":                  {"run.mjs", "import { parseArgs } from 'node:util'\n", "--n=-5 --t=-x"},
		"process.argv":               {"run.mjs", "process.argv.slice(2)\n", "--n -5 --t=-x"},
		"a language nobody looks at": {"run", "#!/usr/bin/perl\n", "--n -5 --t=-x"},
	} {
		t.Run(name, func(t *testing.T) {
			skill := &skills.Skill{Files: fstest.MapFS{test.file: {Data: []byte(test.source)}}, Entry: &skills.Entry{Script: test.file, Args: skills.Flags{{Name: "n", Schema: &jsonschema.Schema{Type: "integer"}}}}}
			passed, err := infer.Pass(skill, test.file, map[string]any{"n": json.Number("-5"), "t": "-x"})
			if got := strings.Join(passed.Argv, " "); err != nil || got != test.want {
				t.Errorf("%s, %v; want %s", got, err, test.want)
			}
		})
	}
}

// TestPlaceholdersAreNotPassed does not pass again the arguments that the script's
// path is made of.
func TestPlaceholdersAreNotPassed(t *testing.T) {
	skill := &skills.Skill{Files: fstest.MapFS{}, Entry: &skills.Entry{Script: "{kind}-{b}.sh", Args: skills.Flags{{Name: "kind", Schema: &jsonschema.Schema{Type: "string"}}}}}
	args := map[string]any{"kind": "one", "b": "two", "c": "three"}
	passed, err := infer.Pass(skill, "one-two.sh", args)
	if diff := cmp.Diff([]string{"--c", "three"}, passed.Argv); diff != "" || err != nil || len(args) != 3 {
		t.Errorf("%v %v %s", err, args, diff)
	}
}

func TestUndeclared(t *testing.T) {
	flags := skills.Flags{{Name: "path"}, {Name: "max_results"}, {Name: "n"}}
	for given, want := range map[string]string{
		`{"path": 1}`:                      "",
		`{"pth": 1}`:                       `there is no parameter "pth"; did you mean "path"?`,
		`{"paht": 1}`:                      `there is no parameter "paht"; did you mean "path"?`,
		`{"pth": 1, "path": 2}`:            "pth",
		`{"maxResults": 1, "verbose": 2}`:  `there is no parameter "maxResults"; did you mean "max_results"?`,
		`{"max-result": 1}`:                `there is no parameter "max-result"; did you mean "max_results"?`,
		`{"m": 1, "verbose": 2, "pat": 1}`: `there is no parameter "pat"; did you mean "path"?`,
		`{"m": 1, "verbose": 2}`:           "m verbose",
	} {
		var args map[string]any
		if err := json.Unmarshal([]byte(given), &args); err != nil {
			t.Fatal(err)
		}
		unknown, err := schema.Undeclared((&skills.Entry{Args: flags}), args)
		if got := words(err) + strings.Join(unknown, " "); got != want {
			t.Errorf("%s: %s, want %s", given, got, want)
		}
	}
	// Without declared parameters none is unknown.
	if unknown, err := schema.Undeclared((&skills.Entry{Script: "{kind}.sh"}), map[string]any{"x": 1}); unknown != nil || err != nil {
		t.Errorf("without params: %v, %v", unknown, err)
	}
}

// TestAdditional refuses undeclared arguments for additional: false, and for a value
// that cannot be read.
func TestAdditional(t *testing.T) {
	for value, closed := range map[string]bool{"true": false, "false": true, "maybe": true} {
		skill, catalog := loadSkill(t, "---\nname: demo\ndescription: d\nscript: run.sh\nadditional: "+value+"\nparams: {path: string}\n---\n", "run.sh", "echo")
		problems := lines(catalog.Problems)
		err := schema.Validate(skill.Entry, map[string]any{"other": "x"})
		if (err != nil) != closed || strings.Contains(problems, "additional") != (value == "maybe") {
			t.Errorf("%s: %v, %s", value, err, problems)
		}
	}
}
