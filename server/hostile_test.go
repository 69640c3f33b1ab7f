package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/skills"
)

// nested is a JSON Schema that nests this deep.
func nested(depth int) string {
	return strings.Repeat(`{"type": "object", "properties": {"a": `, depth) + `{"type": "string"}` + strings.Repeat("}}", depth)
}

// nestedArrays is a schema with one keyword that nests this deep.
func nestedArrays(depth int) string {
	return `{"type": "object", "enum": ` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
}

// A hostile skill harms nothing but itself: the list is answered, the other
// skills are on it, and whatever it has itself is bounded.
func TestHostileSkill(t *testing.T) {
	manifest := func(fields string) string {
		return "---\nname: evil\ndescription: d\nscript: run.sh\n" + fields + "\n---\n"
	}
	ongrid := func(schema string) string {
		return `{"name": "evil", "description": "d", "entry": "run.sh", "schema": ` + schema + `, "output_schema": ` + schema + `}`
	}
	for name, test := range map[string]struct{ file, content string }{
		"name with a line end":     {"SKILL.md", "---\nname: \"evil\\nname\"\ndescription: d\nscript: run.sh\n---\n"},
		"name of controls":         {"SKILL.md", "---\nname: \"\\x1b[2Jevil\\u202e\"\ndescription: d\nscript: run.sh\n---\n"},
		"long name":                {"SKILL.md", "---\nname: " + strings.Repeat("evil", 10_000) + "\ndescription: d\nscript: run.sh\n---\n"},
		"large description":        {"SKILL.md", "---\nname: evil\ndescription: " + strings.Repeat("evil ", 200_000) + "\nscript: run.sh\n---\n"},
		"larger than may be":       {"SKILL.md", "---\nname: evil\ndescription: " + strings.Repeat("evil ", 250_000) + "\n---\n"},
		"large parameter":          {"SKILL.md", manifest("params: {p: {type: string, description: " + strings.Repeat("evil ", 190_000) + "}}")},
		"header in params":         {"SKILL.md", manifest("params: {p: {type: string, x-mcp-header: \"bad name\"}}")},
		"recursive output":         {"SKILL.md", manifest(`output_schema: {$ref: "#"}`)},
		"recursive definition":     {"SKILL.md", manifest(`output_schema: {$defs: {a: {$ref: "#/$defs/a"}}, properties: {x: {$ref: "#/$defs/a"}}}`)},
		"output elsewhere":         {"SKILL.md", manifest(`output_schema: {properties: {x: {$ref: "file:///etc/passwd"}}}`)},
		"output of no object":      {"SKILL.md", manifest(`output_schema: {type: array}`)},
		"output is text":           {"SKILL.md", manifest(`output_schema: text`)},
		"deep output":              {"SKILL.md", manifest("output_schema: " + nested(3000))},
		"anchors nest":             {"SKILL.md", manifest("a0: &a0 {type: string}\n" + anchors(200) + "output_schema: *a200")},
		"anchors multiply":         {"SKILL.md", manifest("a0: &a0 {type: string}\n" + strings.ReplaceAll(anchors(40), "{a: ", "{b: *a0, a: ") + "output_schema: *a40")},
		"header in input":          {"skill.json", ongrid(`{"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "bad name\n"}}}`)},
		"header twice":             {"skill.json", ongrid(`{"properties": {"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}}`)},
		"header on an object":      {"skill.json", ongrid(`{"properties": {"a": {"type": "object", "x-mcp-header": "A"}}}`)},
		"recursive input":          {"skill.json", ongrid(`{"$ref": "#"}`)},
		"recursive input by name":  {"skill.json", ongrid(`{"type": "object", "$defs": {"a": {"properties": {"a": {"$ref": "#/$defs/a"}}}}, "properties": {"a": {"$ref": "#/$defs/a"}}}`)},
		"external":                 {"skill.json", ongrid(`{"properties": {"a": {"$ref": "https://example.com/schema.json"}}}`)},
		"external by id":           {"skill.json", ongrid(`{"$id": "https://example.com/a", "$ref": "b"}`)},
		"external dialect":         {"skill.json", ongrid(`{"$schema": "https://example.com/dialect"}`)},
		"deep":                     {"skill.json", ongrid(nested(10_000))},
		"deep lists":               {"skill.json", ongrid(nestedArrays(10_000))},
		"just too deep":            {"skill.json", ongrid(nested(32))},
		"large":                    {"skill.json", ongrid(`{"description": "` + strings.Repeat("evil ", 100_000) + `"}`)},
		"properties of odd kinds":  {"skill.json", ongrid(`{"properties": {"a": true, "b": {}, "c": 1}}`)},
		"required of odd kinds":    {"skill.json", ongrid(`{"properties": {"a": {}}, "required": "a"}`)},
		"a pattern that is none":   {"skill.json", ongrid(`{"properties": {"a": {"pattern": "("}}}`)},
		"type is a list of nulls":  {"skill.json", ongrid(`{"type": [null]}`)},
		"schema is a list":         {"skill.json", ongrid(`[]`)},
		"schema is null":           {"skill.json", ongrid(`null`)},
		"duplicate keys":           {"skill.json", ongrid(`{"type": "object", "type": "array"}`)},
		"numbers that are too big": {"skill.json", ongrid(`{"properties": {"a": {"minimum": 1e999999}}}`)},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, ends(0, `{"a": {}}`, ""))
			before, _ := b.tools()
			b.files["p/skills/evil/"+test.file] = &fstest.MapFile{Data: []byte(test.content)}
			b.files["p/skills/evil/run.sh"] = &fstest.MapFile{Data: []byte("#!/bin/sh\n"), Mode: 0o755}
			b.publish()
			after, size := b.tools()
			for name := range before {
				if after[name] == nil {
					t.Errorf("tool %s is gone", name)
				}
			}
			if size > 200<<10 {
				t.Errorf("the list is %d bytes long", size)
			}
			for name, raw := range after {
				if before[name] != nil {
					continue
				}
				checkHostileTool(t, name, raw)
				b.call(name, `{}`) // whatever comes of it, it is answered
			}
			if a := b.call("demo__run", `{"target": "x"}`); a.IsError {
				t.Errorf("another skill: %s", a.text())
			}
		})
	}
}

