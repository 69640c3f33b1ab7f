package scan

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skillsmcp/skills-mcp/skills"
	"github.com/skillsmcp/skills-mcp/skills/infer"
	"github.com/skillsmcp/skills-mcp/skills/skillfs"
)

// toolsOf renders the tools of a skill: name, what is run, how, and the schema.
func toolsOf(t *testing.T, skill *skills.Skill) string {
	t.Helper()
	var b strings.Builder
	for _, tool := range skill.Tools {
		schema, err := json.Marshal(tool.Entry.Schema())
		if err != nil {
			t.Fatal(err)
		}
		interpreter := strings.Join(tool.Entry.Interpreter, " ")
		if strings.Contains(interpreter, "\n") {
			interpreter = "call"
		}
		how := strings.TrimPrefix(fmt.Sprintf("%T", tool.Entry.Args), "skills.")
		fmt.Fprintf(&b, "%s: %s %s %s %s\n", tool.Name, interpreter, tool.Entry.Script, how, schema)
	}
	return strings.TrimSpace(b.String())
}

const demoMD = "---\nname: demo\ndescription: Does much.\n%s---\nRead me.\n"

const wordsSchema = `{"properties":{"args":{"items":{"type":"string"},"type":"array","description":"The script's command line, one word each."},"stdin":{"type":"string","description":"The script's standard input."}},"additionalProperties":false,"type":"object"}`

