package scan

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

// line is a command line that takes a name and a number.
type line struct{}

func (line) Schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties(), Required: []string{"name"}}
	s.Properties.Set("name", &jsonschema.Schema{Type: "string"})
	s.Properties.Set("n", &jsonschema.Schema{Type: "integer", Default: 5})
	return s
}

func (line) Argv(args map[string]any) ([]string, error) {
	if args["name"] == "-" {
		return nil, errors.New(`"name" cannot be passed`)
	}
	words := []string{args["name"].(string)}
	if n, ok := args["n"].(json.Number); ok {
		words = append([]string{"-n", n.String()}, words...)
	}
	return words, nil
}

func TestPass(t *testing.T) {
	object := &jsonschema.Schema{Type: "object", Properties: jsonschema.NewProperties()}
	object.Properties.Set("maybe", &jsonschema.Schema{Extras: map[string]any{"type": []any{"string", "null"}}})
	object.Properties.Set("text", &jsonschema.Schema{Type: "string"})
	for _, test := range []struct {
		name        string
		args        skills.Args
		given       string
		words       []string
		stdin, want string // want is an error
	}{
		{"flags", skills.Flags{{Name: "a", Schema: &jsonschema.Schema{Type: "string", Default: "x"}}}, `{"b": "-1", "c": null}`, []string{"--a", "x", "--b", "-1", "--c", "null"}, "", ""},
		{"input", skills.Input{Object: object}, `{"n": 12345678901234567890, "t": "<é>\n"}`, nil, `{"n":12345678901234567890,"t":"<é>\n"}`, ""},
		{"empty input", skills.Input{Object: object}, `{}`, nil, `{}`, ""},
		{"null where it is a value, and where it is none", skills.Input{Object: object, Argv: []string{"f"}}, `{"maybe": null, "text": null}`, []string{"f"}, `{"maybe":null}`, ""},
		{"declared input", skills.Input{Params: skills.Flags{{Name: "a", Schema: &jsonschema.Schema{Type: "integer", Default: 5}}, {Name: "b", Schema: &jsonschema.Schema{Type: "integer"}}}}, `{"a": null, "b": 2.0, "c": 1.0}`, nil, `{"a":5,"b":2,"c":1.0}`, ""},
		{"words", skills.RawArgv{}, `{"args": ["a b", "-x", ""], "stdin": "in\u0000put"}`, []string{"a b", "-x", ""}, "in\x00put", ""},
		{"no words", skills.RawArgv{}, `{"args": null}`, nil, "", ""},
		{"words with NUL", skills.RawArgv{}, `{"args": ["a", "b\u0000"]}`, nil, "", `"args[1]" contains a NUL character, which no program can be passed; leave it out`},
		{"unknown words", skills.RawArgv{}, `{"argv": []}`, nil, "", `there is no parameter "argv"`},
		{"words that are none", skills.RawArgv{}, `{"args": [1]}`, nil, "", `"args"[0] must be a string, not a number`},
		{"static", skills.ParsedCLI{Object: line{}.Schema(), CommandLine: line{}}, `{"name": "x", "n": 3}`, []string{"-n", "3", "x"}, "", ""},
		{"static has its own defaults", skills.ParsedCLI{Object: line{}.Schema(), CommandLine: line{}}, `{"name": "x", "n": null}`, []string{"x"}, "", ""},
		{"static refuses", skills.ParsedCLI{Object: line{}.Schema(), CommandLine: line{}}, `{"name": "-"}`, nil, "", `"name" cannot be passed`},
		{"static with NUL", skills.ParsedCLI{Object: line{}.Schema(), CommandLine: line{}}, `{"name": "\u0000"}`, nil, "", `"args[0]" contains a NUL character, which no program can be passed; leave it out`},
		{"static that misses", skills.ParsedCLI{Object: line{}.Schema(), CommandLine: line{}}, `{}`, nil, "", `missing required parameter "name"`},
		{"none", nil, `{}`, nil, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			decoder := json.NewDecoder(strings.NewReader(test.given))
			decoder.UseNumber()
			var args map[string]any
			if err := decoder.Decode(&args); err != nil {
				t.Fatal(err)
			}
			entry := &skills.Entry{Args: test.args}
			args = entry.Defaults(args)
			var passed skills.Passed
			err := schema.Validate(entry, args)
			if err == nil {
				passed, err = entry.Pass(args)
			}
			if words(err) != test.want {
				t.Fatalf("error %v, want %s", err, test.want)
			}
			if err != nil {
				return
			}
			if diff := cmp.Diff(test.words, passed.Argv); diff != "" || string(passed.Stdin) != test.stdin {
				t.Errorf("stdin %q, want %q; words: %s", passed.Stdin, test.stdin, diff)
			}
		})
	}
}

func TestParams(t *testing.T) {
	for _, test := range []struct {
		args skills.Args
		want string
	}{
		{skills.Flags{{Name: "a", Required: true, Path: true, Schema: &jsonschema.Schema{Type: "string"}}}, "a string true true"},
		{skills.ParsedCLI{Object: line{}.Schema(), CommandLine: line{}}, "name string true false, n integer false false"},
		{skills.RawArgv{}, "args array false false, stdin string false false"},
		{skills.Input{Object: &jsonschema.Schema{Type: "object"}}, ""},
	} {
		var all []string
		for _, p := range (&skills.Entry{Args: test.args}).Params() {
			all = append(all, strings.Join([]string{p.Name, p.Schema.Type, jsonOf(t, p.Required), jsonOf(t, p.Path)}, " "))
		}
		if got := strings.Join(all, ", "); got != test.want {
			t.Errorf("%T: %s, want %s", test.args, got, test.want)
		}
	}
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
