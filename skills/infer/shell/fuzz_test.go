package shell

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills/infer/cli"
)

// FuzzRead: whatever a script is, it is not read or has a schema; and whatever
// the value, it is refused or is an argument of its own, behind its option.
func FuzzRead(f *testing.F) {
	for _, script := range plainScripts() {
		f.Add([]byte(script.text), "-x")
	}
	for _, seed := range []string{
		"", "X=$1", "while [", "case $1 in", "while getopts a: o; do case $o in a) A=$OPTARG;; esac; done", "$((", "<<E\n$1\nE", "f() { f \"$@\"; }; f \"$@\"", "for x; do echo; done",
		"[[ -z $1 ]] && exit\n${1:?}", "x=(\"$@\")", "shift 99999999999999999999", "${!1} ${#1} ${1//a/b} ${@:1}", "while :; do case $1 in *) break;; esac; done; X=$1", "X=1 && exit", "X=1 || exit", "[", "test", "[ ]", "((", "set -", "while [ ]; do shift; done",
	} {
		f.Add([]byte(seed), "--")
	}
	f.Fuzz(func(t *testing.T, source []byte, value string) {
		m := NewModule(source)
		m.Runs()
		c := m.Read("").CommandLine
		if c == nil {
			return
		}
		schema := c.Schema()
		if _, err := json.Marshal(schema); err != nil {
			t.Fatalf("%+v, %v", c, err)
		}
		args := map[string]any{}
		for pair := schema.Properties.Oldest(); pair != nil; pair = pair.Next() {
			args[pair.Key] = map[string]any{"string": value, "boolean": true, "array": []any{value, value}}[pair.Value.Type]
		}
		argv, err := c.Argv(args)
		if err != nil || len(args) == 0 {
			return
		}
		if strings.HasPrefix(value, "-") {
			checkFlags(t, c, argv, value)
		}
	})
}

// checkFlags checks that a value that looks like an option stands where none is
// read.
func checkFlags(t *testing.T, c *cli.CommandLine, argv []string, value string) {
	i, options := 0, false
	c.Arguments(func(_ string, a *cli.Argument) {
		times := 1
		if a.List {
			times = 2
		}
		for range times {
			switch {
			case a.Flag == "" && !options && a.Leads:
				i++
			case a.Flag == "":
			case a.Kind == cli.Switch && argv[i] == a.Flag, a.Form == cli.Joined && argv[i] == a.Flag+"="+value:
				i++
			case a.Form == cli.Apart && argv[i] == a.Flag && argv[i+1] == value:
				i += 2
			default:
				t.Fatalf("%q, at %d", argv, i)
			}
			options = options || a.Flag != ""
		}
	})
	if i < len(argv) && options && argv[i] != "--" {
		t.Errorf("%q is read as an option in %q", value, argv[i:])
	}
}