func TestToolsFile(t *testing.T) {
	for name, test := range map[string]struct{ fields, tools, want, problems string }{
		"params in every shape": {
			"", "tools:\n- {name: one, script: run.sh, params: {a: integer}}\n- {name: two, script: a.py, params: [{name: b, required: true}]}\n- {name: none, script: run.sh, params: {}}\n",
			`demo__one: bash run.sh Flags {"properties":{"a":{"type":"integer"}},"type":"object"}
demo__two: python3 a.py Flags {"properties":{"b":{"type":"string"}},"type":"object","required":["b"]}
demo__none: bash run.sh Flags {"properties":{},"type":"object"}`, "",
		},
		"nothing declared": {
			"", "tools: [{name: one, script: run.sh}]", `demo__one: bash run.sh ParsedCLI {"properties":{},"additionalProperties":false,"type":"object"}`, "",
		},
		"a function": {
			"", "tools: [{name: one, script: a.py, function: f, params: {n: number}}]",
			`demo__one: call a.py Input {"properties":{"n":{"type":"number"}},"type":"object"}`, "",
		},
		"BOM, CRLF and aliases": {
			"", "\ufefftools:\r\n- &a {name: one, script: &s run.sh, params: {}}\r\n- {name: two, script: *s, params: {}}\r\n",
			`demo__one: bash run.sh Flags {"properties":{},"type":"object"}
demo__two: bash run.sh Flags {"properties":{},"type":"object"}`, "",
		},
		"bad ones cost themselves": {
			"", `tools:
- {name: good, script: run.sh, params: {}}
- {name: good, script: a.py}
- {name: "no name", script: run.sh}
- {script: run.sh}
- {name: out, script: ../run.sh}
- {name: gone, script: gone.sh, params: {}}
- {name: nothing}
- {name: class, script: run.sh, class: harmless}
- {name: shut, script: run.sh, disable-model-invocation: perhaps}
- {name: func, script: run.sh, function: f}
- {name: odd, script: run.sh, params: {}, timeout: 5}
- text
`,
			`demo__good: bash run.sh Flags {"properties":{},"type":"object"}
demo__gone:  gone.sh Flags {"properties":{},"type":"object"}
demo__odd: bash run.sh Flags {"properties":{},"type":"object"}`,
			`root/demo/tools.yaml:3: error: there are two tools "good"; the first counts (rename one of them)
root/demo/tools.yaml:4: error: "no name" cannot be the name of a tool (use letters, digits, - and _, 64 at most)
root/demo/tools.yaml:5: error: "" cannot be the name of a tool (use letters, digits, - and _, 64 at most)
root/demo/tools.yaml:6: error: script "../run.sh" leads out of the skill's folder (put the script into the skill's folder)
root/demo/tools.yaml:7: error: script gone.sh does not exist (create it or correct the path)
root/demo/tools.yaml:8: error: tool "nothing" has no script (name the script to run)
root/demo/tools.yaml:9: error: "class" is not safe, mutating or dangerous, so the tool is left out (write safe, mutating or dangerous)
root/demo/tools.yaml:10: error: "disable-model-invocation" is not true or false, so the tool is left out (write true or false)
root/demo/tools.yaml:11: error: "f" is not a function of run.sh that can be called (name a function at the top level of a .py file)
root/demo/tools.yaml:12: warning: "timeout" is not known and is ignored (use one of additional, asks, calls, class, description, disable-model-invocation, execution_timeout, function, name, output_schema, params, sandbox, sandbox_image_role, script, task, timeout_seconds or when_to_use)
root/demo/tools.yaml:13: error: "" cannot be the name of a tool (use letters, digits, - and _, 64 at most)`,
		},
		"not YAML": {
			"", "tools: [", "", "root/demo/tools.yaml:2: error: the file is not YAML: did not find expected node content (quote values that contain : # or quotes, and indent with spaces)",
		},
		"no list": {
			"", "tools: {}", "", "root/demo/tools.yaml:1: error: there is no list of tools (write tools: [{name: NAME, script: FILE}])",
		},
		"empty": {
			"", "", "", `root/demo/tools.yaml:1: error: the file is not a mapping (write each field as "key: value")`,
		},
		"a skill that is shut": {
			"class: harmless\n", "tools: [{name: one, script: run.sh}]", "",
			`root/demo/SKILL.md:4: error: "class" is not safe, mutating or dangerous, so the skill is loaded as instructions only (write safe, mutating or dangerous)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := scanFiles(t, map[string]string{
				"demo/SKILL.md": fmt.Sprintf(demoMD, test.fields), "demo/tools.yaml": test.tools,
				"demo/run.sh": "echo", "demo/a.py": "print()", "run.sh": "echo",
			})
			skill, err := catalog.Lookup("demo")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, toolsOf(t, skill)); diff != "" {
				t.Errorf("tools: %s", diff)
			}
			if diff := cmp.Diff(test.problems, strings.TrimSpace(lines(catalog.Problems))); diff != "" {
				t.Errorf("problems: %s", diff)
			}
			if catalog.Count() != 1 || len(catalog.Skills) != 1+len(skill.Tools) {
				t.Errorf("%d skills, %d with tools", catalog.Count(), len(catalog.Skills))
			}
		})
	}
}

// A tool has what its skill has, but for what it says itself.
func TestToolInherits(t *testing.T) {
	catalog := scanFiles(t, map[string]string{
		"p/plugin.json":    `{"name": "plug"}`,
		"p/SKILL.md":       fmt.Sprintf(demoMD, "class: mutating\nwhen_to_use: Always.\ndisable-model-invocation: true\n"),
		"p/scripts/run.sh": "echo",
		"p/tools.yaml": `tools:
- {name: plain, script: scripts/run.sh}
- {name: full, script: scripts/run.sh, description: Full., when_to_use: Now., class: dangerous, timeout_seconds: 5, sandbox_image_role: node, sandbox: {warm: 2}}
`,
	}, func(r *Root) { r.Plugins = true })
	plain, err := catalog.Lookup("plug/demo__plain")
	if err != nil {
		t.Fatal(err)
	}
	if plain.Class != skills.Mutating || plain.ModelInvocable || plain.WhenToUse != "" || plain.Instructions != "Read me." || plain.Owner().QualifiedName() != "plug/demo" || plain.File != "root/p/tools.yaml" ||
		plain.Description != "Plain. Does much." {
		t.Errorf("%+v", plain)
	}
	full, err := catalog.Lookup("demo__full")
	if err != nil {
		t.Fatal(err)
	}
	if full.Class != skills.Dangerous || full.WhenToUse != "Now." || full.Description != "Full." || full.Entry.Timeout != 5*time.Second || full.Entry.ImageRole != "node" || full.Entry.Warm != 2 {
		t.Errorf("%+v, %+v", full, full.Entry)
	}
	if owner := full.Owner(); owner.Owner() != owner || len(owner.Tools) != 2 || owner.Entry != nil || owner.Class != skills.Mutating {
		t.Errorf("%+v", owner)
	}
}

// A tool whose name a skill has is shadowed as a skill is; a skill that is
// shadowed takes its tools with it.
func TestToolNames(t *testing.T) {
	first := Root{Source: skills.SourceSession, Label: "first", FS: files(map[string]string{
		"demo__one/SKILL.md": "---\nname: demo__one\ndescription: d\n---\n",
		"other/SKILL.md":     "---\nname: other\ndescription: d\n---\n",
	})}
	second := Root{Source: skills.SourceUser, Label: "second", FS: files(map[string]string{
		"demo/SKILL.md": fmt.Sprintf(demoMD, ""), "demo/run.sh": "echo",
		"demo/tools.yaml": "tools: [{name: one, script: run.sh}, {name: two, script: run.sh}]",
		"other/SKILL.md":  "---\nname: other\ndescription: d\n---\n", "other/run.sh": "echo",
		"other/tools.yaml": "tools: [{name: three, script: run.sh}]",
	})}
	catalog, err := Scan(t.Context(), []Root{first, second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names, shadowed []string
	for _, s := range catalog.Skills {
		names = append(names, s.File+" "+s.Name)
	}
	for _, s := range catalog.Shadowed {
		shadowed = append(shadowed, s.Skill.File+" "+s.Skill.Name)
	}
	if diff := cmp.Diff([]string{"second/demo/SKILL.md demo", "first/demo__one/SKILL.md demo__one", "second/demo/tools.yaml demo__two", "first/other/SKILL.md other"}, names); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"second/other/SKILL.md other", "second/demo/tools.yaml demo__one"}, shadowed); diff != "" {
		t.Error(diff)
	}
}

// A tool's name is made up, so a skill that is called like it has it, wherever it
// comes.
func TestToolsComeAfterSkills(t *testing.T) {
	catalog := scanFiles(t, map[string]string{
		"a/SKILL.md": "---\nname: a\ndescription: d\n---\n", "a/x.sh": "#!/bin/sh\n",
		"b/SKILL.md": "---\nname: a__x\ndescription: d\n---\n",
	})
	skill, err := catalog.Lookup("a__x")
	if err != nil || skill.Of != nil || len(catalog.Shadowed) != 1 {
		t.Errorf("a__x is %+v, %v; shadowed %v", skill, err, catalog.Shadowed)
	}
}

func TestManyTools(t *testing.T) {
	tools, points := "tools:\n", "entry_points:\n"
	for i := range 5000 {
		tools += fmt.Sprintf("- {name: t%d, script: run.sh}\n", i)
		points += fmt.Sprintf("  p%d: run.sh\n", i)
	}
	catalog := scanFiles(t, map[string]string{"demo/SKILL.md": fmt.Sprintf(demoMD, points), "demo/run.sh": "echo", "demo/tools.yaml": tools})
	skill, err := catalog.Lookup("demo")
	if err != nil || len(skill.Tools) != 2*limitTools {
		t.Fatalf("%v, %v", skill, err)
	}
	want := `root/demo/SKILL.md:69: error: there are more than 64 tools; this one and what follows are left out (declare fewer)
root/demo/tools.yaml:66: error: there are more than 64 tools; this one and what follows are left out (declare fewer)
`
	if got := lines(catalog.Problems); got != want {
		t.Errorf("problems %s", got)
	}
}

func TestLinX(t *testing.T) {
	for name, test := range map[string]struct{ fields, want, problems string }{
		"entry points": {
			"skill_type: agent_skill\nexecution_timeout: 20\ndisplay_name: The Demo\nentry_points:\n  one: run.sh\n  two: scripts/a.py\n",
			"demo__one: bash run.sh ParsedCLI {\"properties\":{},\"additionalProperties\":false,\"type\":\"object\"}\ndemo__two: python3 scripts/a.py ParsedCLI " + `{"properties":{},"additionalProperties":false,"type":"object"}`, "",
		},
		"bad ones": {
			"skill_type: robot\nexecution_timeout: 20\nentry_points:\n  out: ../run.sh\n  none:\n  list: [a]\n  gone: gone.sh\n  a b: run.sh\n",
			"demo__gone:  gone.sh RawArgv " + wordsSchema,
			`root/demo/SKILL.md:4: warning: the skill_type "robot" is not known and is ignored (write agent_skill or langchain_tool)
root/demo/SKILL.md:7: error: script "../run.sh" leads out of the skill's folder (put the script into the skill's folder)
root/demo/SKILL.md:8: error: entry point "none" names no file (write NAME: FILE)
root/demo/SKILL.md:9: warning: "script" is not text and is ignored (write text)
root/demo/SKILL.md:9: error: entry point "list" names no file (write NAME: FILE)
root/demo/SKILL.md:10: error: script gone.sh does not exist (create it or correct the path)
root/demo/SKILL.md:11: error: "a b" cannot be the name of a tool (use letters, digits, - and _, 64 at most)`,
		},
		"no map": {
			"skill_type: langchain_tool\nexecution_timeout: 20\nentry_points: [a]\n", "",
			`root/demo/SKILL.md:6: warning: "entry_points" is not a map of names and files and is ignored (write a map of names and files)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			catalog := scanFiles(t, map[string]string{
				"demo/SKILL.md": fmt.Sprintf(demoMD, test.fields), "demo/run.sh": "echo", "demo/scripts/a.py": "print()", "run.sh": "echo",
			})
			skill, err := catalog.Lookup("demo")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, toolsOf(t, skill)); diff != "" {
				t.Errorf("tools: %s", diff)
			}
			if diff := cmp.Diff(test.problems, strings.TrimSpace(lines(catalog.Problems))); diff != "" {
				t.Errorf("problems: %s", diff)
			}
			for _, tool := range skill.Tools {
				if tool.Entry.Context != skills.ContextLinX || tool.Entry.Timeout != 20*time.Second || tool.DisplayName != "" {
					t.Errorf("%+v", tool.Entry)
				}
			}
		})
	}
	skill, _ := loadSkill(t, fmt.Sprintf(demoMD, "script: run.sh\ntimeout_seconds: 3\nrequired_capabilities: [web]\nexecution_timeout: 20\ndisplay_name: The Demo\n"), "run.sh")
	if skill.Entry.Context != skills.ContextLinX || skill.Entry.Timeout != 3*time.Second || skill.DisplayName != "The Demo" {
		t.Errorf("%+v", skill.Entry)
	}
	skill, _ = loadSkill(t, fmt.Sprintf(demoMD, "script: run.sh\nskill_type: agent_skill\n"), "run.sh")
	if skill.Entry.Timeout != 30*time.Second { // LinX's default
		t.Errorf("%+v", skill.Entry)
	}
}

