package scan

import (
	"fmt"
	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/manifest"
	"strings"
	"testing"
	"testing/fstest"
)

// Each of these costs gigabytes or minutes where it is not refused.
func TestHostileManifests(t *testing.T) {
	repeat := strings.Repeat
	const deep = 2000
	for name, test := range map[string]struct {
		file, content, want string
	}{
		"aliases of tools.yaml": {
			"s/tools.yaml", "big: &big [" + repeat("1,", 20_000) + "1]\ntools:\n- {name: t, script: run.sh, params: {" +
				strings.TrimSuffix(repeat("a: {enum: *big},", 10), ",") + "}}\n",
			"error: the file is too large: it expands to more than 100000 values",
		},
		"a pattern that repeats": {
			"s/tools.yaml", "tools: [{name: t, script: run.sh, params: {a: {pattern: '(?:" + repeat("ab", 300) + "){1000}'}}}]\n",
			"is not a regular expression that can be used and is ignored",
		},
		"a schema's pattern": {
			"o/skill.json", `{"name": "o", "description": "d", "entry": "run.sh", "schema": {"properties": {"a": {"pattern": "(abcdefghijkl){1000}"}}}}`,
			`"schema" is not a JSON Schema, so arguments are not checked`,
		},
		"a deep schema": {
			"o/skill.json", `{"name": "o", "description": "d", "entry": "run.sh", "schema": {"properties": ` +
				repeat(`{"a": {"properties": `, deep) + `{"b": {"enum": [` + repeat("1,", 50_000) + `1]}}` + repeat("}}", deep) + `}}`,
			"it nests more than 64 deep",
		},
		"a large schema": {
			"o/skill.json", `{"name": "o", "description": "d", "entry": "run.sh", "schema": {"description": "` + repeat("long ", 20_000) + `"}}`,
			`"schema" is not a JSON Schema, so arguments are not checked: it is larger than 65536 bytes`,
		},
		"large params": {
			"s/tools.yaml", "tools: [{name: t, script: run.sh, params: {a: {description: '" + repeat("long ", 20_000) + "'}}}]\n",
			`"params" are larger than 65536 bytes in all and are ignored`,
		},
		"a header of the client's": {
			"o/skill.json", `{"name": "o", "description": "d", "entry": "run.sh", "schema": {"properties": {"a": {"type": "string", "x-mcp-header": "A"}}}}`,
			"so arguments are not checked: x-mcp-header is not for a skill to use",
		},
		"an output schema of no object": {
			"s/SKILL.md", "---\nname: s\ndescription: d\nscript: run.sh\noutput_schema: {type: array}\n---\n",
			`SKILL.md:5: warning: "output_schema" is not the schema of an object, so results are not checked (write "type": "object")`,
		},
		"an output schema of other files": {
			"s/tools.yaml", "tools: [{name: t, script: run.sh, output_schema: {$ref: 'file:///etc/passwd'}}]\n",
			`tools.yaml:1: warning: "output_schema" is not a JSON Schema, so results are not checked: `,
		},
		"an output schema that is deep by aliases": {
			"s/SKILL.md", "---\nname: s\ndescription: d\nscript: run.sh\na0: &a0 {type: string}\n" + deepAnchors(70) + "output_schema: *a70\n---\n",
			"so results are not checked: it nests more than 64 deep",
		},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := scanFiles(t, map[string]string{
				"s/SKILL.md": "---\nname: s\ndescription: d\n---\nBody.", "s/run.sh": "#!/bin/sh\n", "o/run.sh": "#!/bin/sh\n",
				test.file: test.content,
			}, func(r *Root) { r.FS.(fstest.MapFS)["o/run.sh"].Mode = 0o755 })
			if got := lines(catalog.Problems); !strings.Contains(got, test.want) {
				t.Errorf("no %q in:\n%.2000s", test.want, got)
			}
		})
	}
}

// deepAnchors nest one anchor in the other.
func deepAnchors(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d: &a%[1]d {not: *a%d}\n", i+1, i)
	}
	return b.String()
}

// A marketplace may name the same plugin any number of times.
func TestHostileMarketplace(t *testing.T) {
	var entries strings.Builder
	for range limitMarketPlugins {
		entries.WriteString(`{"name": "p", "source": "./p"},`)
	}
	catalog := scanFiles(t, map[string]string{
		"marketplace.json": `{"plugins": [` + entries.String() + `{"name": "last", "source": "./last"}]}`,
		// Its problems tell how often it was read.
		"p/plugin.json":    `{"name": "p", "version": [], ` + strings.Repeat(`"x": 1,`, 2*manifest.MaxProblems) + `"y": 1}`,
		"last/plugin.json": `{"name": "last"}`,
	}, func(r *Root) { r.Plugins = true })
	got := lines(catalog.Problems)
	if want := fmt.Sprintf("there are more than %d plugins", limitMarketPlugins); !strings.Contains(got, want) {
		t.Errorf("no %q in %.500s", want, got)
	}
	if n := len(catalog.Problems); n > 2*manifest.MaxProblems+2 { // of both files
		t.Errorf("%d problems: %.500s", n, got)
	}
}

// Nor may it have one folder read under any number of names.
func TestSharedFolder(t *testing.T) {
	var entries []string
	for i := range 2 * maxSharing {
		entries = append(entries, fmt.Sprintf(`{"name": "p%d", "source": "./p", "strict": false}`, i))
	}
	catalog := scanFiles(t, map[string]string{
		"marketplace.json": `{"plugins": [` + strings.Join(entries, ",") + `]}`,
		"p/SKILL.md":       "---\nname: s\ndescription: d\n---\nBody.",
	}, func(r *Root) { r.Plugins = true })
	if len(catalog.Skills) != maxSharing || !strings.Contains(lines(catalog.Problems), "more than 64 in the same folder") {
		t.Errorf("%d skills; %.500s", len(catalog.Skills), lines(catalog.Problems))
	}
}

// Text of a manifest forges no line, and moves no cursor, where problems are
// printed.
func TestProblemIsOneLine(t *testing.T) {
	p := skills.Problem{Severity: skills.Error, Path: "a\n/etc/x:1: error: forged", Line: 1, Message: "it \x1b[2Jis\u009b\u202e bad\r\nnext", Remedy: "mend\tit"}
	const want = `a\n/etc/x:1: error: forged:1: error: it \x1b[2Jis\u009b\u202e bad\r\nnext (mend\tit)`
	if got := p.String(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
