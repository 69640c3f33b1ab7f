package server

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/result"
)

// A client gets the result that a script declares.
func TestResultObject(t *testing.T) {
	photo := picture(t)
	encoded := base64.StdEncoding.EncodeToString(photo)
	image := fmt.Sprint("image image/png ", base64.StdEncoding.DecodedLen(len(encoded)))
	out := sandbox.Files{Taken: []sandbox.File{
		{Name: "chart.png", Data: photo}, {Name: "notes.md", Data: []byte("# Notes\n")}, {Name: "data.bin", Data: []byte{0, 1}},
	}}
	const rest = "Files left in /out:\n- notes.md (text/markdown, 8 bytes) skills-mcp://runs/RUN/out/notes.md\n- data.bin (application/octet-stream, 2 bytes) skills-mcp://runs/RUN/out/data.bin"
	left := []string{rest, `resource text/markdown skills-mcp://runs/RUN/out/notes.md "# Notes\n"`, "resource_link application/octet-stream skills-mcp://runs/RUN/out/data.bin 2"}
	const fault = "EXECUTION_ERROR: skill demo/run ended well, but its result object cannot be used: "
	for name, test := range map[string]struct {
		stdout string
		want   []string // the first contents; one that ends with … is a prefix
	}{
		"texts and a file": {`{"mcp": {"content": ["one", {"path": "chart.png"}, {"type": "text", "text": "two"}]}}`, append([]string{"one", image, "two"}, left...)},
		"as it is":         {`{"mcp": {"content": [{"type": "image", "data": "` + encoded + `", "mimeType": "image/png"}, {"type": "resource", "resource": {"uri": "test://a", "text": "b"}}]}}`, []string{image, `resource  test://a "b"`}},
		"as a kind":        {`{"mcp": {"content": [{"path": "notes.md", "type": "text"}, {"path": "chart.png", "type": "resource_link"}]}}`, []string{"# Notes\n", fmt.Sprint("resource_link image/png skills-mcp://runs/RUN/out/chart.png ", len(photo))}},
		"only structure":   {`{"mcp": {"structuredContent": {"a": 1}}}`, []string{`{"a": 1}`}},
		"nothing":          {`{"mcp": {}}`, []string{"skill demo/run has ended well and printed nothing"}},
		"long":             {`{"mcp": {"content": ["` + strings.Repeat("x", result.MaxText) + `", "y"]}}`, []string{strings.Repeat("x", result.MaxText), "\n[… 1 of 1 bytes cut …]\n", "stdout is cut here. All that was kept of it: skills-mcp://runs/RUN/stdout; read_output returns it, a page at a time.…"}},
		"no such file":     {`{"mcp": {"content": ["one", {"path": "gone.png"}]}}`, []string{fault + `content[1]: "gone.png" is not among the files that were taken from /out; its maintainer has to fix it`}},
		"no picture":       {`{"mcp": {"content": [{"path": "notes.md", "type": "image"}]}}`, []string{fault + `content[0]: "notes.md", of the type text/markdown, cannot be shown as image…`}},
		"broken":           {`{"mcp": {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}}`, []string{fault + "content[0]: data is no picture…"}},
		"too many texts":   {`{"mcp": {"content": [{"type": "resource", "resource": {"uri": "a:b", "text": "` + strings.Repeat("x", result.MaxText+1) + `"}}]}}`, []string{fault + "content[0]: the texts are larger than 49152 bytes in all…"}},
		"too large":        {`{"mcp": {"content": [{"type": "audio", "mimeType": "audio/wav", "data": "` + strings.Repeat("AAAA", 360_000) + `"}]}}`, []string{fault + "content[0]: it is larger than 1048576 bytes…"}},
	} {
		t.Run(name, func(t *testing.T) {
			rendered, _ := newBench(t, leaves(test.stdout, out)).contents("demo__run", `{"target": "x"}`)
			for i, want := range test.want {
				prefix, cut := strings.CutSuffix(want, "…")
				if i >= len(rendered) || rendered[i] != want && !(cut && strings.HasPrefix(rendered[i], prefix)) {
					t.Errorf("content %d of %.500q\nwant %.500q", i, rendered, want)
				}
			}
		})
	}
}

