package server

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skillsmcp/skills-mcp/sandbox"
	"github.com/skillsmcp/skills-mcp/server/output"
	"github.com/skillsmcp/skills-mcp/server/policy"
	"github.com/skillsmcp/skills-mcp/server/run"
	"github.com/skillsmcp/skills-mcp/skills/snapshot"
)

func TestCompletion(t *testing.T) {
	workspace := t.TempDir()
	for _, name := range []string{"main.go", "make.go"} {
		if err := os.WriteFile(filepath.Join(workspace, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, ends(0, "", ""))
	b.invoke.executor = run.New(sandbox.New(ends(0, "", ""), nil), snapshot.New(t.TempDir()), policy.New(nil), &run.Options{Workspaces: []string{workspace}})
	promptLibrary(b)
	declare(b, "read", "script: run.sh\nparams:\n  where: {type: string, format: path}\n  level: {enum: [1, 2, 30]}\n  kinds: {type: array, items: {type: string, enum: [a, b]}}\n")
	declare(b, "command", "arguments: [in_file, word]\n")
	declareNotes(b)
	b.invoke.outputs.Put("", output.URI("run-one", "stdout"), output.Item{})
	b.invoke.outputs.Put("", output.URI("run-two", "out/a b.txt"), output.Item{})
	b.invoke.outputs.Put("another", output.URI("run-three", "stdout"), output.Item{})

	prompt := func(name string) string { return fmt.Sprintf(`{"type": "ref/prompt", "name": %q}`, name) }
	resource := func(uri string) string { return fmt.Sprintf(`{"type": "ref/resource", "uri": %q}`, uri) }
	for _, test := range []struct{ ref, argument, value, given, want string }{
		{prompt("demo__typed"), "mode", "", "", `["fast","slow"]`},
		{prompt("demo__typed"), "mode", "lo", "", `["slow"]`},
		{prompt("demo__typed"), "deep", "t", "", `["true"]`},
		{prompt("demo__typed"), "n", "1", "", `[]`},
		{prompt("demo__typed"), "nothing", "", "", `[]`},
		{prompt("demo__read"), "where", "ma", "", `["main.go","make.go"]`},
		{prompt("demo__read"), "level", "3", "", `["30"]`},
		{prompt("demo__read"), "kinds", "", "", `["a","b"]`},
		{prompt("demo__command"), "in_file", "mai", "", `["main.go"]`},
		{prompt("demo__command"), "word", "", "", `[]`},
		{prompt("demo__hidden"), "x", "", "", `error {"code":-32603,"message":"there is no prompt \"demo__hidden\""}`},
		{prompt("use_skill"), "name", "demo/r", "", `["demo/read","demo/rival","demo/run"]`},
		{prompt("use_skill"), "name", "hidden", "", `[]`},
		{prompt("use_skill"), "arguments", "", "", `[]`},
		{resource("notes://{day}"), "day", "m", "", `["monday"]`},
		{resource("notes://{day}"), "n", "", "", `[]`},
		{resource("notes://index"), "day", "", "", `[]`},
		{resource("notes://{other}"), "other", "", "", `error {"code":-32603,"message":"there is no resource \"notes://{other}\""}`},
		{resource("skill://{+path}"), "path", "demo/gu", "", `["demo/guide/SKILL.md"]`},
		{resource(output.Template), "run_id", "run", "", `[]`},
	} {
		got := b.ask("completion/complete", fmt.Sprintf(`{"ref": %s, "argument": {"name": %q, "value": %q}%s}`, test.ref, test.argument, test.value, test.given))
		var answer struct {
			Completion struct{ Values json.RawMessage }
		}
		if json.Unmarshal([]byte(got), &answer) == nil {
			got = string(answer.Completion.Values)
		}
		if got != test.want {
			t.Errorf("%s %s %q: %s, want %s", test.ref, test.argument, test.value, got, test.want)
		}
	}
}

// A name that no skill has, nor a similar one, is answered with those that it describes.
func TestDescribedName(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	b.skillFiles(orchard())
	for name, want := range map[string]string{
		"cider pressing of apples": "did you mean demo/press-apples",
		"zzyzx qqq":                `there is no skill "zzyzx qqq" (`,
		"for persons alone":        `there is no skill "for persons alone" (`,
	} {
		if a := b.call("get_skill", fmt.Sprintf(`{"name": %q}`, name)); !a.IsError || !strings.Contains(a.text(), want) {
			t.Errorf("%s: %s", name, a.text())
		}
	}
}
