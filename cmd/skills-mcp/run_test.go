package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	"github.com/skillsmcp/skills-mcp/cmd/skills-mcp/invocation"
	"github.com/skillsmcp/skills-mcp/skills"
)

// parser is a script's own command line, of which only the schema counts here.
func TestParseRun(t *testing.T) {
	static := `{"dry_run": {"type": "boolean"}, "max_count": {"type": "integer"}, "in-file": {"type": "string"}, "args_json": {"type": "string"},
		"json": {"type": "boolean"}, "any": {}, "open": {"anyOf": [{"type": "string"}, {"const": true}]}}`
	for _, test := range []struct{ name, properties, words, want string }{
		{"as the script spells them", static, `--dry-run --max-count 3 --in-file f`, `{"dry_run":true,"in-file":"f","max_count":3}`},
		{"as they are called", static, `--dry_run=false --max_count -3`, `{"dry_run":false,"max_count":-3}`},
		{"one of run's own before another spelling", static, `--args-json {"any":1} --args_json x`, `{"any":1,"args_json":"x"}`},
		{"the script's before one of run's own", static, `--json --force`, `{"json":true}`},
		{"twice", static, `--max-count 1 --max_count 2`, `--max_count is given twice`},
		{"any value", static, `--any {"a":[1]}`, `{"any":{"a":[1]}}`},
		{"any value that is no JSON", static, `--any {a`, `{"any":"{a"}`},
		{"one of several types", static, `--open 5`, `{"open":"5"}`},
		{"the other", static, `--open=true`, `{"open":true}`},
		{"not declared", static, `--no-such x`, `{"no-such":"x"}`},
		{"no static command line", "", `--top-n 3 --kind "5"`, `{"kind":"\"5\"","top-n":"3"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			given, err := invocation.Parse(runnable(t, test.properties), strings.Fields(test.words))
			got := ""
			if err != nil {
				got = err.Error()
			} else if text, err := json.Marshal(given.Params); err == nil {
				got = string(text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// runnable is a skill whose script reads these properties from its command line,
// or, without any, has the declared parameters top_n and kind.
func runnable(t *testing.T, properties string) *skills.Skill {
	t.Helper()
	var args skills.Args = skills.Flags{
		{Name: "top_n", Schema: &jsonschema.Schema{Type: "integer"}},
		{Name: "kind", Schema: &jsonschema.Schema{}},
	}
	if properties != "" {
		schema := &jsonschema.Schema{}
		if err := json.Unmarshal([]byte(`{"type": "object", "properties": `+properties+`}`), schema); err != nil {
			t.Fatal(err)
		}
		args = skills.ParsedCLI{Object: schema}
	}
	return &skills.Skill{Name: "demo", Entry: &skills.Entry{Script: "run.py", Args: args}}
}