// A script may declare its call failed, and a failure does not lose its contents.
func TestResultObjectOfFailure(t *testing.T) {
	const said = `{"mcp": {"content": ["why"], "structuredContent": {"a": 1}, "isError": %t}}`
	for _, test := range []struct {
		code              int
		isError           bool
		text, run, object string
	}{
		{0, false, "why\n--\n{\"a\": 1}\n--\n", `"stdout":"why"`, ""},
		{0, true, "why\n--\n{\"a\": 1}\n--\n", `"stdout":"why"`, ""},
		{2, false, "EXECUTION_ERROR: skill demo/run failed with exit code 2; its error output says why\n--\nstderr:\nlost\n--\nwhy", "why", ""},
	} {
		b := newBench(t, ends(test.code, fmt.Sprintf(said, test.isError), "lost"))
		a := b.call("demo__run", `{"target": "x"}`)
		if a.IsError != (test.isError || test.code != 0) || a.text() != test.text || test.object != "" && string(a.StructuredContent) != test.object {
			t.Errorf("%+v: %+v %s", test, a, a.StructuredContent)
		}
		a = b.call("run_skill", `{"name": "run", "params": {"target": "x"}}`)
		var got result.Run
		if err := json.Unmarshal(a.StructuredContent, &got); err != nil {
			t.Fatal(err)
		}
		if a.IsError != (test.isError || test.code != 0) || got.Stdout != "why" || string(got.Result) != `{"a":1}` || !strings.Contains(a.text(), test.run) {
			t.Errorf("%+v: run_skill %+v %+v", test, a, got)
		}
	}
}

func TestOutputSchema(t *testing.T) {
	const schema = "output_schema:\n  properties:\n    n: {type: integer}\n    list: {type: array, items: {required: [id]}}\n  required: [n]\n"
	const fault = "EXECUTION_ERROR: skill demo/typed ended well, but its output is not what its output_schema says: "
	for stdout, want := range map[string]string{
		`{"n": 1}`:                    `{"n": 1}`,
		`{"n": 9007199254740993}`:     `{"n": 9007199254740993}`,
		`{"n": "1", "list": [{}]}`:    fault + "/list/0: missing property 'id'; /n: got string, want integer; its maintainer",
		`{}`:                          fault + "the object: missing property 'n'; its maintainer",
		`text`:                        fault + "it is not one JSON object; its maintainer",
		`{"mcp": {"content": ["x"]}}`: fault + "it is not one JSON object",
		`{"mcp": {"isError": true}}`:  "skill demo/typed has ended well and printed nothing",
		`{"mcp": {"structuredContent": {"n": 2}, "content": ["two"]}}`: "two",
	} {
		b := newBench(t, ends(0, stdout, ""))
		b.files["p/skills/typed/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: typed\ndescription: d\nscript: run.sh\n" + schema + "---\n")}
		b.files["p/skills/typed/run.sh"] = &fstest.MapFile{Data: []byte("echo")}
		b.publish()
		a := b.call("demo__typed", `{}`)
		if !strings.HasPrefix(a.text(), want) || a.IsError != (strings.HasPrefix(want, fault) || strings.Contains(stdout, "true")) {
			t.Errorf("%s: error %t, %s", stdout, a.IsError, a.text())
		}
		if a.IsError && a.StructuredContent != nil {
			t.Errorf("%s: an error of another structure than the tool's: %s", stdout, a.StructuredContent)
		}
		if stdout == `{}` {
			var list struct {
				Tools []struct {
					Name         string
					OutputSchema json.RawMessage
				}
			}
			if err := json.Unmarshal([]byte(b.ask("tools/list", "{}")), &list); err != nil {
				t.Fatal(err)
			}
			for _, tool := range list.Tools {
				if ours := strings.HasPrefix(tool.Name, "demo__"); ours && (tool.Name == "demo__typed") != (tool.OutputSchema != nil) {
					t.Errorf("%s: output schema %s", tool.Name, tool.OutputSchema)
				}
			}
		}
	}
}

