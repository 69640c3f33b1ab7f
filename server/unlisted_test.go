package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/skillsmcp/skills-mcp/server/exposure"
)

// TestOneMoreSkillCostsNoTool adds a skill to as many as may be tools: all that clients know
// stay, whatever the name of the new one.
func TestOneMoreSkillCostsNoTool(t *testing.T) {
	b := newBenchWith(t, ends(0, "", ""), Options{Expose: exposure.Options{MaxTools: 3}})
	before, _ := b.tools()
	c := b.connect()
	b.files["p/skills/a-new-one/SKILL.md"] = &fstest.MapFile{Data: []byte("---\ndescription: One more.\n---\n")}
	b.publish()
	after, _ := b.tools()
	if len(before) != len(after) || after["demo__run"] == nil || after["demo__a-new-one"] != nil {
		t.Errorf("%d tools before, %d after", len(before), len(after))
	}
	if n := len(c.notices()); n != 3 { // search_skills names it, prompts and resources have it
		t.Errorf("%d notices", n)
	}
	delete(b.files, "p/skills/run/SKILL.md") // an editor may save in this way
	b.publish()
	if tools, _ := b.tools(); tools["demo__a-new-one"] == nil {
		t.Error("the new skill did not become a tool when there was room")
	}
	b.files["p/skills/run/SKILL.md"] = library()["p/skills/run/SKILL.md"]
	b.publish()
	if tools, _ := b.tools(); len(tools) != len(before) {
		t.Errorf("%d tools, %d before", len(tools), len(before))
	}
}

// A tool that clients were shown answers as long as its skill is there, also where
// it is no longer listed for want of room; and so does the tool that a skill has not.
func TestListedToolsKeepAnswering(t *testing.T) {
	b := newBenchWith(t, ends(0, "it ran", ""), Options{Expose: exposure.Options{Mode: exposure.Auto, MaxTools: 5}})
	before, _ := b.tools()
	active := map[string]bool{}
	for i := range 10 {
		b.files[fmt.Sprintf("p/skills/more-%d/SKILL.md", i)] = &fstest.MapFile{Data: []byte("---\ndescription: One more.\n---\n")}
		active[fmt.Sprintf("demo/more-%d", i)] = i < 5
	}
	b.publish()
	b.Activate(active)
	after, _ := b.tools()
	if before["demo__run"] == nil || after["demo__run"] != nil || after[anyTool] != nil {
		t.Fatal("the tool was to be listed first, and then not")
	}
	if a := b.call("demo__run", `{"target": "x"}`); a.IsError || a.text() != "it ran" {
		t.Errorf("the tool: %+v", a)
	}
	if a := b.call("demo__run", `{}`); a.text() != `INVALID_PARAM: missing required parameter "target"` {
		t.Errorf("its arguments: %+v", a)
	}
	if a := b.call("demo__guide", `{"args": "this"}`); a.IsError || !strings.Contains(a.text(), "First this") {
		t.Errorf("a tool of instructions: %+v", a)
	}
	if a := b.call("demo__more-7", `{}`); a.IsError || !strings.Contains(a.text(), "Base directory") {
		t.Errorf("a tool of a skill that search finds: %+v", a)
	}
	for _, name := range []string{"demo__never", "demo__private", "demo__gone", anyTool, ""} {
		if got := b.ask("tools/call", fmt.Sprintf(`{"name": %q, "arguments": {}}`, name)); !strings.Contains(got, "-32602") {
			t.Errorf("%q, which was never listed: %s", name, got)
		}
	}
}

// Skills of one name are told apart by their folders, and one alone is not: its
// tool is called otherwise when another comes or goes, and the one that a client
// was shown answers.
func TestToolsOfOtherNamesKeepAnswering(t *testing.T) {
	b := newBench(t, ends(0, "it ran", ""))
	skill := func(text string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: deploy\ndescription: Deploys.\n---\n" + text)}
	}
	answers := func(tool, want string) {
		t.Helper()
		if a := b.call(tool, `{}`); a.IsError || !strings.Contains(a.text(), want) {
			t.Errorf("%s: %s", tool, a.text())
		}
	}
	b.files["p/skills/ann/deploy/SKILL.md"] = skill("Ann's.")
	b.publish()
	answers("demo__deploy", "Ann's.")
	b.files["p/skills/bob/deploy/SKILL.md"] = skill("Bob's.")
	b.publish()
	answers("demo__deploy", "Ann's.")
	answers("demo__bob__deploy", "Bob's.")
	delete(b.files, "p/skills/ann/deploy/SKILL.md")
	b.publish()
	answers("demo__bob__deploy", "Bob's.")
	answers("demo__deploy", "Bob's.")
	if a := b.call("demo__ann__deploy", `{}`); !strings.Contains(a.text(), "no longer there") {
		t.Errorf("one that has gone: %s", a.text())
	}
}

