package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/result"
)

// leaves is a command that prints and leaves files in /out.
func leaves(stdout string, out sandbox.Files) *script {
	return &script{func(_ context.Context, cmd *sandbox.Command) (*sandbox.Exit, error) {
		cmd.Started()
		_, _ = cmd.Stdout.Write([]byte(stdout))
		return &sandbox.Exit{Sandbox: "script", Out: out}, nil
	}}
}

func picture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// content is any content of a result, or of a resource.
type content struct {
	Type, Text, Data, MIMEType, URI, Name, Blob string
	Size                                        int
	Resource                                    *content
}

func (c content) String() string {
	switch {
	case c.Resource != nil:
		return fmt.Sprintf("%s %s %s %.20q", c.Type, c.Resource.MIMEType, c.Resource.URI, c.Resource.Text)
	case c.Type == "resource_link":
		return fmt.Sprintf("%s %s %s %d", c.Type, c.MIMEType, c.URI, c.Size)
	case c.Type == "text":
		return c.Text
	}
	return fmt.Sprintf("%s %s %d", c.Type, c.MIMEType, base64.StdEncoding.DecodedLen(len(c.Data)))
}

// contents calls a tool and renders its result, with the run's id as RUN.
func (b *bench) contents(tool, args string) (rendered []string, runID string) {
	b.t.Helper()
	result := b.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, args))
	var a struct{ Content []content }
	if err := json.Unmarshal([]byte(result), &a); err != nil {
		b.t.Fatalf("%v in %.300s", err, result)
	}
	if _, rest, ok := strings.Cut(result, "skills-mcp://runs/"); ok {
		runID, _, _ = strings.Cut(rest, "/")
	}
	for _, c := range a.Content {
		rendered = append(rendered, strings.ReplaceAll(c.String(), runID, "RUN"))
	}
	return rendered, runID
}

func TestFilesLeft(t *testing.T) {
	photo := picture(t)
	wave := append([]byte("RIFF\x24\x00\x00\x00WAVEfmt "), make([]byte, 30)...)
	large := append(bytes.Clone(photo), make([]byte, 1<<20)...)
	long := bytes.Repeat([]byte("a,b\n"), 4<<10)
	b := newBench(t, leaves("done\n", sandbox.Files{
		Taken: []sandbox.File{
			{Name: "chart.png", Data: photo},
			{Name: "broken.png", Data: photo[:10]},
			{Name: "large.png", Data: large},
			{Name: "sounds/a b.wav", Data: wave},
			{Name: "notes.md", Data: []byte("# Notes\n")},
			{Name: "table.csv", Data: long},
			{Name: "data.bin", Data: []byte{0, 1, 2}},
			{Name: "empty", Data: nil},
		},
		Left: []string{`"link": it is no regular file`},
	}))
	rendered, runID := b.contents("demo__run", `{"target": "x"}`)
	want := []string{
		"done\n",
		`Files left in /out:
- chart.png (image/png, ` + sandbox.Bytes(int64(len(photo))) + `) skills-mcp://runs/RUN/out/chart.png
- broken.png (image/png, 10 bytes) skills-mcp://runs/RUN/out/broken.png
- large.png (image/png, 1.0 MB) skills-mcp://runs/RUN/out/large.png
- sounds/a b.wav (audio/wav, 46 bytes) skills-mcp://runs/RUN/out/sounds/a%20b.wav
- notes.md (text/markdown, 8 bytes) skills-mcp://runs/RUN/out/notes.md
- table.csv (text/csv, 16 KB) skills-mcp://runs/RUN/out/table.csv
- data.bin (application/octet-stream, 3 bytes) skills-mcp://runs/RUN/out/data.bin
- empty (text/plain, 0 bytes) skills-mcp://runs/RUN/out/empty
Not taken from /out:
- "link": it is no regular file`,
		fmt.Sprint("image image/png ", base64.StdEncoding.DecodedLen(base64.StdEncoding.EncodedLen(len(photo)))),
		"resource_link image/png skills-mcp://runs/RUN/out/broken.png 10",
		fmt.Sprint("resource_link image/png skills-mcp://runs/RUN/out/large.png ", len(large)),
		"audio audio/wav 48",
		`resource text/markdown skills-mcp://runs/RUN/out/notes.md "# Notes\n"`,
		"resource_link text/csv skills-mcp://runs/RUN/out/table.csv 16384",
		"resource_link application/octet-stream skills-mcp://runs/RUN/out/data.bin 3",
		`resource text/plain skills-mcp://runs/RUN/out/empty ""`,
	}
	if diff := cmp.Diff(want, rendered); diff != "" {
		t.Error(diff)
	}
	for piece, data := range map[string][]byte{"out/large.png": large, "out/table.csv": long, "out/sounds/a%20b.wav": wave, "out/data.bin": {0, 1, 2}} {
		if got := b.read("skills-mcp://runs/" + runID + "/" + piece); !bytes.Equal(got, data) {
			t.Errorf("%s: read %d bytes, want %d", piece, len(got), len(data))
		}
	}
}

// read reads a resource.
func (b *bench) read(uri string) []byte {
	b.t.Helper()
	var result struct{ Contents []content }
	answer := b.ask("resources/read", fmt.Sprintf(`{"uri":%q}`, uri))
	if err := json.Unmarshal([]byte(answer), &result); err != nil || len(result.Contents) != 1 || result.Contents[0].URI != uri {
		b.t.Fatalf("%v in %.300s", err, answer)
	}
	if blob := result.Contents[0].Blob; blob != "" {
		data, err := base64.StdEncoding.DecodeString(blob)
		if err != nil {
			b.t.Fatal(err)
		}
		return data
	}
	return []byte(result.Contents[0].Text)
}

