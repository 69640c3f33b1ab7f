package server

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/result"
)

// declare adds a skill with resources to the library.
func declare(b *bench, name, front string) {
	b.files["p/skills/"+name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Has resources.\n" + front + "---\nText.\n")}
	b.files["p/skills/"+name+"/run.sh"] = &fstest.MapFile{Data: []byte("echo")}
}

const notesFront = `script: run.sh
params:
  day: {type: string, enum: [monday, tuesday], required: true}
  n: {type: integer, default: 1}
resources:
  - {uri: "notes://index", title: All notes, description: What there is., mime_type: text/plain, file: index.txt}
  - {uri: "notes://logo", file: logo.bin}
  - {uri_template: "notes://{day}/{n}", name: day, mime_type: text/markdown}
  - {uri_template: "notes://{day}", name: any}
`

func declareNotes(b *bench) {
	declare(b, "notes", notesFront)
	b.files["p/skills/notes/index.txt"] = &fstest.MapFile{Data: []byte("monday\n")}
	b.files["p/skills/notes/logo.bin"] = &fstest.MapFile{Data: []byte{0, 1, 2}}
	declare(b, "clock", "script: run.sh\nresources:\n  - {uri: \"clock:now\"}\n")
	declare(b, "rival", "script: run.sh\nclass: mutating\nresources:\n  - {uri: \"clock:now\"}\n  - {uri: \"rival:all\"}\n")
	b.publish()
}

func TestDeclaredResources(t *testing.T) {
	b := newBench(t, argvDriver())
	declareNotes(b)
	var all strings.Builder
	all.WriteString(indent(t, b.ask("resources/list", "{}")) + indent(t, b.ask("resources/templates/list", "{}")))
	for _, uri := range []string{
		"notes://index", "notes://logo", "clock:now", "notes://monday", "notes://tuesday/3", "notes://tuesday/x", "notes://sunday", "notes://mon%64ay",
		"notes://monday/1/2", "notes://", "notes://%ff", "notes://%zz", "notes://a:b", "rival:all",
	} {
		fmt.Fprintf(&all, "== %s\n%s\n", uri, b.ask("resources/read", fmt.Sprintf(`{"uri": %q}`, uri)))
	}
	golden(t, "resources.txt", all.String())
}

// A pipe that is put in the place of a file is not waited for.
func TestDeclaredPipe(t *testing.T) {
	b := newBench(t, argvDriver())
	declareNotes(b)
	b.files["p/skills/notes/index.txt"] = &fstest.MapFile{Data: []byte("monday\n"), Mode: fs.ModeNamedPipe}
	if got := b.ask("resources/read", `{"uri": "notes://index"}`); !strings.Contains(got, "index.txt is not a regular file") {
		t.Error(got)
	}
}

// A client reads the standard output of a skill, or else the files that it left.
func TestDeclaredOutput(t *testing.T) {
	left := func(stdout string, files ...sandbox.File) *script {
		return leaves(stdout, sandbox.Files{Taken: files})
	}
	chart := sandbox.File{Name: "a.csv", Data: []byte("1,2\n")}
	for _, test := range []struct {
		name   string
		driver *script
		want   string
	}{
		{"text", left("some\n", chart), `{"contents":[{"uri":"notes://monday/1","mimeType":"text/markdown","text":"some\n"}]}`},
		{"long text", left(strings.Repeat("x", result.MaxText+1)), `{"contents":[{"uri":"notes://monday/1","mimeType":"text/markdown","text":"` + strings.Repeat("x", result.MaxText+1) + `"}]}`},
		{"binary", left("\xff\x00"), `{"contents":[{"uri":"notes://monday/1","mimeType":"text/markdown","blob":"/wA="}]}`},
		{"file", left(" \n", chart), `{"contents":[{"uri":"notes://monday/1","mimeType":"text/csv","text":"1,2\n"}]}`},
		{"nothing", left(""), `{"contents":[{"uri":"notes://monday/1","mimeType":"text/markdown","text":""}]}`},
		{"too much", left(strings.Repeat("x", maxResource+1)), `error {"code":-32603,"message":"notes://monday/1 is larger than the 4194304 bytes that can be read at once; its author can split it"}`},
		{"failure", ends(2, "", "no such day"), `error {"code":-32603,"message":"EXECUTION_ERROR: skill demo/notes failed with exit code 2; its error output says why\nstderr:\nno such day"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, test.driver)
			declareNotes(b)
			if got := b.ask("resources/read", `{"uri": "notes://monday/1"}`); got != test.want {
				t.Errorf("%.300s, want %.300s", got, test.want)
			}
		})
	}
}

// Each change is notified once, and nothing else.
func TestResourceNotices(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	declareNotes(b)
	c := b.connect()
	declare(b, "notes", notesFront)
	b.publish()
	if got := c.notices(); len(got) > 0 {
		t.Errorf("nothing changed: %v", got)
	}
	declare(b, "notes", notesFront+"  - {uri: \"notes://more\", file: index.txt}\n  - {uri_template: \"notes://more/{day}\"}\n")
	b.publish()
	if got := strings.Join(c.notices(), " "); got != "notifications/resources/list_changed" {
		t.Errorf("two are new: %s", got)
	}
}

// Resources of one name come in one order.
func TestResourceOrder(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	front := "resources:\n"
	for i := range 9 {
		front += fmt.Sprintf("  - {uri: \"many:%d\", name: one, file: run.sh}\n", i)
	}
	declare(b, "many", front)
	b.publish()
	first := b.ask("resources/list", "{}")
	for range 20 {
		if got := b.ask("resources/list", "{}"); got != first {
			t.Fatalf("%s, and then %s", first, got)
		}
	}
}
