package result

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills"
)

// outcomeOf returns the outcome of a run that printed stdout.
func outcomeOf(stdout string) *run.Outcome {
	return &run.Outcome{What: "it", Result: &sandbox.Result{Stdout: sandbox.Output{Head: []byte(stdout), Total: int64(len(stdout))}}}
}

// A person reads texts, and not the object that has them.
func TestPersonText(t *testing.T) {
	for stdout, want := range map[string]string{
		`{"mcp":{"content":["one\n",{"type":"text","text":"two"}],"structuredContent":{"n":1}}}`: "one\n\ntwo",
		`{"mcp":{"structuredContent":{"n":1}}}`:                                                  `{"n":1}`,
		`{"mcp":{"content":[{"type":"audio","data":"UklGRg==","mimeType":"audio/wav"}]}}`:        "It has no text; --json prints all of it.",
		`{"mcp":{"content":["it went wrong"],"isError":true}}`:                                   "it went wrong",
		"plain": "plain",
	} {
		if got := PersonText(outcomeOf(stdout)); got != want {
			t.Errorf("%s: %q, want %q", stdout, got, want)
		}
	}
}

// A client gets the hint beside what a server says of its failure.
func TestHintOfFailure(t *testing.T) {
	for stdout, want := range map[string]int{
		`{"mcp":{"content":["EROFS"],"isError":true}}`: 2,
		`{"mcp":{"content":["EROFS"]}}`:                1,
	} {
		o := outcomeOf(stdout)
		o.Hint = "grant it more"
		skill := &skills.Skill{Name: "a", Entry: &skills.Entry{}}
		got := NewReport(Client{Outputs: output.New()}, skill, o, nil).ToolResult(skill.Entry).Content
		if len(got) != want || want == 2 && !strings.Contains(fmt.Sprint(got[1]), "grant it more") {
			t.Errorf("%s: %v", stdout, got)
		}
	}
}

