package server

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"

	"github.com/skillsmcp/skills-mcp/server/exposure"
	"github.com/skillsmcp/skills-mcp/skills"
)

// maxToolsList is how long the answer to tools/list may be where not all skills
// are tools, in bytes.
const maxToolsList = 20 << 10

// thousand are a thousand skills: half of them run something with parameters,
// and descriptions are as long as people write them.
func thousand() []*skills.Skill {
	all := make([]*skills.Skill, 1000)
	for i := range all {
		all[i] = &skills.Skill{
			Plugin: "demo", Name: fmt.Sprintf("generated-skill-%03d", i), ModelInvocable: true, Class: skills.Safe,
			Description: strings.Repeat("Does one of a thousand things. ", 10),
		}
		if i%2 == 0 {
			all[i].Entry = &skills.Entry{Script: "run.sh", Args: skills.Flags{
				{Name: "target", Required: true, Schema: &jsonschema.Schema{Type: "string", Description: "What to run it <on>."}},
				{Name: "count", Schema: &jsonschema.Schema{Type: "integer", Minimum: "1", Default: 2}},
			}}
		}
	}
	return all
}

// publishWith publishes the library and more skills.
func (b *bench) publishWith(more ...*skills.Skill) (changed bool) {
	b.t.Helper()
	catalog, err := b.scan(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	catalog.Skills = append(catalog.Skills, more...)
	return b.Publish(catalog)
}

// tools are the tools of tools/list by name, and how long the answer is.
func (b *bench) tools() (tools map[string]json.RawMessage, size int) {
	b.t.Helper()
	tools = map[string]json.RawMessage{}
	for cursor := "{}"; cursor != ""; {
		answer := b.ask("tools/list", cursor)
		var list struct {
			Tools      []json.RawMessage
			NextCursor string
		}
		if err := json.Unmarshal([]byte(answer), &list); err != nil {
			b.t.Fatal(err)
		}
		for _, raw := range list.Tools {
			var tool struct{ Name string }
			if err := json.Unmarshal(raw, &tool); err != nil {
				b.t.Fatal(err)
			}
			if tools[tool.Name] != nil {
				b.t.Errorf("the tool %s is listed twice", tool.Name)
			}
			tools[tool.Name] = raw
		}
		size = max(size, len(answer))
		if cursor = ""; list.NextCursor != "" {
			cursor = fmt.Sprintf(`{"cursor":%q}`, list.NextCursor)
		}
	}
	return tools, size
}

func TestThousandSkills(t *testing.T) {
	uses := map[string]int{"demo/private": 9, "demo/guide": 1}
	for i := range 1000 {
		uses[fmt.Sprintf("demo/generated-skill-%03d", i)] = 1000 - i
	}
	all := Options{RunCode: true, KeptSandboxes: true}
	for _, test := range []struct {
		name  string
		o     exposure.Options
		tools []string // some of the tools
		not   []string // tools that there are not
	}{
		{"nothing used", exposure.Options{}, []string{"search_skills", "load_skill", "run_skill", "demo__generated-skill-000"}, []string{"demo__private", "demo__generated-skill-100"}},
		{"all used", exposure.Options{Uses: uses}, []string{"demo__generated-skill-000", "demo__generated-skill-005"}, []string{"demo__generated-skill-100", "demo__private"}},
		{"pinned", exposure.Options{Uses: uses, Pin: []string{"demo/generated-skill-9*", "run"}}, []string{"demo__generated-skill-900"}, []string{"demo__generated-skill-000"}},
		{"one pinned", exposure.Options{Pin: []string{"run"}}, []string{"demo__run", "demo__generated-skill-000"}, []string{"demo__private", "demo__generated-skill-100"}},
		{"search", exposure.Options{Mode: exposure.Search, Uses: uses}, []string{"search_skills"}, []string{"demo__generated-skill-000"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			options := all
			options.Expose = test.o
			b := newBenchWith(t, ends(0, "", ""), options)
			b.publishWith(thousand()...)
			tools, size := b.tools()
			t.Logf("%d tools, %d bytes", len(tools), size)
			if size > maxToolsList {
				t.Errorf("the answer is %d bytes long", size)
			}
			for _, name := range test.tools {
				if tools[name] == nil {
					t.Errorf("there is no tool %s", name)
				}
			}
			for _, name := range test.not {
				if tools[name] != nil {
					t.Errorf("there is a tool %s", name)
				}
			}
		})
	}
}

// A tool takes no more than the room that was counted for it.
func TestCost(t *testing.T) {
	b := newBenchWith(t, ends(0, "", ""), Options{Expose: exposure.Options{Mode: exposure.All}})
	odd := &skills.Skill{Name: "odd", ModelInvocable: true, Description: "<&> \x01\t\"quoted\" " + strings.Repeat("ü", 2000), WhenToUse: "\n\n"}
	b.publishWith(append(thousand(), odd)...)
	v := b.published.view.Load()
	tools, size := b.tools()
	if size > maxToolsSize+1<<10 {
		t.Errorf("a page of tools has %d bytes", size)
	}
	for _, skill := range v.catalog.Skills {
		raw, there := tools[v.name(skill)]
		if cost := v.cost(skill); there && len(raw) > cost.Whole {
			t.Fatalf("%s takes %d bytes, counted were %d: %s", skill.QualifiedName(), len(raw), cost.Whole, raw)
		}
	}
	if len(tools) < 1000 {
		t.Errorf("%d tools with mode all", len(tools))
	}
}

func TestSearchDescription(t *testing.T) {
	description := func(b *bench) string {
		var tool struct {
			Description string
			Meta        map[string]any `json:"_meta"`
		}
		tools, _ := b.tools()
		if err := json.Unmarshal(tools["search_skills"], &tool); err != nil {
			t.Fatal(err)
		}
		if tool.Meta["anthropic/alwaysLoad"] != true {
			t.Errorf("_meta is %v", tool.Meta)
		}
		return tool.Description
	}
	b := newBenchWith(t, ends(0, "", ""), Options{Expose: exposure.Options{Mode: exposure.Search}})
	want := "Skills without a tool of their own (3):\n- demo/guide: Tells how to do a thing.\n- demo/run: Runs a thing.\n- demo/write: Writes files."
	if got := description(b); !strings.HasSuffix(got, "\n\n"+want) {
		t.Errorf("few skills: %s", got)
	}
	b.publishWith(thousand()...)
	got := description(b)
	if len(got) > maxDescription || len(got) < maxDescription-100 || !strings.Contains(got, "(1003):\ndemo/generated-skill-000, ") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
	if got := description(newBench(t, ends(0, "", ""))); strings.Contains(got, "\n") {
		t.Errorf("all are tools: %s", got)
	}
}

// A skill without a tool is found, read and run by name, and nobody is told of a
// tool that it does not have.
func TestReachedBySearch(t *testing.T) {
	b := newBenchWith(t, ends(0, "it ran", ""), Options{Expose: exposure.Options{Mode: exposure.Search}})
	for _, call := range []struct{ tool, args, want string }{
		{"search_skills", `{"query": "runs thing"}`, `"name":"demo/run","source"`},
		{"list_skills", `{}`, `"name":"demo/run","source"`},
		{"get_skill", `{"name": "demo/run"}`, `"reach":"search","reach_why":"only pinned skills are tools (expose.mode: search)"`},
		{"load_skill", `{"name": "demo__guide"}`, "then rest."},
		{"run_skill", `{"name": "demo__run", "params": {"target": "x"}}`, `"stdout":"it ran"`},
	} {
		if a := b.call(call.tool, call.args); a.IsError || !strings.Contains(a.text(), call.want) {
			t.Errorf("%s %s: %s", call.tool, call.args, a.text())
		}
	}
	if a := b.call("demo__run", `{"target": "x"}`); a.IsError || a.text() != "it ran" {
		t.Errorf("a tool that is not listed: %+v", a)
	}
}

// Clients hear of a change when the tools they know have changed: with a
// thousand skills that is when one comes or goes, since search_skills tells how
// many there are.
func TestNoticesOfMany(t *testing.T) {
	b := newBenchWith(t, ends(0, "", ""), Options{Expose: exposure.Options{Pin: []string{"generated-skill-500"}}})
	all := thousand()
	b.publishWith(all...)
	c := b.connect()
	reword := func(i int) {
		other := *all[i]
		other.Description = "Does something else."
		all[i] = &other
	}
	for _, step := range []struct {
		name   string
		do     func()
		notice bool
	}{
		{"nothing", func() {}, false},
		{"words of a skill without a tool", func() { reword(501) }, false},
		{"words of a skill with one", func() { reword(500) }, true},
		{"a new skill", func() { all = append(all, &skills.Skill{Name: "zzz", ModelInvocable: true}) }, true},
		{"one less", func() { all = all[:1000] }, true},
	} {
		step.do()
		before := b.published.state.Load()
		changed := b.publishWith(all...)
		if now := b.published.state.Load(); now%2 != 0 || (now != before) != changed {
			t.Errorf("%s: changed %t, and yet the state went from %d to %d", step.name, changed, before, now)
		}
		var want []string
		if step.notice {
			want = []string{"notifications/tools/list_changed"}
		}
		if diff := cmp.Diff(want, c.notices()); diff != "" || changed != step.notice {
			t.Errorf("%s: changed %t, notices %s", step.name, changed, diff)
		}
	}
}

func TestActivate(t *testing.T) {
	b := newBenchWith(t, ends(0, "", ""), Options{Expose: exposure.Options{MaxTools: 1}})
	c := b.connect()
	expect := func(step string, changed, want bool, names ...string) {
		t.Helper()
		tools, _ := b.tools()
		for _, name := range []string{"demo__run", "demo__guide", "demo__write"} {
			wanted := len(names) > 0 && names[0] == name
			if (tools[name] != nil) != wanted {
				t.Errorf("%s: tool %s: %t", step, name, tools[name] != nil)
			}
		}
		if n := len(c.notices()); changed != want || want != (n == 1) || n > 1 {
			t.Errorf("%s: changed %t, %d notices", step, changed, n)
		}
	}
	expect("at first", false, false, "demo__guide")
	run := map[string]bool{"demo/run": true}
	expect("files for one", b.Activate(run), true, "demo__run")
	expect("the same again", b.Activate(map[string]bool{"demo/run": true}), false, "demo__run")
	expect("the skills are read again", b.publish(), false, "demo__run")
	if got := b.call("list_skills", `{}`).text(); !strings.HasPrefix(got, `{"skills":[{"name":"demo/run","tool":"demo__run"`) {
		t.Errorf("it is not listed first: %s", got)
	}
	expect("no files for it any more", b.Activate(nil), true, "demo__guide")
}

// counted collects the calls that a server counts.
type counted []string

func (c *counted) Used(name string) { *c = append(*c, name) }

func TestUsage(t *testing.T) {
	var got counted
	b := newBenchWith(t, ends(0, "", ""), Options{Usage: &got})
	for _, call := range []struct{ tool, args string }{
		{"demo__run", `{"target": "x"}`},
		{"run_skill", `{"name": "run", "params": {"target": "x"}}`},
		{"load_skill", `{"name": "guide"}`},
		{"demo__guide", `{}`},
		{"get_skill", `{"name": "guide"}`},    // looked at, not used
		{"demo__run", `{}`},                   // did not start
		{"load_skill", `{"name": "private"}`}, // refused
		{"run_skill", `{"name": "private"}`},
	} {
		b.call(call.tool, call.args)
	}
	if diff := cmp.Diff(counted{"demo/run", "demo/run", "demo/guide", "demo/guide"}, got); diff != "" {
		t.Error(diff)
	}
}