// An error has the structure that the tool's output schema has, or none: clients
// refuse another, and nobody would read the cause.
func TestOutputSchemaOfErrors(t *testing.T) {
	for name, c := range map[string]struct{ stdout, args, text, structure string }{
		"of the schema":   {`{"mcp": {"isError": true, "content": ["no"], "structuredContent": {"n": 3}}}`, `{}`, "no", `{"n":3}`},
		"of another":      {`{"mcp": {"isError": true, "content": ["no"], "structuredContent": {"m": 3}}}`, `{}`, "no", ""},
		"wrong arguments": {`{"n": 1}`, `{"target": 5}`, "INVALID_PARAM: ", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, ends(0, c.stdout, ""))
			b.files["p/skills/typed/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: typed\ndescription: d\nscript: run.sh\nparams: {target: string}\noutput_schema: {required: [n]}\n---\n")}
			b.files["p/skills/typed/run.sh"] = &fstest.MapFile{Data: []byte("echo")}
			b.publish()
			a := b.call("demo__typed", c.args)
			if !a.IsError || !strings.HasPrefix(a.text(), c.text) || string(a.StructuredContent) != c.structure {
				t.Errorf("error %t, %s, structure %s", a.IsError, a.text(), a.StructuredContent)
			}
		})
	}
}

// Clients and models can read the rest of a truncated stream.
func TestReadOutput(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", 8<<10)
	b := newBench(t, leaves(long, sandbox.Files{Taken: []sandbox.File{{Name: "b?x", Data: []byte{0, 1}}}}))
	rendered, runID := b.contents("demo__run", `{"target": "x"}`)
	uri := "skills-mcp://runs/" + runID + "/stdout"
	if want := "stdout is cut here. All that was kept of it: skills-mcp://runs/RUN/stdout; read_output returns it, a page at a time."; !strings.HasPrefix(rendered[1], want) {
		t.Errorf("%q", rendered[1])
	}
	got := ""
	for offset, note := 0, ""; !strings.Contains(note, "which is the end"); offset += pageSize {
		a := b.call("read_output", fmt.Sprintf(`{"uri":%q,"offset":%d}`, uri, offset))
		if a.IsError || len(a.Content) != 2 {
			t.Fatalf("%+v", a)
		}
		got, note = got+a.Content[0].Text, a.Content[1].Text
		if end := min(offset+pageSize, len(long)); !strings.HasPrefix(note, fmt.Sprintf("[bytes %d to %d of %d", offset, end, len(long))) {
			t.Fatalf("note %s", note)
		}
	}
	if got != long {
		t.Errorf("read %d bytes, want %d", len(got), len(long))
	}
	var result struct{ Contents []content }
	if err := json.Unmarshal([]byte(b.ask("resources/read", `{"uri":"`+uri+`"}`)), &result); err != nil || len(result.Contents) != 1 || result.Contents[0].Text != long {
		t.Fatalf("%v in %+v", err, result)
	}
	for args, want := range map[string]string{
		`{"uri":"` + strings.ReplaceAll(uri, "stdout", "out/b%3Fx") + `"}`: "INVALID_PARAM: skills-mcp://runs/" + runID + "/out/b%3Fx is no text",
		`{"uri":"skills-mcp://runs/run-0/stdout"}`:                         "NOT_FOUND: skills-mcp://runs/run-0/stdout is not there",
		`{"uri":"` + uri + `?offset=x"}`:                                   "NOT_FOUND",
		`{"uri":"` + uri + `","offset":1e300}`:                             "\n--\n[bytes 131072 to 131072 of 131072, which is the end]",
	} {
		if a := b.call("read_output", args); !strings.HasPrefix(a.text(), want) {
			t.Errorf("%s: %s", args, a.text())
		}
	}
}
