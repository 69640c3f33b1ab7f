package manifest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"github.com/skillsmcp/skills-mcp/skills"
)

// A schema is served as its author wrote it, whatever is in it.
func TestRawSchema(t *testing.T) {
	for _, text := range []string{
		`{"type":"object"}`,
		`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":["string","null"],"default":false}}}`,
		`{"type":"object","properties":{"a":{"enum":[],"description":"","default":0}},"required":["a"]}`,
		`{"type":"object","properties":{"a":true,"b":{}}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"x":{"type":"integer","exclusiveMinimum":0}},"required":["x"]}}}}`,
		`{"type":"object","properties":{"a":{"items":true},"b":{"items":{}}},"minProperties":0,"additionalProperties":false}`,
		`{"type":"object","$defs":{"x":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/x"}},"anyOf":[{"required":["a"]}]}`,
		`{"type":"object","properties":{"a":{"default":null}}}`,
	} {
		node, err := parseJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		s, err := rawSchema(node)
		if err != nil {
			t.Fatal(err)
		}
		var want, got any
		if err := errors.Join(json.Unmarshal([]byte(text), &want), json.Unmarshal([]byte(jsonOf(t, s)), &got)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestProgram(t *testing.T) {
	for _, test := range []struct{ name, head, want string }{
		{"run", "\x7fELF\x02\x01\x01\x00\x00", ""},
		{"run.sh", "#!/usr/bin/env python3\n", "python3"},
		{"run.py", "print()", "python3"},
		{"run", "echo", "bash"},
	} {
		if got := strings.Join(program(test.name, []byte(test.head)), " "); got != test.want {
			t.Errorf("%s %q: %q, want %q", test.name, test.head, got, test.want)
		}
	}
}

// FuzzOpenAI: any agents/openai.yaml leaves its skill loaded.
func FuzzOpenAI(f *testing.F) {
	for _, seed := range []string{"interface: {display_name: x}\n", "policy: {allow_implicit_invocation: no}", "dependencies: {tools: [{type: mcp, value: x}]}", "a: &a [*a]", "- x", "{"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		skill := &skills.Skill{Files: fstest.MapFS{}, File: "SKILL.md"}
		if err := ParseSkill([]byte("---\nname: a\ndescription: d\n---\n"), skill, "a", Options{Agent: File{Data: data}}); err != nil {
			t.Fatal(err)
		}
		checkServed(t, skill)
	})
}

// Whatever is given as a glob, one that is taken can be matched, and fast.
func FuzzGlob(f *testing.F) {
	for _, seed := range []string{"src/**/*.go", "{a,{b,c}}*", "{[}],a}{[}],a}", "**/**/**/x", "./a/", "\\{a,b}", "[^a-z]*", "/", "", "a/../b"} {
		f.Add(seed, "src/a/b.go")
	}
	f.Fuzz(func(t *testing.T, glob, name string) {
		if len(name) > 256 {
			name = name[:256]
		}
		for _, part := range splitPaths(glob) {
			cleaned, why := cleanGlob(part)
			if why != "" {
				continue
			}
			if again, why := cleanGlob(cleaned); why != "" && len(cleaned) <= maxPathLength || why == "" && again != cleaned && !strings.HasPrefix(cleaned, "./") {
				t.Errorf("%q becomes %q, and that %q (%s)", part, cleaned, again, why)
			}
			start := time.Now()
			if _, err := doublestar.Match(cleaned, name); err != nil {
				t.Errorf("%q: %v", cleaned, err)
			}
			if d := time.Since(start); d > 30*time.Second {
				t.Errorf("%q took %s with %q", cleaned, d, name)
			}
		}
	})
}

// A key has one owner.
func TestDialectOf(t *testing.T) {
	for key, want := range map[string]string{"name": "Agent Skills", "paths": "Claude Code", "params": "Colony", "gating": "LinX", "requires": "OpenClaw", "activation": "ongrid", "class": "skills-mcp", "triggers": ""} {
		if got := DialectOf(key); got != want {
			t.Errorf("%s is of %q, want %q", key, got, want)
		}
	}
	owner := map[string]string{}
	for _, d := range dialects() {
		for _, key := range d.keys {
			if first, taken := owner[key]; taken {
				t.Errorf("%s is of %s and of %s", key, first, d.name)
			}
			owner[key] = d.name
		}
	}
}

// FuzzMetadata: whatever metadata holds as text, it is read or refused.
func FuzzMetadata(f *testing.F) {
	for _, seed := range []string{
		`{"openclaw": {"os": ["darwin"], "requires": {"bins": ["jq"]}}}`, `{clawdbot: {requires: {anyBins: 'a,b',}, always: yes}}`,
		"{ // c\n os: [linux], /* d */ requires: {env:['A'], config: null}}", `null`, `[[[[`, `{a: +Infinity}`, `requires: x`, "\"\\u0000\"",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		node, err := parseJSON5(text)
		if err == nil && node == nil {
			t.Error("read without a value")
		}
		skill := &skills.Skill{File: "SKILL.md"}
		p := newParser(skill, &document{}, Options{})
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		front, err := parseJSON([]byte(`{"metadata": ` + string(quoted) + `}`))
		if err != nil {
			t.Fatal(err)
		}
		p.fields = newFields(front, p.report)
		requirementReader{p}.requirements()
		if p.failed && len(skill.Problems) == 0 {
			t.Error("refused without a problem")
		}
	})
}

func TestSplitTools(t *testing.T) {
	for text, want := range map[string][]string{
		"Bash(git add *) Read":        {"Bash(git add *)", "Read"},
		"Bash(git add *, ls), Read":   {"Bash(git add *, ls)", "Read"},
		" Read ,, Write\n":            {"Read", "Write"},
		"Bash(unclosed, Read":         {"Bash(unclosed, Read"},
		")(":                          {")("},
		"":                            nil,
		"mcp__github__*,Bash(a(b) c)": {"mcp__github__*", "Bash(a(b) c)"},
	} {
		if diff := cmp.Diff(want, splitTools(text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