// ongridRoot is a folder with a skill.json and its script, which may be run where
// mode is not 0.
func ongridRoot(manifest string, mode int) fstest.MapFS {
	fsys := files(map[string]string{"demo/skill.json": manifest, "demo/run": "#!/usr/bin/env -S python3 -u\nprint('{}')\n", "run": "echo"})
	fsys["demo/run"].Mode = 0o644
	if mode != 0 {
		fsys["demo/run"].Mode = 0o755
	}
	return fsys
}

func TestOngrid(t *testing.T) {
	const good = `{"name": "disk_usage", "description": "Says how full disks are.", "entry": "run", "class": "mutating", "category": "host",
  "timeout_seconds": %s, "env_allow": ["HOST_ID", "a b", "HOST_ID"],
  "schema": {"properties": {"path": {"type": "string", "default": "/"}, "n": {"type": ["integer", "null"], "minimum": 1}}, "required": ["path"], "additionalProperties": false}}`
	for seconds, want := range map[string]time.Duration{"0": 30 * time.Second, "null": 30 * time.Second, "5": 5 * time.Second} {
		catalog, err := Scan(t.Context(), []Root{{FS: ongridRoot(fmt.Sprintf(good, seconds), 0o755), Label: "root"}}, nil)
		if err != nil || len(catalog.Skills) != 1 {
			t.Fatalf("%v, %v", catalog, err)
		}
		skill := catalog.Skills[0]
		e := skill.Entry
		if skill.Name != "disk_usage" || skill.Class != skills.Mutating || !skill.ModelInvocable || skill.Frontmatter["category"] != "host" {
			t.Errorf("%+v", skill)
		}
		if e.Script != "run" || strings.Join(e.Interpreter, " ") != "python3 -u" || e.Timeout != want || e.Context != skills.ContextNone || strings.Join(e.Env, " ") != "HOST_ID" || !e.OutputJSON {
			t.Errorf("%+v", e)
		}
		schema, err := json.Marshal(e.Schema())
		if want := `{"properties":{"path":{"type":"string","default":"/"},"n":{"minimum":1,"type":["integer","null"]}},"type":"object","required":["path"],"additionalProperties":false}`; err != nil || string(schema) != want {
			t.Errorf("schema %s, %v", schema, err)
		}
		if want := `root/demo/skill.json:2: warning: "a b" in "env_allow" is not the name of a variable and is ignored (write names of variables)`; strings.TrimSpace(lines(catalog.Problems)) != want {
			t.Errorf("problems %s", lines(catalog.Problems))
		}
	}
}

