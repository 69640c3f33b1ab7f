package server

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/result"
)

// shownTo returns the part of a result that Claude Code and Codex pass to their
// model: the structure, where there is one, and otherwise the contents.
func shownTo(t *testing.T, contents []content, structure json.RawMessage) string {
	t.Helper()
	if structure != nil {
		return string(structure)
	}
	encoded, err := json.Marshal(contents)
	if err != nil {
		t.Fatal(err)
	}
	return string(encoded)
}

// lost returns the contents that a structure lacks.
func lost(t *testing.T, contents []content, structure json.RawMessage) (all []string) {
	t.Helper()
	var whole any
	if err := json.Unmarshal(structure, &whole); err != nil {
		t.Fatal(err)
	}
	values := strings.Join(scalars(whole), "\n")
	miss := func(what string) {
		if !strings.Contains(values, what) {
			all = append(all, what)
		}
	}
	for _, c := range contents {
		switch c.Type {
		case "text":
			var same any
			if json.Unmarshal([]byte(c.Text), &same) == nil && reflect.DeepEqual(same, whole) {
				continue
			}
			for line := range strings.Lines(c.Text) {
				// Headings, the code before a message, and how a file is told of.
				line = strings.TrimSpace(line)
				if strings.HasSuffix(line, ":") {
					continue
				}
				if name, rest, ok := strings.Cut(strings.TrimPrefix(line, "- "), " ("); ok && strings.HasPrefix(line, "- ") {
					miss(name)
					line = rest[strings.LastIndexByte(rest, ' ')+1:]
				}
				if code, message, ok := strings.Cut(line, ": "); ok && strings.ToUpper(code) == code {
					miss(code)
					line = message
				}
				miss(line)
			}
		case "resource_link":
			miss(c.URI)
		case "resource":
			miss(c.Resource.URI)
			miss(c.Resource.Text)
		default:
			all = append(all, c.Type)
		}
	}
	return all
}

// scalars are the texts and numbers of a JSON value.
func scalars(value any) (all []string) {
	switch v := value.(type) {
	case map[string]any:
		for _, member := range v {
			all = append(all, scalars(member)...)
		}
	case []any:
		for _, item := range v {
			all = append(all, scalars(item)...)
		}
	default:
		all = append(all, fmt.Sprint(v))
	}
	return all
}

// TestNothingIsHidden has the two clients that show a model the structure instead of
// the contents show no less of any result than others do. docs/protocol.md has the
// table.
func TestNothingIsHidden(t *testing.T) {
	chart := sandbox.File{Name: "chart.png", Data: picture(t)}
	notes := sandbox.File{Name: "notes.md", Data: []byte("# Notes of the run\n")}
	blob := sandbox.File{Name: "data.bin", Data: []byte{0, 1}}
	prints := func(code int, stdout, stderr string, files ...sandbox.File) *script {
		return &script{func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
			cmd.Started()
			_, _ = cmd.Stdout.Write([]byte(stdout))
			_, _ = cmd.Stderr.Write([]byte(stderr))
			return &sandbox.Exit{Code: code, Sandbox: "script", Out: sandbox.Files{Taken: files, Left: []string{"more than there is room for"}[:min(1, len(files)/3)]}}, nil
		}}
	}
	late := &script{func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		_, _ = cmd.Stdout.Write([]byte("as far as this"))
		return nil, &sandbox.LimitError{Limit: sandbox.LimitTime, Value: "5s"}
	}}
	const object, mixed = `{"total": 42}`, `{"mcp": {"content": ["said in words"], "structuredContent": {"total": 42}}}`
	long := `{"total": "` + strings.Repeat("x", result.MaxText) + `"}`
	for name, test := range map[string]struct {
		driver *script
		own    []string // parts of the shown result of the skill's own tool
		alone  bool     // it has a structure
	}{
		"text":                       {prints(0, "plain", "step"), []string{"plain"}, false},
		"an object":                  {prints(0, object, ""), []string{"42"}, true},
		"an object, and stderr":      {prints(0, object, "careful"), []string{"42"}, false},
		"an object, and a chart":     {prints(0, object, "", chart), []string{"42", "chart.png", "image/png", "out/chart.png"}, false},
		"an object, and texts":       {prints(0, object, "", notes), []string{"42", "notes.md", "# Notes"}, false},
		"an object, and a file":      {prints(0, object, "", blob), []string{"42", "data.bin"}, false},
		"an object, and too many":    {prints(0, object, "", blob, notes, chart), []string{"42", "data.bin", "more than there is room for"}, false},
		"a long object":              {prints(0, long, ""), []string{"/stdout", "read_output"}, false},
		"a result object":            {prints(0, mixed, ""), []string{"said in words", "42"}, false},
		"a result of texts":          {prints(0, `{"mcp": {"content": ["one", "two"]}}`, ""), []string{"one", "two"}, false},
		"a result of structure":      {prints(0, `{"mcp": {"structuredContent": {"total": 42}}}`, ""), []string{"42"}, true},
		"a result with a picture":    {prints(0, `{"mcp": {"content": ["look", {"path": "chart.png"}], "structuredContent": {"total": 42}}}`, "", chart), []string{"look", "image/png", "42"}, false},
		"a result that links":        {prints(0, `{"mcp": {"content": [{"type": "resource_link", "uri": "test://elsewhere", "name": "x"}]}}`, ""), []string{"test://elsewhere"}, false},
		"a result that has failed":   {prints(0, `{"mcp": {"isError": true, "content": ["try less"], "structuredContent": {"total": 42}}}`, ""), []string{"try less", "42"}, false},
		"a failure":                  {prints(3, "half of it", "it broke"), []string{"EXECUTION_ERROR", "it broke", "half of it", "exit code 3"}, true},
		"a failure that left texts":  {prints(3, "", "it broke", notes, blob), []string{"EXECUTION_ERROR", "it broke", "# Notes", "data.bin"}, true},
		"a failure that left charts": {prints(3, "", "it broke", chart, notes, blob), []string{"EXECUTION_ERROR", "it broke", "# Notes", "image/png", "more than"}, false},
		"a failure with a result":    {prints(3, mixed, "it broke"), []string{"EXECUTION_ERROR", "it broke", "said in words"}, true},
		"a failure with a link":      {prints(3, `{"mcp": {"content": [{"type": "resource_link", "uri": "test://elsewhere", "name": "x"}]}}`, ""), []string{"EXECUTION_ERROR", "test://elsewhere"}, false},
		"a time-out":                 {late, []string{"TIMEOUT", "as far as this"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, test.driver)
			b.files["p/skills/typed/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: typed\ndescription: d\nscript: run.sh\noutput_schema: {properties: {total: {}}, required: [total]}\n---\n")}
			b.files["p/skills/typed/run.sh"] = &fstest.MapFile{Data: []byte("echo")}
			b.publish()
			for _, call := range []struct{ tool, args string }{
				{"demo__run", `{"target": "x"}`}, {"run_skill", `{"name": "run", "params": {"target": "x"}}`}, {"demo__typed", `{}`},
			} {
				contents, structure := b.whole(call.tool, call.args)
				if call.tool == "demo__run" && (structure != nil) != test.alone {
					t.Errorf("%s: structure %.200s", call.tool, structure)
				}
				shown := shownTo(t, contents, structure)
				for _, part := range test.own {
					if call.tool != "demo__typed" && !strings.Contains(shown, part) {
						t.Errorf("%s: no %q in %.1000s", call.tool, part, shown)
					}
				}
				if structure == nil || call.tool == "demo__typed" { // which has to have it
					continue
				}
				if gone := lost(t, contents, structure); gone != nil {
					t.Errorf("%s: only the contents have %q\n%s", call.tool, gone, structure)
				}
			}
		})
	}
}