// anchors nest one YAML anchor in the other.
func anchors(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("a" + strconv.Itoa(i+1) + ": &a" + strconv.Itoa(i+1) + " {type: object, properties: {a: *a" + strconv.Itoa(i) + "}}\n")
	}
	return b.String()
}

// checkHostileTool checks that clients can read a tool.
func checkHostileTool(t *testing.T, name string, raw json.RawMessage) {
	t.Helper()
	if len(name) > skills.MaxToolName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
		t.Errorf("the tool is called %q", name)
	}
	var tool struct {
		Description               string
		InputSchema, OutputSchema struct{ Type any }
	}
	if err := json.Unmarshal(raw, &tool); err != nil {
		t.Fatalf("%v in %.300s", err, raw)
	}
	if len(tool.Description) > maxDescription || tool.InputSchema.Type != "object" || tool.OutputSchema.Type != nil && tool.OutputSchema.Type != "object" {
		t.Errorf("%.300s", raw)
	}
	if text := string(raw); strings.Contains(text, "x-mcp-header") || strings.Contains(text, "https://example.com/") || strings.Contains(text, "file:///") {
		t.Errorf("%.300s", raw)
	}
}

// No answer to a model names a command that would run a skill: a model that has a
// shell would run it.
func TestAnswersNameNoCommand(t *testing.T) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "skills-mcp run") {
			t.Errorf("%s tells how to run a skill by a command", file)
		}
	}
	for _, code := range []string{"APPROVAL_REQUIRED", "PERMISSION_DENIED"} {
		if data, err := os.ReadFile("testdata/fixed_tools.txt"); err != nil || !strings.Contains(string(data), code) {
			t.Errorf("no answer has the code %s (%v)", code, err)
		}
	}
}