// A skill.json that somebody else means by it is left alone; one that is
// ongrid's and wrong is not.
func TestOngridRejects(t *testing.T) {
	const ignored = "root/demo/skill.json: note: it is no skill of ongrid's and is ignored: "
	refused := func(why string) string {
		return "root/demo/skill.json: error: the skill does not load: " + why + ` (correct it; ongrid wants "name" of a-z, 0-9 and _, "description" and "entry", an executable file)`
	}
	for name, test := range map[string]struct {
		manifest string
		mode     int
		loaded   bool
		want     string
	}{
		"not JSON":            {`{"name": `, 1, false, refused("it is not JSON: unexpected end of JSON input")},
		"no object":           {`[]`, 1, false, ignored + `it has no text "name"`},
		"other fields":        {`{"name": "x", "version": 1}`, 1, false, ignored + `it has no text "description"`},
		"a name of others":    {`{"name": "My-Skill", "description": "d", "entry": "run"}`, 1, false, ignored + `the name "My-Skill" is not of a-z, 0-9 and _`},
		"no entry":            {`{"name": "x", "description": "d", "entry": "gone"}`, 1, false, refused(`entry "gone" is not an executable file`)},
		"a folder":            {`{"name": "x", "description": "d", "entry": "."}`, 1, false, refused(`entry "." is not an executable file`)},
		"not executable":      {`{"name": "x", "description": "d", "entry": "run"}`, 0, false, refused(`entry "run" is not an executable file`)},
		"an entry outside":    {`{"name": "x", "description": "d", "entry": "../../run"}`, 1, false, `root/demo/skill.json:1: error: entry "../../run" leads out of that folder (put the program into the skill's folder, or below the folder that skills are looked for in)`},
		"an absolute entry":   {`{"name": "x", "description": "d", "entry": "/bin/sh"}`, 1, false, `root/demo/skill.json:1: error: entry "/bin/sh" leads out of that folder (put the program into the skill's folder, or below the folder that skills are looked for in)`},
		"a class in capitals": {"{\"name\": \"x\", \"description\": \"d\",\n\"entry\": \"run\", \"Class\": \"dangerous\"}", 1, false, `root/demo/skill.json:2: error: the skill does not load: "Class" is not spelt "class" (write class)`},
		"an unknown class":    {"{\"name\": \"x\", \"description\": \"d\",\n\"entry\": \"run\", \"class\": \"odd\"}", 1, false, `root/demo/skill.json:2: error: the skill does not load: "class" is not safe, mutating or dangerous (write safe, mutating or dangerous)`},
		"a schema of text":    {`{"name": "x", "description": "d", "entry": "run", "schema": {"type": "string"}}`, 1, true, `root/demo/skill.json:1: warning: "schema" is not the schema of an object, so arguments are not checked (write "type": "object")`},
		"a schema that lies":  {`{"name": "x", "description": "d", "entry": "run", "schema": {"properties": {"a": {"minimum": "one"}}}}`, 1, true, `root/demo/skill.json:1: warning: "schema" is not a JSON Schema, so arguments are not checked: at '/properties/a/minimum': got string, want number (correct it)`},
		"a type that is none": {`{"name": "x", "description": "d", "entry": "run", "schema": {"properties": {"a": {"type": "numbr"}}}}`, 1, true, `root/demo/skill.json:1: warning: "schema" is not a JSON Schema, so arguments are not checked: at '/properties/a/type': value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string' (correct it)`},
		"a schema of a file":  {`{"name": "x", "description": "d", "entry": "run", "schema": {"properties": {"a": {"$ref": "file:///etc/passwd"}}}}`, 1, true, `root/demo/skill.json:1: warning: "schema" is not a JSON Schema, so arguments are not checked: compile schema: failing loading "file:///etc/passwd": no URLLoader registered for "file:///etc/passwd" (correct it)`},
	} {
		t.Run(name, func(t *testing.T) {
			if test.mode == 0 && runtime.GOOS == "windows" {
				t.Skip("Windows does not know which files may be run")
			}
			catalog, err := Scan(t.Context(), []Root{{FS: ongridRoot(test.manifest, test.mode), Label: "root"}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, strings.TrimSpace(lines(catalog.Problems))); diff != "" {
				t.Errorf("problems: %s", diff)
			}
			if loaded := len(catalog.Skills) == 1; loaded != test.loaded {
				t.Errorf("loaded: %t", loaded)
			}
		})
	}
	catalog := scanFiles(t, map[string]string{"demo/SKILL.md": "---\nname: demo\ndescription: d\nmetadata: {ongrid: {tools: [a]}}\n---\n", "demo/skill.json": `{}`})
	want := "root/demo/SKILL.md:4: note: metadata.ongrid.tools names tools of ongrid's own, which are not here: a (declare those of the folder in tools.yaml)\n" + ignored + "there is a SKILL.md beside it\n"
	if got := lines(catalog.Problems); got != want || len(catalog.Skills) != 1 {
		t.Errorf("beside a SKILL.md: %s", got)
	}
}

// On a disk, entries are followed to where they lead; a name that two have is
// the first one's.
func TestOngridOnDisk(t *testing.T) {
	root := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	write("outside", "#!/bin/sh\n")
	write("a/real", "#!/bin/sh\n")
	write("b/real", "#!/bin/sh\n")
	for _, dir := range []string{"a", "b", "c"} {
		write(dir+"/skill.json", `{"name": "same", "description": "d", "entry": "run"}`)
	}
	for link, target := range map[string]string{"a/run": "real", "b/run": "real", "c/run": "/bin/sh"} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	catalog, err := Scan(t.Context(), []Root{{Dir: root}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(catalog.Skills) != 1 || filepath.Base(catalog.Skills[0].Dir) != "a" || len(catalog.Shadowed) != 1 || filepath.Base(catalog.Shadowed[0].Skill.Dir) != "b" {
		t.Errorf("skills %v, shadowed %v", catalog.Skills, catalog.Shadowed)
	}
	got := lines(catalog.Problems)
	for _, want := range []string{`the name "same" is taken by `, `error: entry "run" leads out of that folder`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
}

// TestOngridEntryElsewhere runs an entry that is absolute or lies elsewhere below
// the root: the program finds it in its own folder, and no other file.
func TestOngridEntryElsewhere(t *testing.T) {
	root := realTempDir(t)
	manifest := func(name, entry string) string {
		return fmt.Sprintf(`{"name": %q, "description": "d", "entry": %q}`, name, entry)
	}
	write(t, root, "bin/tool", "#!/bin/sh\n")
	write(t, root, "bin/secret", "")
	write(t, root, "own/run", "#!/bin/sh\n")
	write(t, root, "clash/tool", "other")
	for _, program := range []string{"bin/tool", "own/run"} {
		must(t, os.Chmod(filepath.Join(root, program), 0o755))
	}
	write(t, root, "own/skill.json", manifest("own", filepath.Join(root, "own", "run")))
	write(t, root, "up/skill.json", manifest("up", "../bin/tool"))
	write(t, root, "absolute/skill.json", manifest("absolute", filepath.Join(root, "bin", "tool")))
	write(t, root, "clash/skill.json", manifest("clash", "../bin/tool"))
	write(t, root, "host/skill.json", manifest("host", "/bin/sh"))
	write(t, root, "a/SKILL.md", skillText("a"))
	write(t, root, "a/assets/skill.json", "{")
	for _, ongrid := range []bool{false, true} {
		scanner := NewScanner([]Root{{Dir: root, Ongrid: ongrid}}, nil)
		_, err := scanner.Scan(t.Context())
		must(t, err)
		write(t, root, "up/skill.json", manifest("up", "../bin/tool")+"\n")
		catalog, err := scanner.Rescan(t.Context(), []string{filepath.Join(root, "up", "skill.json")})
		must(t, err)
		for name, want := range map[string]string{"own": "run: run skill.json", "up": "tool: skill.json tool", "absolute": "tool: skill.json tool", "clash": "_tool: _tool skill.json tool"} {
			skill, err := catalog.Lookup(name)
			must(t, err)
			files, ok := fileNames(skill.Files)
			if got := skill.Entry.Script + ": " + strings.Join(files, " "); !ok || got != want {
				t.Errorf("%s: %s, want %s", name, got, want)
			}
			if _, err := infer.FindScript(skill, skill.Entry.Script); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			data, err := skillfs.ReadRegular(skill.Files, skill.Entry.Script, 100)
			if err != nil || string(data) != "#!/bin/sh\n" {
				t.Errorf("%s: %q, %v", name, data, err)
			}
		}
		got := lines(catalog.Problems)
		nested := "assets/skill.json: note: it is no skill of ongrid's"
		if ongrid {
			nested = "assets/skill.json: error: the skill does not load: it is not JSON"
		}
		for _, want := range []string{nested, `entry "/bin/sh" leads out of that folder`} {
			if !strings.Contains(got, want) {
				t.Errorf("no %q in:\n%s", want, got)
			}
		}
	}
}

// LinX's name of the time is read wherever Colony's is.
func TestExecutionTimeout(t *testing.T) {
	catalog := scanFiles(t, map[string]string{
		"demo/SKILL.md":   "---\nname: demo\ndescription: d\nscript: run.sh\nexecution_timeout: 20\n---\n",
		"demo/tools.yaml": "tools: [{name: one, script: run.sh, execution_timeout: 5}, {name: both, script: run.sh, execution_timeout: 5, timeout_seconds: 7}]\n",
		"demo/run.sh":     "echo",
	})
	want := map[string]time.Duration{"demo": 20 * time.Second, "demo__one": 5 * time.Second, "demo__both": 7 * time.Second}
	for _, skill := range catalog.Skills {
		if skill.Entry.Timeout != want[skill.Name] {
			t.Errorf("%s: %s, want %s", skill.Name, skill.Entry.Timeout, want[skill.Name])
		}
	}
	if len(catalog.Skills) != len(want) || lines(catalog.Problems) != "" {
		t.Errorf("%d skills, %s", len(catalog.Skills), lines(catalog.Problems))
	}
}