func TestRunSkillNamesFilesLeft(t *testing.T) {
	b := newBench(t, leaves(strings.Repeat("x", 100<<10), sandbox.Files{Taken: []sandbox.File{{Name: "a.json", Data: []byte("{}")}}, Left: []string{"more"}}))
	var got result.Run
	a := b.call("run_skill", `{"name": "demo/run", "params": {"target": "x"}}`)
	if err := json.Unmarshal(a.StructuredContent, &got); err != nil {
		t.Fatal(err)
	}
	base := "skills-mcp://runs/" + got.RunID + "/"
	if diff := cmp.Diff([]result.File{{Name: "a.json", Size: 2, MIMEType: "application/json", URI: base + "out/a.json", Text: "{}"}}, got.Out); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"more"}, got.OutLeft); diff != "" || got.StdoutURI != base+"stdout" || got.StderrURI != "" || !got.Truncated {
		t.Errorf("%s %+v", diff, got)
	}
	if whole := b.read(got.StdoutURI); len(whole) != 100<<10 {
		t.Errorf("the whole output has %d bytes", len(whole))
	}
	if len(a.Content) != 2 || a.Content[1].Type != "resource_link" || !strings.Contains(got.Note, got.StdoutURI) {
		t.Errorf("contents %+v", a.Content)
	}
}

// Old clients are sent no kind of content that they do not know.
func TestOldClients(t *testing.T) {
	wave := append([]byte("RIFF\x24\x00\x00\x00WAVEfmt "), make([]byte, 30)...)
	driver := leaves(strings.Repeat("x", 100<<10), sandbox.Files{Taken: []sandbox.File{{Name: "a.wav", Data: wave}}})
	for version, want := range map[string]string{
		"2024-11-05": "text text", "2025-03-26": "text text audio", "2025-06-18": "text text resource_link audio", "2025-11-25": "text text resource_link audio",
	} {
		b := newBench(t, driver)
		c := &versioned{client: client{id: version}}
		ctx := b.core.WithContext(t.Context(), c)
		b.core.HandleMessage(ctx, json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`))
		encoded, err := json.Marshal(b.core.HandleMessage(ctx, json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__run","arguments":{"target":"x"}}}`)))
		if err != nil {
			t.Fatal(err)
		}
		var a struct{ Result struct{ Content []content } }
		if err := json.Unmarshal(encoded, &a); err != nil {
			t.Fatal(err)
		}
		var types []string
		for _, c := range a.Result.Content {
			types = append(types, c.Type)
		}
		if got := strings.Join(types, " "); got != want {
			t.Errorf("%s: %s, want %s", version, got, want)
		}
	}
}

// versioned is a client whose protocol is remembered.
type versioned struct {
	client
	version string
}

func (v *versioned) SetProtocolVersion(version string) { v.version = version }
func (v *versioned) ProtocolVersion() string           { return v.version }

// The outputs of a run belong to its caller, until its session ends.
func TestOutputIsItsCallers(t *testing.T) {
	b := newBench(t, leaves("", sandbox.Files{Taken: []sandbox.File{{Name: "secret.txt", Data: []byte("mine")}}}))
	ann := b.connect()
	ask := func(c *client, method, params string) string {
		t.Helper()
		answer, err := json.Marshal(b.core.HandleMessage(b.core.WithContext(t.Context(), c), json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)))
		if err != nil {
			t.Fatal(err)
		}
		return string(answer)
	}
	_, rest, _ := strings.Cut(ask(ann, "tools/call", `{"name":"demo__run","arguments":{"target":"x"}}`), `"uri":"`)
	uri, _, _ := strings.Cut(rest, `"`)
	read := `{"uri":"` + uri + `"}`
	if got := ask(ann, "resources/read", read); !strings.Contains(got, `"text":"mine"`) {
		t.Errorf("its caller reads %s", got)
	}
	const gone = "is not there: an output that the result of its run shows whole is not kept, and a longer one for 30 minutes; read that result, or run the skill again"
	if got := ask(&client{id: "bob"}, "resources/read", read); !strings.Contains(got, gone) {
		t.Errorf("another reads %s", got)
	}
	short := strings.Replace(uri, "out/secret.txt", "stdout", 1)
	if got := ask(ann, "tools/call", `{"name":"read_output","arguments":{"uri":"`+short+`"}}`); !strings.Contains(got, short+" "+gone) {
		t.Errorf("of a short output: %s", got)
	}
	b.core.UnregisterSession(t.Context(), ann.id)
	if got := ask(ann, "resources/read", read); !strings.Contains(got, gone) {
		t.Errorf("after it left: %s", got)
	}
}

// TestStderrOfSuccess reads the stderr of a successful call after its end.
func TestStderrOfSuccess(t *testing.T) {
	b := newBench(t, ends(0, "done", "a warning"))
	result := b.ask("tools/call", `{"name": "demo__run", "arguments": {"target": "x"}}`)
	_, uri, _ := strings.Cut(result, `"uri":"`)
	uri, _, _ = strings.Cut(uri, `"`)
	if !strings.HasSuffix(uri, "/stderr") || !strings.Contains(result, `"text":"done"`) {
		t.Fatal(result)
	}
	if got := b.ask("resources/read", fmt.Sprintf(`{"uri": %q}`, uri)); !strings.Contains(got, "a warning") {
		t.Errorf("%s: %s", uri, got)
	}
	if contents, _ := newBench(t, ends(0, "done", "\n")).contents("demo__run", `{"target": "x"}`); len(contents) != 1 {
		t.Errorf("with nothing said: %q", contents)
	}
}
