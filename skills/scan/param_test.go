package scan

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/schema"
)

const threeShapes = `{"properties":{"path":{"type":"string"},"count":{"type":"integer"},"verbose":{"type":"boolean"}},"type":"object"}`

func TestParamShapes(t *testing.T) {
	for name, params := range map[string]string{
		"map of maps":    "params:\n  path: {type: string}\n  count: {type: integer}\n  verbose: {type: boolean}\n",
		"list of maps":   "params:\n  - {name: path}\n  - {name: count, type: integer}\n  - name: verbose\n    type: boolean\n",
		"name: type":     "params:\n  path: string\n  count: integer\n  verbose: boolean\n",
		"list and words": "params:\n  - path\n  - {name: count, type: integer}\n  - {name: verbose, type: boolean}\n",
		"null for text":  "params:\n  path:\n  count: integer\n  verbose: boolean\n",
	} {
		t.Run(name, func(t *testing.T) {
			skill, catalog := loadSkill(t, "---\nname: demo\ndescription: d\nscript: run.sh\n"+params+"---\n", "run.sh")
			if len(catalog.Problems) > 0 {
				t.Errorf("problems: %v", catalog.Problems)
			}
			if got := encode(t, skill.Entry.Schema()); got != threeShapes {
				t.Errorf("schema %s, want %s", got, threeShapes)
			}
		})
	}
}

func TestParamsAsJSONSchema(t *testing.T) {
	const schema = "params:\n  type: object\n  additionalProperties: false\n  required: [x]\n  properties:\n    x: {type: integer, description: The x.}\n    y: {type: array, items: {type: string}}\n"
	for name, test := range map[string]struct{ params, want string }{
		"a schema":             {schema, `{"properties":{"x":{"type":"integer","description":"The x."},"y":{"items":{"type":"string"},"type":"array"}},"type":"object","required":["x"]}`},
		"without its type":     {strings.Replace(schema, "  type: object\n", "", 1), `{"properties":{"x":{"type":"integer","description":"The x."},"y":{"items":{"type":"string"},"type":"array"}},"type":"object","required":["x"]}`},
		"names like keywords":  {"params:\n  type: string\n  properties: object\n", `{"properties":{"type":{"type":"string"},"properties":{"type":"object"}},"type":"object"}`},
		"a map of properties":  {"params:\n  properties: {type: object, description: Some.}\n", `{"properties":{"properties":{"type":"object","description":"Some."}},"type":"object"}`},
		"a parameter required": {"params:\n  required: {type: boolean}\n  properties: {type: object}\n", `{"properties":{"required":{"type":"boolean"},"properties":{"type":"object"}},"type":"object"}`},
	} {
		skill, _ := loadSkill(t, "---\nname: demo\ndescription: d\nscript: run.sh\n"+test.params+"---\n", "run.sh")
		if got := encode(t, skills.Flags(skill.Entry.Params()).Schema()); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
		if want := strings.Contains(test.params, "additionalProperties"); skill.Entry.Closed != want {
			t.Errorf("%s: closed %v", name, skill.Entry.Closed)
		}
	}
}

func TestParamFields(t *testing.T) {
	skill, catalog := loadSkill(t, `---
name: demo
description: d
script: run.sh
params:
  mode: {type: string, required: true, description: How., enum: [fast, slow], default: fast}
  count: {type: integer, minimum: 1, maximum: 1e3, default: 5}
  name: {type: string, pattern: "^[a-z]+$", format: uri}
  tags: {type: array, items: {type: string, enum: [a, b]}}
  any_thing: {type: whatever}
---
`, "run.sh")
	const want = `{"properties":{` +
		`"mode":{"type":"string","enum":["fast","slow"],"description":"How.","default":"fast"},` +
		`"count":{"type":"integer","maximum":1000,"minimum":1,"default":5},` +
		`"name":{"type":"string","pattern":"^[a-z]+$","format":"uri"},` +
		`"tags":{"items":{"type":"string","enum":["a","b"]},"type":"array"},` +
		`"any_thing":{"description":"Any value."}},"type":"object","required":["mode"]}`
	if got := encode(t, skill.Entry.Schema()); got != want {
		t.Errorf("schema\n%s\nwant\n%s", got, want)
	}
	if n := len(catalog.Problems); n != 2 { // of the unknown type, and of the default that never counts
		t.Errorf("problems: %v", catalog.Problems)
	}
}