// A skill that broke while clients are connected says why, by each of its names,
// and one that has gone that it has.
func TestBrokenSkillsSayWhy(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	b.files["p/skills/folder/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: other-name\ndescription: Its folder has another name.\n---\n")}
	b.publish()
	b.files["p/skills/folder/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: [\n---\n")}
	b.files["p/skills/run/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: run\n")}
	delete(b.files, "p/skills/guide/SKILL.md")
	b.publish()
	const run, folder = "bundled/p/skills/run/SKILL.md:1:1: error: the frontmatter is not closed", "bundled/p/skills/folder/SKILL.md:"
	for _, c := range []struct{ tool, args, code, want string }{
		{"demo__run", `{"target": "x"}`, "INTERNAL_ERROR", run},
		{"run_skill", `{"name": "demo/run"}`, "INTERNAL_ERROR", run},
		{"get_skill", `{"name": "run"}`, "INTERNAL_ERROR", run},
		{"load_skill", `{"name": "demo__run"}`, "INTERNAL_ERROR", run},
		{"demo__other-name", `{}`, "INTERNAL_ERROR", folder},
		{"get_skill", `{"name": "other-name"}`, "INTERNAL_ERROR", folder},
		{"get_skill", `{"name": "broken"}`, "INTERNAL_ERROR", "bundled/p/skills/broken/SKILL.md"},
		{"demo__guide", `{}`, "NOT_FOUND", "no longer there"},
		{"load_skill", `{"name": "guide"}`, "NOT_FOUND", "there is no skill"},
	} {
		a := b.call(c.tool, c.args)
		var got failed
		if err := json.Unmarshal(a.StructuredContent, &got); err != nil {
			t.Fatalf("%s: %v in %+v", c.tool, err, a)
		}
		if string(got.Error.Code) != c.code || !strings.Contains(got.Error.Message, c.want) {
			t.Errorf("%s %s: %+v", c.tool, c.args, got)
		}
	}
}

// Lists come in pages that have a bound, and no item twice.
func TestListsArePaged(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	for i := range 250 {
		b.files[fmt.Sprintf("p/skills/many-%03d/SKILL.md", i)] = &fstest.MapFile{Data: []byte("---\ndescription: " + strings.Repeat("Many. ", 60) + "\nwhen_to_use: Often.\n---\n")}
		b.files[fmt.Sprintf("p/skills/bad-%03d/SKILL.md", i)] = &fstest.MapFile{Data: []byte("---\nname: x\n")}
		b.files[fmt.Sprintf("q-%03d/plugin.json", i)] = &fstest.MapFile{Data: []byte(fmt.Sprintf(`{"name": "q-%03d", "description": %q}`, i, strings.Repeat("Many. ", 60)))}
	}
	b.publish()
	for tool, want := range map[string]int{"list_skills": 255, "list_plugins": 251} {
		seen, pages := map[string]bool{}, 0
		for args := `{}`; args != ""; pages++ {
			a := b.call(tool, args)
			var page struct {
				Skills     any
				Plugins    any
				NextCursor string `json:"next_cursor"`
			}
			if err := json.Unmarshal(a.StructuredContent, &page); err != nil || a.IsError {
				t.Fatalf("%s: %v, %+v", tool, err, a)
			}
			if len(a.StructuredContent) > maxPageSize+4<<10 {
				t.Errorf("%s: a page has %d bytes", tool, len(a.StructuredContent))
			}
			items, _ := map[string]any{"list_skills": page.Skills, "list_plugins": page.Plugins}[tool].([]any)
			for _, item := range items {
				seen[string(encoded(item))] = true
			}
			if args = ""; page.NextCursor != "" {
				args = fmt.Sprintf(`{"cursor": %q}`, page.NextCursor)
			}
		}
		if len(seen) < want || pages < 2 {
			t.Errorf("%s: %d items in %d pages, want %d", tool, len(seen), pages, want)
		}
	}
	if a := b.call("search_skills", `{"query": "many", "limit": 50}`); len(a.StructuredContent) > maxPageSize+4<<10 || !strings.Contains(a.text(), `"more":`) {
		t.Errorf("search returns %d bytes", len(a.StructuredContent))
	}
	var found reloaded
	if a := b.call("reload_skills", `{}`); json.Unmarshal(a.StructuredContent, &found) != nil || len(found.Problems) != maxProblems || found.Found < 252 || len(a.StructuredContent) > maxPageSize {
		t.Errorf("%d of %d problems", len(found.Problems), found.Found)
	}
	if a := b.call("list_skills", `{"cursor": "nonsense"}`); !a.IsError || !strings.Contains(a.text(), "none of this list's") {
		t.Errorf("another cursor: %s", a.text())
	}
}

// TestSummaries reads the summaries of lists and get_skill.
func TestSummaries(t *testing.T) {
	b := newBench(t, ends(0, "", ""))
	for _, c := range []struct{ tool, args, want string }{
		{"list_skills", `{"source": "plugin"}`, `"when_to_use":"When a thing is to be run.","parameters":[{"name":"target","type":"string","required":true},{"name":"count","type":"integer"}]`},
		{"search_skills", `{"query": "thing", "limit": "1"}`, `"more":1`},
		{"list_plugins", `{}`, `"counts":{"skills":5,"commands":0,"tools":0,"agents":0,"mcp_servers":0,"hooks":0}`},
		{"get_skill", `{"name": "guide"}`, `"body":"First $ARGUMENTS, then rest."`},
	} {
		if a := b.call(c.tool, c.args); a.IsError || !strings.Contains(a.text(), c.want) {
			t.Errorf("%s %s: %s", c.tool, c.args, a.text())
		}
	}
	if a := b.call("get_skill", `{"name": "private"}`); strings.Contains(a.text(), `"body"`) {
		t.Errorf("the body of a skill for persons: %s", a.text())
	}
	if a := b.call("search_skills", `{"query": "thing", "limit": "many"}`); !a.IsError || !strings.Contains(a.text(), `"limit" must be an integer, not a string`) {
		t.Errorf("a number that is none: %s", a.text())
	}
}