// TestNothingIsHiddenOfFixedTools shows all clients the same results of tools that
// run nothing, too.
func TestNothingIsHiddenOfFixedTools(t *testing.T) {
	b := newBenchWith(t, ends(0, "", ""), Options{KeptSandboxes: true, RunCode: true})
	for _, call := range []struct {
		tool, args string
		structured bool
	}{
		{"list_skills", `{}`, true}, {"list_plugins", `{}`, true}, {"reload_skills", `{}`, true},
		{"search_skills", `{"query": "thing"}`, true}, {"get_skill", `{"name": "guide"}`, true},
		{"load_skill", `{"name": "guide"}`, false}, {"load_skill", `{"name": "run"}`, false}, {"demo__guide", `{}`, false},
		{"load_skill", `{"name": "no such"}`, true}, {"demo__run", `{}`, true}, {"run_skill", `{"name": "write"}`, true},
		{"read_output", `{"uri": "skills-mcp://runs/x/stdout"}`, true}, {"close_sandbox", `{"container_id": "x"}`, true},
		{"run_code", `{"language": "bash", "code": "true"}`, true},
	} {
		contents, structure := b.whole(call.tool, call.args)
		if (structure != nil) != call.structured {
			t.Errorf("%s %s: structure %s", call.tool, call.args, structure)
		}
		if structure == nil {
			continue
		}
		if gone := lost(t, contents, structure); gone != nil {
			t.Errorf("%s %s: only the contents have %q", call.tool, call.args, gone)
		}
	}
}

// A tool with an output schema has to have the structure: it names the files where
// the schema has room for them, and is the script's own output otherwise.
func TestStructureOfOutputSchemaNamesFiles(t *testing.T) {
	for schema, want := range map[string]bool{
		`{required: [total]}`: true,
		`{properties: {total: {}}, additionalProperties: false}`:          false,
		`{properties: {out: {type: string}}, additionalProperties: true}`: false,
	} {
		b := newBench(t, leaves(`{"total": 9007199254740993}`, sandbox.Files{Taken: []sandbox.File{{Name: "chart.png", Data: picture(t)}}}))
		b.files["p/skills/typed/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: typed\ndescription: d\nscript: run.sh\noutput_schema: " + schema + "\n---\n")}
		b.files["p/skills/typed/run.sh"] = &fstest.MapFile{Data: []byte("echo")}
		b.publish()
		_, structure := b.whole("demo__typed", `{}`)
		if bytes.Contains(structure, []byte("/out/chart.png")) != want || !bytes.Contains(structure, []byte("9007199254740993")) {
			t.Errorf("%s: %s", schema, structure)
		}
	}
}

// whole calls a tool and returns its contents and its structure.
func (b *bench) whole(tool, args string) ([]content, json.RawMessage) {
	b.t.Helper()
	result := b.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	var a struct {
		Content           []content
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal([]byte(result), &a); err != nil {
		b.t.Fatalf("%s: %v in %s", tool, err, result)
	}
	return a.Content, a.StructuredContent
}