func TestParamProblems(t *testing.T) {
	for name, test := range map[string]struct{ params, want string }{
		"name that is no option": {"{'a b': string}", `"a b" cannot be passed as an option`},
		"twice":                  {"[{name: a}, {name: a}]", `"a" is declared twice`},
		"bad pattern":            {"{a: {pattern: '('}}", `"(" is not a regular expression`},
		"bad bound":              {"{a: {type: integer, minimum: few}}", `"minimum" is not a number`},
		"bad default":            {"{a: {type: integer, default: few}}", `the default is ignored: "a" must be an integer`},
		"default out of bounds":  {"{a: {type: integer, minimum: 2, default: 1}}", `the default is ignored: "a" must be at least 2, not 1`},
		"default not in enum":    {"{a: {enum: [x, [y]], default: z}}", `the default is ignored: "a" must be one of "x" or ["y"], not "z"`},
		"default of other kind":  {"{a: {type: integer, default: 1.5}}", `the default is ignored: "a" must be an integer, not a number`},
		"default of no pattern":  {"{a: {pattern: '^x', default: z}}", `the default is ignored: "a" must match ^x, which "z" does not`},
		"bad required":           {"{a: {required: perhaps}}", `"required" is not true or false`},
		"no list of values":      {"{a: {enum: x}}", `"enum" is not a list of values`},
		"no shape at all":        {"text", `"params" is not a map or a list of parameters`},
	} {
		t.Run(name, func(t *testing.T) {
			_, catalog := loadSkill(t, "---\nname: demo\ndescription: d\nscript: run.sh\nparams: "+test.params+"\n---\n", "run.sh")
			if got := lines(catalog.Problems); !strings.Contains(got, test.want) || !strings.Contains(got, ":5:") {
				t.Errorf("problems:\n%swant one in line 5 with %q", got, test.want)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	skill, _ := loadSkill(t, `---
name: demo
description: d
script: run.sh
params:
  path: {type: string, required: true}
  count: {type: integer, minimum: 1, maximum: 9}
  ratio: {type: number}
  mode: {type: string, enum: [fast, slow]}
  word: {type: string, pattern: "^[a-z]+$"}
  tags: {type: array, items: {type: string}}
  free: {type: whatever}
---
`, "run.sh")
	for _, test := range []struct{ args, want string }{
		{`{"path": "."}`, ``},
		{`{"path": ".", "count": 3.0}`, ``},
		{`{"path": ".", "count": 3, "ratio": 2, "tags": [], "undeclared": {"a": [1]}}`, ``},
		{`{"path": ".", "free": [1, {"x": null}]}`, ``},
		{`{}`, `missing required parameter "path"`},
		{`{"path": 1}`, `"path" must be a string, not a number`},
		{`{"path": ".", "count": true}`, `"count" must be an integer, not a boolean`},
		{`{"path": ".", "count": 3.5}`, `"count" must be an integer, not a number`},
		{`{"path": ".", "count": "3"}`, `"count" must be an integer, not a string`},
		{`{"path": ".", "count": 0}`, `"count" must be at least 1, not 0`},
		{`{"path": ".", "count": 10}`, `"count" must be at most 9, not 10`},
		{`{"path": ".", "mode": "slower"}`, `"mode" must be one of "fast" or "slow", not "slower"`},
		{`{"path": ".", "word": "A"}`, `"word" must match ^[a-z]+$, which "A" does not`},
		{`{"path": ".", "tags": ["a", 1]}`, `"tags"[1] must be a string, not a number`},
		{`{"count": 0, "ratio": "x"}`, `"count" must be at least 1, not 0; "ratio" must be a number, not a string; missing required parameter "path"`},
	} {
		err := schema.Validate(skill.Entry, decode(t, test.args))
		if got := words(err); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.args, got, test.want)
		}
		var argument *schema.ArgumentError
		if err != nil && !errors.As(err, &argument) {
			t.Errorf("%s: error of type %T", test.args, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	skill, _ := loadSkill(t, "---\nname: demo\ndescription: d\nscript: run.sh\nparams:\n  a: {type: integer, default: 5}\n  b: string\n  c: {type: string, default: x}\n---\n", "run.sh")
	given := map[string]any{"a": nil, "b": nil, "c": "given", "d": nil}
	if got := encode(t, skill.Entry.Defaults(given)); got != `{"a":5,"c":"given","d":null}` {
		t.Errorf("with defaults: %s", got)
	}
	if len(given) != 4 {
		t.Error("the arguments were changed")
	}
}

func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func encode(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value map[string]any
	if err := decoder.Decode(&value); err != nil {
		t.Fatal(err)
	}
	return value
}