// Old clients are told where a content is that they do not know.
func TestResultObjectForOldClients(t *testing.T) {
	a := attachments{Client: Client{Outputs: output.New()}, runID: "run-1"}
	items := parseOutput(outcomeOf(`{"mcp": {"content": [{"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"}, {"type": "resource_link", "uri": "test://x", "name": "x"}]}}`), nil).result.Items
	contents, err := a.items(items, nil)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(contents)
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"type":"text","text":"audio/wav, 4 bytes: skills-mcp://runs/run-1/content/0"},{"type":"text","text":"x: test://x"}]`
	if string(encoded) != want {
		t.Errorf("%s, want %s", encoded, want)
	}
	if item, ok := a.Outputs.Get("", "skills-mcp://runs/run-1/content/0"); !ok || string(item.Data) != "RIFF" {
		t.Errorf("it is not stored: %+v", item)
	}
}

// A content carries the annotations of the script.
func TestResultObjectAnnotates(t *testing.T) {
	a := attachments{Client: Client{Outputs: output.New(), Links: true}, runID: "run-1"}
	const said = `"_meta":{"a":1},"annotations":{"audience":["user"],"priority":0.5}`
	items := parseOutput(outcomeOf(`{"mcp": {"content": [{"type": "resource_link", "uri": "a:b", "name": "c", `+said+`}, {"type": "text", "text": "b", `+said+`}]}}`), nil).result.Items
	contents, err := a.items(items, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, content := range contents {
		var got map[string]json.RawMessage
		if err := json.Unmarshal(encoded(content), &got); err != nil {
			t.Fatal(err)
		}
		if have := fmt.Sprintf(`"_meta":%s,"annotations":%s`, got["_meta"], got["annotations"]); have != said {
			t.Errorf("content[%d]: %s", i, have)
		}
	}
}

// A person who runs a skill by hand is told of output that clients would refuse.
func TestAdvise(t *testing.T) {
	for name, c := range map[string]struct {
		stdout string
		asks   []skills.Asked
		fault  string // of CheckOutput
		advice string
	}{
		"plain":                {"hello", nil, "", ""},
		"an object":            {`{"a": 1}`, nil, "", ""},
		"a result object":      {`{"mcp": {"content": ["a", {"path": "a.png"}]}}`, nil, "", ""},
		"a file that is not":   {`{"mcp": {"content": [{"path": "b.png"}]}}`, nil, `"b.png" is not among the files`, ""},
		"it says isError":      {`{"mcp": {"content": ["no"], "isError": true}}`, nil, "skill a says that it has failed (isError); its output says why", ""},
		"not JSON":             {`{"mcp": {"content": ["a",]}}`, nil, "", "its output has a result object"},
		"more output":          {"loading\n  {\"mcp\":{\"content\": []}}\n", nil, "", "its output has a result object"},
		"an undeclared asking": {"{\"mcp\": {\"ask\": \"ok?\"}}\ndone\n", nil, "", `a line of its output asks`},
		"only that":            {`{"mcp": {"ask": "ok?"}}`, nil, `"ask" is not known`, ""},
		"a line about it":      {"write {\"mcp\": {}}", nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := &run.Outcome{What: "skill a", Result: &sandbox.Result{
				Stdout: sandbox.Output{Head: []byte(c.stdout), Total: int64(len(c.stdout))},
				Exit:   sandbox.Exit{Out: sandbox.Files{Taken: []sandbox.File{{Name: "a.png", Data: []byte("x")}}}},
			}}
			skill := &skills.Skill{Name: "a", Asks: c.asks}
			fault := ""
			if err := CheckOutput(o); err != nil {
				fault = err.Error()
			}
			if (fault == "") != (c.fault == "") || !strings.Contains(fault, c.fault) {
				t.Errorf("fault %q, want %q", fault, c.fault)
			}
			if advice := Advise(skill, o); (advice == "") != (c.advice == "") || !strings.HasPrefix(advice, c.advice) {
				t.Errorf("advice %q, want %q", advice, c.advice)
			}
		})
	}
}

// The output of a script has to be as its skill declares: one JSON value, or an object of its
// schema. That of code, which has the folder of such a skill, has not.
func TestDeclaredOutput(t *testing.T) {
	typed := &skills.Entry{Output: &jsonschema.Schema{Type: "object", Required: []string{"a"}}}
	for _, test := range []struct {
		entry   *skills.Entry
		printed string
		code    int
		want    string
	}{
		{&skills.Entry{OutputJSON: true}, `{"ok": true}` + "\n", 0, ""},
		{&skills.Entry{OutputJSON: true}, ` [1] `, 0, ""},
		{&skills.Entry{OutputJSON: true}, `done`, 0, "is not one JSON value"},
		{&skills.Entry{OutputJSON: true}, `{} {}`, 0, "is not one JSON value"},
		{&skills.Entry{OutputJSON: true}, ``, 0, "is not one JSON value"},
		{&skills.Entry{OutputJSON: true}, `failed`, 3, ""}, // which the exit code tells
		{typed, `{"a": 1}`, 0, ""},
		{typed, `{"b": 1}`, 0, "is not what its output_schema says"},
		{typed, `text`, 0, "is not what its output_schema says"},
		{nil, `text`, 0, ""},
	} {
		o := outcomeOf(test.printed)
		o.Entry, o.Code, o.Exited = test.entry, test.code, true
		err := CheckOutput(o)
		if r := New(nil, o, nil); (r.Error == nil) != (err == nil && test.code == 0) {
			t.Errorf("%q: the record has %v, the caller %v", test.printed, err, r.Error)
		}
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.printed, err, test.want)
		}
	}
}

// An object that clients would refuse is no structured content.
func TestStructure(t *testing.T) {
	for printed, want := range map[string]string{
		" {\"a\": [1.5e300]}\n": `{"a": [1.5e300]}`,
		`{"a": 1e400}`:          "",
		`{} {}`:                 "",
		`[1]`:                   "",
		strings.Repeat(`{"a":`, 200) + "1" + strings.Repeat("}", 200): "",
	} {
		if got := jsonObject(sandbox.Output{Head: []byte(printed), Total: int64(len(printed))}); string(got) != want {
			t.Errorf("%.40q: %q, want %q", printed, got, want)
		}
	}
}
